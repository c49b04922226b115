"""Ways of asking the same cases, so that what each step brings can be seen side by side."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from ragcli.evaluation.cases import Case, CaseSet, CaseTurn

Asks = Literal["query", "joined", "rewrite"]
_LONGEST = 80
Mode = Literal["off", "rules", "llm", "hybrid"]


@dataclass(frozen=True, slots=True)
class Way:
    """How a run asks: the question as typed, joined to the one before, or a person's complete one.

    `alone` asks each question in a conversation of its own; `mode` is the rewriting, None for the settings'.
    """

    name: str
    asks: Asks = "query"
    alone: bool = False
    mode: Mode | None = None


SYSTEM = Way("ragcli")
RAW = Way("raw", mode="off")
JOINED = Way("concat", "joined", alone=True, mode="off")
GOLD = Way("gold", "rewrite", alone=True)
SPOKEN_GOLD = Way("gold in conversation", "rewrite")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to be asked: the turn that it is of, its text, and the session that it belongs to."""

    case: Case
    turn: CaseTurn
    text: str
    session: str


def plan(way: Way, cases: CaseSet) -> list[Asked]:
    """Return what a way asks, in order; turns that have no complete form are left out of the gold way."""
    asked = []
    for case in cases.cases:
        for place, turn in enumerate(case.turns):
            text = _text(way, case, place)
            if text:
                session = _session(case)
                asked.append(
                    Asked(case, turn, text, f"{session}-{turn.number}" if _own(way, turn) else session)
                )
    return asked


def _session(case: Case) -> str:
    name = f"{case.group}/{case.name}"
    return (
        name
        if len(name) < _LONGEST and name.isprintable()
        else sha256(name.encode("utf-8", "replace")).hexdigest()
    )


def _own(way: Way, turn: CaseTurn) -> bool:
    return way.alone or turn.history is not None


def _text(way: Way, case: Case, place: int) -> str:
    turn = case.turns[place]
    if way.asks == "rewrite":
        return "" if turn.expect == "clarify" else turn.rewrite
    if way.asks == "joined":
        return f"{_before(case, place)} {turn.query}".strip()
    return turn.query


def _before(case: Case, place: int) -> str:
    """Return the user's question before this one."""
    turn = case.turns[place]
    if turn.history is not None:
        return next((user for user, _ in reversed(turn.history) if user), "")
    return case.turns[place - 1].query if place else ""
