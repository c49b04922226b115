"""What the dialogue itself says: questions back and small talk, from the data file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files


@cache
def phrases(language: str) -> Mapping[str, str]:
    """Return the sentences that the dialogue says in a language."""
    raw = tomllib.loads(files(__package__).joinpath("data/phrases.toml").read_text(encoding="utf-8"))
    table: Mapping[str, str] = raw[language]
    return table


def which_of(labels: Sequence[str], language: str) -> str:
    """Return the question that names the choices, or one that asks what is meant."""
    say = phrases(language)
    return say["which"].format(choices=listed(labels, language)) if labels else say["which_unknown"]


def for_each(question: str, labels: Sequence[str], language: str) -> str:
    """Return a question that may be about each of several things, asked of each by name."""
    say = phrases(language)
    return say["for_each"].format(question=question, choices=say["between"].join(labels))


def listed(labels: Sequence[str], language: str) -> str:
    """Return choices as they are read out: A、B还是C."""
    say = phrases(language)
    if len(labels) < 2:
        return "".join(labels)
    return say["between"].join(labels[:-1]) + say["last"] + labels[-1]
