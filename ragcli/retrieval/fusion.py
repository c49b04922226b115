"""Several ranked lists into one: pure arithmetic over ids and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's answer to one query, best first, and how much it counts."""

    name: str
    hits: Sequence[tuple[int, float]]
    weight: float = 1.0


def reciprocal_rank(rankings: Sequence[Ranking], constant: float) -> dict[int, float]:
    """Return each id's sum of weight / (constant + rank), best first; equal sums keep the order of sight.

    Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009; there the constant is 60.
    """
    sums: dict[int, float] = {}
    for ranking in (one for one in rankings if one.weight > 0):
        for rank, (chunk, _) in enumerate(ranking.hits, 1):
            sums[chunk] = sums.get(chunk, 0.0) + ranking.weight / (constant + rank)
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def normalised(scores: dict[int, float]) -> dict[int, float]:
    """Return scores as shares of the best one."""
    best = max(scores.values(), default=1.0)
    return {chunk: score / best for chunk, score in scores.items()}
