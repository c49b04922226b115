"""Cases to measure with: conversations whose right passages, rewrites, answers and actions are known.

Three forms are read: conversations about documents (`evidence`, `expect` …), conversations over a corpus whose
right documents are known by id (`gold_ids`), and single questions with a reference rewrite (`gold`). What is
wrong with a file is collected and named by line; nothing here runs a case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Form = Literal["documents", "corpus", "rewriting"]
EXPECTS = ("answer", "correct", "clarify", "not_found")
KINDS = (
    "standalone", "pronoun", "ellipsis", "topic", "multi", "negation", "switch", "return", "time", "compare", "alias",
)  # fmt: skip
# What makes a question lean on the turns before it.
LEANING = frozenset(("pronoun", "ellipsis", "topic", "return"))
# Later turns are counted together from this one on.
LAST_TURN = 4

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place that answers a question: a file and wordings of which one stands in it."""

    file: str
    wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One question of a conversation and what a good reply to it does.

    `number` counts from 1. `history` are the (user, assistant) pairs before it where they are given; None
    where the conversation's own turns are its history. `documents` are the right ones by id. A turn that isn't
    `judged` is asked for the sake of those after it.
    """

    number: int
    query: str
    rewrite: str = ""
    evidence: tuple[Evidence, ...] = ()
    answer_has: tuple[tuple[str, ...], ...] = ()
    answer_not: tuple[str, ...] = ()
    expect: str = "answer"
    kinds: tuple[str, ...] = ()
    history: Pairs | None = None
    documents: tuple[str, ...] = ()
    moved: bool = False
    judged: bool = True

    @property
    def label(self) -> str:
        """The turn's row in a table by turn."""
        return f"turn{min(self.number, LAST_TURN)}"

    @property
    def later(self) -> bool:
        """Whether something was said before it."""
        return bool(self.history) if self.history is not None else self.number > 1

    @property
    def dependent(self) -> bool:
        """Whether the question leans on what was said before."""
        if not self.later:
            return False
        if self.kinds:
            return bool(LEANING & set(self.kinds))
        return not self.rewrite or self.rewrite != self.query

    @property
    def complete(self) -> bool:
        """Whether the question surely needs nothing that was said before: an opening one, or one left as it is."""
        return not self.later or self.rewrite == self.query


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation; `group` and `line` are the file and the line that it came from."""

    name: str
    language: str
    turns: tuple[CaseTurn, ...]
    group: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line of a case file: a kind and its facts, as messages know them."""

    file: str
    line: int
    kind: str
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseSet:
    """All cases of a run, of one form, and the digest of the files that they were read from."""

    form: Form
    cases: tuple[Case, ...]
    digest: str
    names: tuple[str, ...]

    @property
    def turns(self) -> int:
        """How many questions there are."""
        return sum(len(case.turns) for case in self.cases)

    def first(self, number: int) -> CaseSet:
        """Return the set with the first cases of each file only."""
        kept: list[Case] = []
        for group in dict.fromkeys(case.group for case in self.cases):
            kept += [case for case in self.cases if case.group == group][:number]
        return CaseSet(self.form, tuple(kept), self.digest, self.names)


def named_evidence(cases: Sequence[Case]) -> dict[str, list[tuple[Case, CaseTurn, Evidence]]]:
    """Return every piece of evidence under the name of its file."""
    found: dict[str, list[tuple[Case, CaseTurn, Evidence]]] = {}
    for case in cases:
        for turn in case.turns:
            for item in turn.evidence:
                found.setdefault(item.file, []).append((case, turn, item))
    return found
