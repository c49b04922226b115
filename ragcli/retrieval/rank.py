"""The default reranker: what a candidate's own words say, weighed over the first thirty.

Cheap on purpose: terms, names, numbers and the path are looked up in text that was fetched anyway. Models
that judge pairs stand in adapters of their own and keep the same protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragcli.datatypes import StoredChunk
from ragcli.retrieval.terms import Fold, index_terms


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fetched chunk with its fused score (0 to 1, the best 1) and the terms of its body and path."""

    stored: StoredChunk
    fused: float
    body: frozenset[str]
    path: frozenset[str]


class Reranker(Protocol):
    """Anything that scores candidates for a query anew, one score each, better when higher."""

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""

    def rerank(
        self, query: str, weights: Mapping[str, float], candidates: Sequence[Candidate]
    ) -> list[float]:
        """Return a score a candidate; `weights` are the query's terms with their rarity."""


@dataclass(frozen=True, slots=True)
class RankWeights:
    """How much each kind of evidence counts beside the fused score."""

    coverage: float = 0.6
    path: float = 0.3


@dataclass(frozen=True, slots=True)
class WordReranker:
    """The default: coverage of the query's rare terms by the chunk, and by its path."""

    weights: RankWeights = RankWeights()

    @property
    def name(self) -> str:
        """The name that its score has in `--explain`."""
        return "words"

    def rerank(
        self, query: str, weights: Mapping[str, float], candidates: Sequence[Candidate]
    ) -> list[float]:
        """Return the fused score with what the words add."""
        return [
            candidate.fused
            + self.weights.coverage * coverage(weights, candidate.body | candidate.path)
            + self.weights.path * coverage(weights, candidate.path)
            for candidate in candidates
        ]


def coverage(weights: Mapping[str, float], held: frozenset[str]) -> float:
    """Return the share of the query's terms, by rarity, that a text holds."""
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0


def candidate_of(stored: StoredChunk, fused: float, fold: Fold) -> Candidate:
    """Return a chunk with its terms."""
    path = " \n".join((stored.title, *stored.chunk.heading_path))
    return Candidate(
        stored, fused, frozenset(index_terms(stored.chunk.text, fold)), frozenset(index_terms(path, fold))
    )
