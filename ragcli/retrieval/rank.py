"""The default reranker: how strong the evidence for a candidate is, by meaning and by its own words.

Cheap on purpose: terms, names, numbers and the path are looked up in text that was fetched anyway. Models
that judge pairs stand in adapters of their own and keep the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ragcli.retrieval.evidence import Candidate, Facts, QueryView


class Reranker(Protocol):
    """Anything that scores candidates for a query anew, one score each, better when higher."""

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return a score a candidate."""


@dataclass(frozen=True, slots=True)
class RankWeights:
    """How much each kind of evidence counts; the figures behind them are in docs/retrieval.md.

    `deviation` is a cosine's distance from that of an average passage; 0.07 of it, a good part of what sets
    the right passage apart, weighs as much as all of the query's words.
    """

    deviation: float = 14.0
    coverage: float = 1.0
    near: float = 0.4
    path: float = 0.0
    numbers: float = 0.3
    sibling: float = 0.0
    chapter: float = 0.5
    substance: float = 0.12


def strength(found: Facts, deviation: float, weights: RankWeights) -> float:
    """Return how strong the evidence for a passage is: a weighted sum of what was found."""
    return (
        weights.deviation * deviation
        + weights.coverage * found.coverage
        + weights.near * found.near
        + weights.path * found.path
        + weights.numbers * found.numbers
        + weights.chapter * found.chapter
        - weights.sibling * found.sibling
    )


@dataclass(frozen=True, slots=True)
class WordReranker:
    """The default: the strength of the evidence by meaning and by words."""

    weights: RankWeights = field(default_factory=RankWeights)

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""
        return "words"

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return the strength of the evidence for each candidate; of equals, what says more comes first."""
        return [
            strength(item.found, item.deviation, self.weights) + self.weights.substance * item.found.substance
            for item in candidates
        ]
