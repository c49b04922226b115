"""How far a figure can be trusted: intervals by resampling conversations, and the exact test of two runs.

Turns of one conversation stand or fall together, so whole conversations are drawn. Everything is repeatable:
the seed is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

RESAMPLES = 1000
_COVERED = 0.95


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two runs over the same turns: won and lost, and how likely that is by chance."""

    won: int
    lost: int
    both: int
    p: float


def interval(values: Mapping[str, Sequence[float]], seed: int) -> tuple[float, float]:
    """Return the 95 % percentile-bootstrap interval of a mean over turns, grouped by conversation.

    The resamples of conversations are drawn with replacement (Efron 1979); (0, 0) where there are none.
    """
    import numpy as np

    groups = [group for group in values.values() if group]
    if not groups:
        return 0.0, 0.0
    sums = np.array([sum(group) for group in groups], dtype=float)
    sizes = np.array([len(group) for group in groups], dtype=float)
    drawn = np.random.default_rng(seed).integers(0, len(groups), (RESAMPLES, len(groups)))
    means = np.sort(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    cut = int(RESAMPLES * (1 - _COVERED) / 2)
    return round(float(means[cut]), 4), round(float(means[-1 - cut]), 4)


def exact_mcnemar(won: int, lost: int) -> float:
    """Return the two-sided exact p-value of McNemar's test: a coin decides each turn that changed.

    >>> exact_mcnemar(0, 0), exact_mcnemar(5, 5), exact_mcnemar(0, 6)
    (1.0, 1.0, 0.03125)
    """
    changed = won + lost
    tail: float = sum(comb(changed, k) for k in range(min(won, lost) + 1)) / 2**changed
    return min(1.0, round(2 * tail, 6))


def compared(old: Mapping[str, bool], new: Mapping[str, bool]) -> Comparison:
    """Return what changed over the turns that both runs have."""
    shared = old.keys() & new.keys()
    won = sum(new[key] and not old[key] for key in shared)
    lost = sum(old[key] and not new[key] for key in shared)
    return Comparison(won, lost, len(shared), exact_mcnemar(won, lost))
