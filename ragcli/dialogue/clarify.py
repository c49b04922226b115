"""Answer, ask back, or say that the files don't tell: decided after retrieval, from what was found."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragcli.datatypes import Hit
from ragcli.dialogue.choices import open_choices
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
    if reading.clarify:
        return asking(reading, state, reading.clarify.choices, "two things were talked about")
    if not hits:
        return Decision("not_found", why="no hits")
    choices = _left_open(reading, hits, state, lexicon)
    if len(choices) < 2:
        return Decision("answer")
    if about(choices) in state.clarified or options.clarify_after > 1:
        return Decision("answer", choices=choices, why="asked before: answer for each, labelled")
    return asking(reading, state, choices, "the question fits several things that differ")


def _left_open(
    reading: Reading, hits: Sequence[Hit], state: DialogueState, lexicon: Lexicon
) -> tuple[Choice, ...]:
    """Return the choices of a question that names nothing, in a conversation that settles nothing."""
    if reading.verdict.kind != "complete" or any(entity.kind != "topic" for entity in reading.entities):
        named = [entity for entity in reading.entities if entity.kind != "topic"]
        if reading.verdict.kind != "complete" or any(len(entity.files) <= 1 for entity in named):
            return ()
    choices = open_choices(reading.query, hits, lexicon)
    wanted = [choice for choice in choices if choice.label in state.profile.values()]
    return () if wanted else choices


def about(choices: Sequence[Choice]) -> str:
    """Return what a question with these choices is about: a key that says whether it was asked before."""
    return " / ".join(sorted(choice.label for choice in choices))


def asking(reading: Reading, state: DialogueState, choices: tuple[Choice, ...], why: str) -> Decision:
    """Return the decision to ask back, with the question that waits for the reply."""
    language = language_of(reading.query)
    say = phrases(language)
    labels = [choice.label for choice in choices]
    question = say["which"].format(choices=listed(labels, language)) if choices else say["which_unknown"]
    pending = Pending(reading.query, reading.standalone, question, choices, about(choices), state.turn + 1)
    return Decision("clarify", question, choices, pending, why)


def listed(labels: Sequence[str], language: str) -> str:
    """Return choices as they are read out: A、B还是C."""
    say = phrases(language)
    if len(labels) < 2:
        return "".join(labels)
    return say["between"].join(labels[:-1]) + say["last"] + labels[-1]
