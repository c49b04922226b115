"""Answer, ask back, or say that the files don't tell: decided after retrieval, from what was found."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragcli.datatypes import Hit
from ragcli.dialogue.linking import Lexicon
from ragcli.dialogue.reading import DEFAULTS, Reading, RewriteOptions
from ragcli.dialogue.state import Choice, DialogueState, Pending
from ragcli.dialogue.words import language_of


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a turn after the search."""

    action: str  # answer | clarify | not_found | smalltalk
    question: str = ""
    choices: tuple[Choice, ...] = ()
    pending: Pending | None = None
    why: str = ""


@cache
def phrases(language: str) -> Mapping[str, str]:
    """Return the sentences that the dialogue says in a language."""
    raw = tomllib.loads(files(__package__).joinpath("data/phrases.toml").read_text(encoding="utf-8"))
    table: Mapping[str, str] = raw[language]
    return table


def decide(
    reading: Reading,
    hits: Sequence[Hit],
    state: DialogueState,
    lexicon: Lexicon,
    options: RewriteOptions = DEFAULTS,
) -> Decision:
    """Decide on a turn from its reading and its hits (best first)."""
    say = phrases(language_of(reading.query))
    if reading.smalltalk:
        return Decision("smalltalk", say[reading.verdict.kind])
    if not hits:
        return Decision("not_found", why="no hits")
    return Decision("answer")


def listed(labels: Sequence[str], language: str) -> str:
    """Return choices as they are read out: A、B还是C."""
    say = phrases(language)
    if len(labels) < 2:
        return "".join(labels)
    return say["between"].join(labels[:-1]) + say["last"] + labels[-1]
