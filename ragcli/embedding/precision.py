"""Which precision is quickest here and still exact enough: measured on a fixed sample, judged against float32.

What a processor says it can do is no measure: some compute in bfloat16 more slowly than in float32. Nothing here
loads a model or reads a clock; both are handed in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ragcli.errors import RagcliError

if TYPE_CHECKING:
    from ragcli.datatypes import Embedder, Vectors

EXACT = "float32"
LEAST_COSINE = 0.995
# A precision that isn't this much quicker isn't worth vectors that differ.
_WORTH = 1.1
# Passages are joined with the next ones: three are long enough to judge by, seven as long as chunks are.
_JUDGED, _TIMED = 3, 7
_BATCH, _TIMES = 16, 3


@dataclass(frozen=True, slots=True)
class Measured:
    """A precision on the sample: texts a second, the least cosine to float32, whether it ranks as float32 does."""

    rate: float
    cosine: float
    agrees: bool


def measure(
    load: Callable[[str], Embedder], precisions: Sequence[str], clock: Callable[[], float]
) -> dict[str, Measured]:
    """Return what each precision does, float32 first whatever was asked; what can't be loaded here is left out."""
    texts, queries = _sample(_JUDGED)
    batch = (_sample(_TIMED)[0] * _BATCH)[:_BATCH]
    results: dict[str, Measured] = {}
    exact: Vectors | None = None
    nearest: Vectors | None = None
    for precision in dict.fromkeys((EXACT, *precisions)):
        try:
            embedder = load(precision)
        except RagcliError:
            if precision == EXACT:
                raise
            continue
        rows = embedder.embed_passages(texts)  # the first batch pays for what is made once
        rate = max(_rate(embedder, batch, clock) for _ in range(_TIMES))  # what else runs here only slows it
        found = (np.stack([embedder.embed_query(query) for query in queries]) @ rows.T).argmax(axis=1)
        exact, nearest = (rows, found) if exact is None or nearest is None else (exact, nearest)
        cosine = float((rows * exact).sum(axis=1).min())
        results[precision] = Measured(rate, cosine, bool((found == nearest).all()))
    return results


def _rate(embedder: Embedder, batch: Sequence[str], clock: Callable[[], float]) -> float:
    started = clock()
    embedder.embed_passages(batch)
    return len(batch) / max(clock() - started, 1e-6)


def best(results: Mapping[str, Measured]) -> str:
    """Return the quickest precision that is exact enough; float32 where none is clearly quicker."""
    allowed = {
        name: item.rate
        for name, item in results.items()
        if name != EXACT and item.cosine >= LEAST_COSINE and item.agrees
    }
    quickest = max(allowed, key=lambda name: allowed[name], default=EXACT)
    return quickest if allowed.get(quickest, 0.0) > _WORTH * results[EXACT].rate else EXACT


def _sample(joined: int) -> tuple[list[str], list[str]]:
    """Return the sample's passages, each joined with those after it, and its questions."""
    data = tomllib.loads(files("ragcli.embedding").joinpath("data/sample.toml").read_text("utf-8"))["passage"]
    texts = [item["text"] for item in data]
    return ["".join([*texts, *texts][n : n + joined]) for n in range(len(texts))], [
        item["query"] for item in data
    ]
