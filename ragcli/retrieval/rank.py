"""The default reranker: what a candidate's own words say, weighed over the first thirty.

Cheap on purpose: terms, names, numbers and the path are looked up in text that was fetched anyway. Models
that judge pairs stand in adapters of their own and keep the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ragcli.retrieval.evidence import Candidate, QueryView, facts


class Reranker(Protocol):
    """Anything that scores candidates for a query anew, one score each, better when higher."""

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return a score a candidate."""


@dataclass(frozen=True, slots=True)
class RankWeights:
    """How much each kind of evidence counts beside the fused score, whose best is 1."""

    coverage: float = 0.6
    path: float = 0.3
    near: float = 0.4
    names: float = 0.3
    numbers: float = 0.2
    sibling: float = 0.5


@dataclass(frozen=True, slots=True)
class WordReranker:
    """The default: the fused score, and what the candidate's words add to it."""

    weights: RankWeights = field(default_factory=RankWeights)

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""
        return "words"

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return the fused score with what the words add."""
        return [candidate.fused + self._words(query, candidate) for candidate in candidates]

    def _words(self, query: QueryView, candidate: Candidate) -> float:
        found, w = facts(query, candidate), self.weights
        return (
            w.coverage * found.coverage
            + w.path * found.path
            + w.near * found.near
            + w.names * found.names
            + w.numbers * found.numbers
            - w.sibling * found.sibling
        )
