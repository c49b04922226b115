"""Chunks into vectors: what has none yet is embedded in batches, each committed before the next.

Batches hold texts of like length, so that little is padded. A killed run repeats at most the batch that it
was in. The embedder is only loaded where something is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragcli.datatypes import Embedder, Progress, StoredChunk
from ragcli.errors import ModelUnusable
from ragcli.pipeline.passage_text import passage_text
from ragcli.pipeline.report import RunReport, VectorsReport
from ragcli.storage import vectors as cache
from ragcli.storage.store import Store


@dataclass(frozen=True, slots=True)
class Missing:
    """A text that has no vector yet."""

    key: bytes
    chunk_id: int
    length: int


def embed(
    store: Store,
    identity: dict[str, str],
    load_embedder: Callable[[], Embedder],
    batch_size: int,
    clock: Callable[[], float],
    *,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Embed every chunk that has no vector under `identity`; the caller holds the writer's lock."""
    started = clock()
    missing, total = missing_vectors(store, identity)
    failed = cache.failures(store)
    todo = [item for item in missing if retry_failed or item.key not in failed]
    computed, broken = 0, len(missing) - len(todo)
    if todo:
        embedder = load_embedder()
        if dict(embedder.identity) != identity:
            raise ModelUnusable("embedder_changed", expected=identity, found=dict(embedder.identity))
        for batch in batches(sorted(todo, key=lambda item: (-item.length, item.chunk_id)), batch_size):
            done, bad = _embed_batch(store, embedder, batch)
            computed, broken = computed + done, broken + bad
            if progress:
                progress(computed + broken, len(todo))
    return RunReport(vectors=VectorsReport(computed, total - len(missing), broken), seconds=clock() - started)


def missing_vectors(store: Store, identity: dict[str, str]) -> tuple[list[Missing], int]:
    """Return the texts without a vector, equal texts once, and the number of different texts."""
    items: dict[bytes, Missing] = {}
    for stored in store.all_chunks():
        text = text_of(stored)
        key = cache.vector_key(identity, text)
        items.setdefault(key, Missing(key, stored.chunk.chunk_id, len(text)))
    have = cache.present(store, list(items))
    return [item for key, item in items.items() if key not in have], len(items)


def text_of(stored: StoredChunk) -> str:
    """Return what is embedded for a chunk: its text under its title and path."""
    chunk = stored.chunk
    body = chunk.body if chunk.embed_text is None else chunk.embed_text
    return passage_text(stored.title, chunk.heading_path, chunk.header + body)


def batches(items: Sequence[Missing], size: int) -> Iterator[Sequence[Missing]]:
    """Yield runs of at most `size` items."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _embed_batch(store: Store, embedder: Embedder, batch: Sequence[Missing]) -> tuple[int, int]:
    """Embed and commit one batch; return how many came out well and how many didn't."""
    import numpy as np

    texts = [text_of(stored) for stored in store.fetch([item.chunk_id for item in batch])]
    rows = embedder.embed_passages(texts)
    if rows.shape != (len(batch), embedder.dimension):
        raise ModelUnusable("wrong_dimension", expected=(len(batch), embedder.dimension), found=rows.shape)
    good = np.isfinite(rows).all(axis=1) & (np.abs(np.linalg.norm(rows, axis=1) - 1.0) < 1e-2)
    cache.save(store, {item.key: rows[n].astype("<f4").tobytes() for n, item in enumerate(batch) if good[n]})
    bad = {item.key: (item.chunk_id, "not_finite") for n, item in enumerate(batch) if not good[n]}
    if bad:
        cache.save_failures(store, bad)
    return int(good.sum()), len(bad)
