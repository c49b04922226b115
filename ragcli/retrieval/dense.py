"""The dense index: cosine search over one vector a chunk, kept by faiss, the only importer of it.

Up to a size every vector is compared; above it an inverted file with two bytes a number (one, where there are very
many), or a graph, is used.
Vectors have length one, so the inner product is the cosine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragcli.errors import Damaged, NotReady

if TYPE_CHECKING:
    import faiss
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["auto", "flat", "hnsw", "ivf"]

# Comparing all of 20,000 x 384 takes about 2 ms on one core; above it an index that skips most pays.
FLAT_MAX = 20_000
# Two bytes a number as long as they fit beside a language model, else one: recall@10 0.999 and 0.97.
HALF_MAX_BYTES = 2**30
_TRAINING_PER_LIST = 40
_CLIPPED = 0.01  # share of the numbers at each end that one byte doesn't tell apart
_SEED = 20240229


@dataclass(frozen=True, slots=True)
class Shape:
    """How an approximate index is laid out and how far a query looks."""

    lists: int
    probes: int


def choose_kind(total: int) -> Literal["flat", "ivf"]:
    """Return the kind that suits a number of vectors."""
    return "flat" if total <= FLAT_MAX else "ivf"


def ivf_shape(total: int) -> Shape:
    """Return lists (about 4 times the root of the total) and probes for an inverted file."""
    lists = max(1, min(4096, 2 ** round(math.log2(4 * math.sqrt(max(1, total)))), total // 39 or 1))
    return Shape(lists, max(1, min(lists, max(32, lists // 64))))


def build_dense(path: Path, ids: NDArray[np.int64], vectors: NDArray[np.float32], kind: str) -> str:
    """Write an index of `vectors` [n, d] to `path`, and return the kind that was chosen."""
    import faiss
    import numpy as np

    if vectors.ndim != 2 or len(ids) != len(vectors):
        raise Damaged("vectors_unusable", ids=len(ids), shape="x".join(map(str, vectors.shape)))
    if not np.isfinite(vectors).all():
        raise Damaged("vectors_unusable", ids=len(ids), shape="not finite")
    made = choose_kind(len(ids)) if kind == "auto" else kind
    if made == "ivf" and len(ids) < 39:
        made = "flat"
    index = {"flat": _flat, "hnsw": _hnsw, "ivf": _ivf}[made](vectors, ids)
    faiss.write_index(index, str(path))
    return made


def _flat(vectors: NDArray[np.float32], ids: NDArray[np.int64]) -> faiss.Index:
    import faiss

    index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
    index.add_with_ids(vectors, ids)
    return index


def _hnsw(vectors: NDArray[np.float32], ids: NDArray[np.int64]) -> faiss.Index:
    import faiss

    # The stubs know only one of the constructor's forms.
    make: Callable[..., faiss.IndexHNSWSQ] = faiss.IndexHNSWSQ
    inner = make(vectors.shape[1], faiss.ScalarQuantizer.QT_8bit, 32, faiss.METRIC_INNER_PRODUCT)
    inner.hnsw.efConstruction = 200
    inner.hnsw.efSearch = 128
    inner.train(_sample(vectors, 100_000))
    index = faiss.IndexIDMap2(inner)
    index.add_with_ids(vectors, ids)
    return index


def _ivf(vectors: NDArray[np.float32], ids: NDArray[np.int64]) -> faiss.Index:
    import faiss

    shape = ivf_shape(len(ids))
    coarse = faiss.IndexFlatIP(vectors.shape[1])
    small = vectors.size * 2 <= HALF_MAX_BYTES
    code = faiss.ScalarQuantizer.QT_fp16 if small else faiss.ScalarQuantizer.QT_8bit
    index = faiss.IndexIVFScalarQuantizer(
        coarse, vectors.shape[1], shape.lists, code, faiss.METRIC_INNER_PRODUCT
    )
    if not small:
        index.sq.rangestat, index.sq.rangestat_arg = faiss.ScalarQuantizer.RS_quantiles, _CLIPPED
    index.cp.seed = _SEED
    index.cp.niter = 8
    index.train(_sample(vectors, shape.lists * _TRAINING_PER_LIST))
    index.add_with_ids(vectors, ids)
    index.nprobe = shape.probes
    return index


def update_dense(
    kind: str,
    old: Path,
    path: Path,
    gone: Sequence[int],
    ids: NDArray[np.int64],
    vectors: NDArray[np.float32],
) -> bool:
    """Write the index `old` to `path` without some ids and with other vectors [n, d] under theirs.

    False where this kind is made anew instead: a flat one is written as quickly, a graph can't forget.
    """
    import faiss
    import numpy as np

    if kind == "flat" or (kind == "hnsw" and gone):
        return False
    index = faiss.read_index(str(old))
    if gone:
        index.remove_ids(faiss.IDSelectorBatch(np.array(gone, dtype=np.int64)))
    if len(ids):
        index.add_with_ids(vectors, ids)
    faiss.write_index(index, str(path))
    return True


def _sample(vectors: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    import numpy as np

    if len(vectors) <= size:
        return vectors
    return vectors[np.sort(np.random.default_rng(_SEED).choice(len(vectors), size, replace=False))]


class DenseIndex:
    """A published dense index, memory-mapped where faiss can."""

    def __init__(self, path: Path) -> None:
        import faiss

        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as err:
            raise Damaged("damaged_index", path=path) from err
        # One query at a time gains nothing from more threads, and loses much where the cores are busy.
        faiss.omp_set_num_threads(1)

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._index.d)

    @property
    def total(self) -> int:
        """The number of vectors."""
        return int(self._index.ntotal)

    def search(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """Return at most `k` (chunk id, cosine) pairs, best first; a vector of another width is refused."""
        import numpy as np

        if vector.shape[-1] != self.dimension:
            raise NotReady("dimension_mismatch", index=self.dimension, query=vector.shape[-1])
        if k < 1 or not self.total:
            return []
        scores, ids = self._index.search(
            np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1), min(k, self.total)
        )
        return [(int(i), float(s)) for i, s in zip(ids[0], scores[0], strict=True) if i >= 0]
