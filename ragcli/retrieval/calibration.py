"""What a score means in this base: the strength of evidence put on a scale from 0 to 1.

With a small embedder every cosine lies between 0.75 and 0.9, in each base differently. So a base is measured
once, when it is indexed: its mean vector says how near any query is to an average passage, and questions that
it doesn't answer say how strong evidence looks by chance. Nothing here ranks.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from ragcli.datatypes import StoredChunk
from ragcli.retrieval.dense import DenseIndex
from ragcli.retrieval.evidence import asks_for_values, candidates_of, examine, view
from ragcli.retrieval.lexical import LexicalIndex
from ragcli.retrieval.rank import RankWeights, strength
from ragcli.retrieval.terms import Fold, has_wide

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragcli.datatypes import Vectors

_ASKED = 40
_LOOKED_AT = 10


# A score of 0.5 lies a little above what all but a twentieth of unrelated questions find. A wide base answers
# some of those, so that the upper end of chance is never taken to be far above its lower quarter.
ABOVE = 0.05
WIDEST = 0.5
STEEPNESS = 4.0
# The upper end of chance where a base was not measured: between a small manual's and a mixed collection's.
USUAL_CHANCE = 1.3


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one base looks like to a question that it doesn't answer: plain numbers, kept as JSON.

    `mean` is the base's mean vector; `chance` the upper end of the strength that unrelated questions find,
    by the language of the question.
    """

    mean: tuple[float, ...] = ()
    total: int = 0
    chance: Mapping[str, float] = field(default_factory=dict)

    def expected(self, vector: Vectors) -> float:
        """Return the cosine of a query with an average passage of the base."""
        return sum(a * float(b) for a, b in zip(self.mean, vector.reshape(-1), strict=False))

    def probability(self, question: str, found: float) -> float:
        """Return where a strength of evidence lies between chance (towards 0) and certainty (towards 1)."""
        chance = self.chance.get(language_of(question), USUAL_CHANCE)
        return 1.0 / (1.0 + math.exp(-STEEPNESS * (found - chance - ABOVE)))


def language_of(question: str) -> str:
    """Return the language that a question counts under: zh where it holds a character of a wide script."""
    return "zh" if has_wide(question) else "en"


def calibrate(
    dense: DenseIndex,
    lexical: LexicalIndex,
    ids: NDArray[np.int64],
    vectors: NDArray[np.float32],
    fetch: Callable[[Sequence[int]], Sequence[StoredChunk]],
    fold: Fold,
    embed_query: Callable[[str], Vectors] | None = None,
) -> Calibration:
    """Measure a base that was just indexed; without `embed_query` chance is taken to be as elsewhere."""
    if not len(ids):
        return Calibration()
    bare = Calibration(tuple(float(x) for x in vectors.mean(axis=0)), len(ids))
    if embed_query is None:
        return bare
    chance = {
        language: _upper_end(
            [best_strength(q, embed_query(q), dense, lexical, fetch, fold, bare) for q in questions]
        )
        for language, questions in unrelated().items()
    }
    return Calibration(bare.mean, bare.total, chance)


def unrelated() -> dict[str, list[str]]:
    """Return questions from all walks of life, by language."""
    data = tomllib.loads(files("ragcli.retrieval").joinpath("data/unrelated.toml").read_text("utf-8"))
    return {language: list(questions)[:_ASKED] for language, questions in data.items()}


def best_strength(
    question: str,
    vector: Vectors,
    dense: DenseIndex,
    lexical: LexicalIndex,
    fetch: Callable[[Sequence[int]], Sequence[StoredChunk]],
    fold: Fold,
    calibration: Calibration,
) -> float:
    """Return the strength of the best evidence that a base holds for a question."""
    cosines = dict(dense.search(vector, _LOOKED_AT * 5))
    first = list(
        dict.fromkeys([*list(cosines)[:_LOOKED_AT], *(n for n, _ in lexical.search(question, _LOOKED_AT))])
    )
    query = view(question, fold, lexical.frequency, lexical.total)
    base, lowest = calibration.expected(vector), min(cosines.values())
    found = candidates_of(fetch(first), {}, fold, asks_for_values(query))
    deviations = [cosines.get(item.stored.chunk.chunk_id, lowest) - base for item in found]
    return max(
        strength(item.found, item.deviation, RankWeights()) for item in examine(query, found, deviations)
    )


def _upper_end(strengths: Sequence[float]) -> float:
    ordered = sorted(strengths)
    return min(ordered[int(len(ordered) * 0.95)], ordered[len(ordered) // 4] + WIDEST)
