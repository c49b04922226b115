"""What a score means in this base: cosines and word overlap put on one scale from 0 to 1.

With a small embedder every cosine lies between 0.75 and 0.9, in each base differently. So a base is measured
once, when it is indexed: its mean vector and the spread of cosines around it say what an unrelated passage
looks like, and evidence is counted from there. Nothing here ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragcli.datatypes import StoredChunk
from ragcli.retrieval.dense import DenseIndex
from ragcli.retrieval.lexical import LexicalIndex
from ragcli.retrieval.terms import Fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragcli.datatypes import Vectors

_SAMPLE = 2000
_SEED = 7


@dataclass(frozen=True, slots=True)
class Calibration:
    """What an unrelated passage looks like in one base: plain numbers, kept as JSON.

    `mean` is the mean vector; `spread` the standard deviation of cosines between the base's own chunks and
    a random other one, once each chunk's mean is taken off.
    """

    mean: tuple[float, ...] = ()
    spread: float = 0.03
    total: int = 0

    def expected(self, vector: Vectors) -> float:
        """Return the cosine of a query with an average passage of the base."""
        return sum(a * float(b) for a, b in zip(self.mean, vector.reshape(-1), strict=False))


def calibrate(
    dense: DenseIndex,
    lexical: LexicalIndex,
    ids: NDArray[np.int64],
    vectors: NDArray[np.float32],
    fetch: Callable[[Sequence[int]], Sequence[StoredChunk]],
    fold: Fold,
) -> Calibration:
    """Measure a base that was just indexed."""
    import numpy as np

    if not len(ids):
        return Calibration()
    picked = np.random.default_rng(_SEED).permutation(len(ids))[:_SAMPLE]
    sample = vectors[picked]
    mean = vectors.mean(axis=0)
    centred = sample @ sample.T - (sample @ mean)[:, None]
    np.fill_diagonal(centred, np.nan)
    spread = float(np.nanstd(centred)) if len(sample) > 2 else 0.03
    return Calibration(tuple(float(x) for x in mean), max(spread, 0.005), len(ids))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a passage: cosine deviations, the share of the query's terms, and what it lacks."""

    deviation: float
    coverage: float
    missing: bool


def probability(evidence: Evidence) -> float:
    """Return how likely a passage with this evidence bears on the query, from 0 to 1."""
    x = (
        0.9 * (evidence.deviation - 2.2)
        + 6.0 * (evidence.coverage - 0.35)
        - (6.0 if evidence.missing else 0.0)
    )
    return 1.0 / (1.0 + math.exp(-x))
