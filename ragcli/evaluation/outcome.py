"""One measured turn: the case's question beside what ragcli made of it, and what counts as right about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from pathlib import PurePath

from ragcli.datatypes import Json
from ragcli.evaluation.cases import Case, CaseTurn
from ragcli.evaluation.compare import holds, rank, ranks, wordings_right

ANSWERED = ("answer", "correct")
NEAR = 5


@dataclass(frozen=True)
class Outcome:
    """A turn of a case with its record (the contract's JSON of a turn) and its trace.

    `same` maps a document's id to the ids of those with the same text: any of them is right.
    """

    case: Case
    turn: CaseTurn
    record: Json
    trace: Json = field(default_factory=dict)
    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What names the turn in every run of the same cases."""
        return f"{self.case.group}/{self.case.name}/{self.turn.number}"

    @property
    def action(self) -> str:
        """What was done."""
        return str(self.record.get("action", "error"))

    @property
    def searched(self) -> str:
        """The question as it was searched."""
        return " ".join(self.record.get("rewritten", ()))

    @property
    def answerable(self) -> bool:
        """Whether a good reply answers."""
        return self.turn.expect in ANSWERED

    @property
    def placed(self) -> bool:
        """Whether it is known which passage is the right one."""
        return self.answerable and bool(self.turn.evidence or self.turn.documents)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The ids of the documents found, best first."""
        return tuple(dict.fromkeys(PurePath(hit["file"]).stem for hit in self.record.get("hits", ())))

    @cached_property
    def right_files(self) -> frozenset[str]:
        """The ids of the right documents and of those with the same text."""
        return frozenset(one for name in self.turn.documents for one in (name, *self.same.get(name, ())))

    @cached_property
    def rank(self) -> int | None:
        """The rank of what was to be found; documents count once each."""
        if self.turn.documents:
            return next((n for n, name in enumerate(self.files, 1) if name in self.right_files), None)
        return rank(self.turn.evidence, self.record.get("hits", ()))

    @cached_property
    def ndcg(self) -> float:
        """nDCG@10: each piece of evidence gains at its first rank, 1 where all come as early as they can."""
        if self.turn.documents:
            found: list[int | None] = [
                n for n, name in enumerate(self.files[:10], 1) if name in self.right_files
            ]
            ideal = min(10, len(set(self.turn.documents)))
        else:
            found = ranks(self.turn.evidence, self.record.get("hits", ()))
            ideal = len(found)
        gained = sum(1 / log2(place + 1) for place in found if place)
        return min(1.0, gained / sum(1 / log2(n + 1) for n in range(1, ideal + 1)))

    @property
    def near(self) -> bool:
        """Whether what was to be found is among the first five hits."""
        return self.rank is not None and self.rank <= NEAR

    @property
    def acted_right(self) -> bool:
        """Whether the action is the expected one; putting a question right counts as answering it."""
        return self.action in ANSWERED if self.answerable else self.action == self.turn.expect

    @property
    def answered_right(self) -> bool:
        """Whether the reply is an answer that holds what it must and nothing that it must not."""
        return self.action in ANSWERED and wordings_right(self.turn, self.record.get("answer") or "")

    @property
    def cites_evidence(self) -> bool:
        """Whether one of the cited hits holds a piece of the evidence."""
        cited = {citation["chunk_id"] for citation in self.record.get("citations", ())}
        hits = [hit for hit in self.record.get("hits", ()) if hit["chunk_id"] in cited]
        return any(holds(hit, item) for hit in hits for item in self.turn.evidence)

    @property
    def cites_outside(self) -> bool:
        """Whether a citation is none of this turn's hits."""
        known = {hit["chunk_id"] for hit in self.record.get("hits", ())}
        return any(citation["chunk_id"] not in known for citation in self.record.get("citations", ()))
