"""Chunks into vectors: what has none yet is embedded in batches, each committed before the next.

Batches hold texts of like length, so that little is padded. A killed run repeats at most the batch that it
was in. The embedder is only loaded where something is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragcli.datatypes import Embedder, Progress, StoredChunk
from ragcli.errors import BatchFailed, ModelUnusable
from ragcli.pipeline.passage_text import passage_text
from ragcli.pipeline.report import RunReport, VectorsReport
from ragcli.storage import vectors as cache
from ragcli.storage.store import Store

Item = TypeVar("Item")
# Chunks that are read from the store at a time.
_READ = 500
# Batches that may fail one after another before what embeds them counts as gone.
_GIVE_UP = 3


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
    chunk_keys(store, identity, keep=True)
    missing, total = missing_vectors(store, identity)
    failed = cache.failures(store)
    todo = [item for item in missing if retry_failed or item.key not in failed]
    computed, broken = 0, len(missing) - len(todo)
    if todo:
        embedder = load_embedder()
        if dict(embedder.identity) != identity:
            raise ModelUnusable("embedder_changed", expected=identity, found=dict(embedder.identity))
        in_order = sorted(todo, key=lambda item: (-item.length, item.chunk_id))
        done, bad = _embed_all(store, embedder, list(batches(in_order, batch_size)), progress)
        computed, broken = computed + done, broken + bad
    return RunReport(vectors=VectorsReport(computed, total - len(missing), broken), seconds=clock() - started)


def _embed_all(
    store: Store, embedder: Embedder, todo: Sequence[Sequence[Missing]], progress: Progress | None
) -> tuple[int, int]:
    """Embed batch after batch; a batch that fails is passed over, several running stop the run."""
    computed = broken = in_a_row = 0
    total = sum(map(len, todo))
    for batch in todo:
        try:
            done, bad = _embed_batch(store, embedder, batch)
            in_a_row = 0
        except BatchFailed:
            done, bad, in_a_row = 0, len(batch), in_a_row + 1
            if in_a_row == _GIVE_UP:
                raise
        computed, broken = computed + done, broken + bad
        if progress:
            progress(computed + broken, total)
    return computed, broken


def missing_vectors(store: Store, identity: dict[str, str]) -> tuple[list[Missing], int]:
    """Return the texts without a vector, equal texts once, and the number of different texts."""
    first: dict[bytes, int] = {}
    for chunk, key in chunk_keys(store, identity).items():
        first.setdefault(key, chunk)
    have = cache.present(store, list(first))
    wanted = {chunk: key for key, chunk in first.items() if key not in have}
    found = []
    for part in batches(list(wanted), _READ):
        for stored in store.fetch(part):
            chunk = stored.chunk.chunk_id
            found.append(Missing(wanted[chunk], chunk, len(text_of(stored))))
    return found, len(first)


def chunk_keys(store: Store, identity: dict[str, str], *, keep: bool = False) -> dict[int, bytes]:
    """Return every chunk's vector key, by id; `keep` stores the new ones, which needs the writer's lock."""
    keys = cache.kept_keys(store, identity)
    new: dict[int, bytes] = {}
    for part in batches(cache.unkeyed(store, identity), _READ):
        new |= {
            stored.chunk.chunk_id: cache.vector_key(identity, text_of(stored)) for stored in store.fetch(part)
        }
    if new and keep:
        cache.save_keys(store, identity, new)
    return dict(sorted((keys | new).items())) if new else keys


def text_of(stored: StoredChunk) -> str:
    """Return what is embedded for a chunk: its text under its title and path."""
    chunk = stored.chunk
    body = chunk.body if chunk.embed_text is None else chunk.embed_text
    return passage_text(stored.title, chunk.heading_path, chunk.header + body)


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield runs of at most `size` items."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _embed_batch(store: Store, embedder: Embedder, batch: Sequence[Missing]) -> tuple[int, int]:
    """Embed and commit one batch; return how many came out well and how many didn't."""
    import numpy as np

    texts = [text_of(stored) for stored in store.fetch([item.chunk_id for item in batch])]
    try:
        rows = embedder.embed_passages(texts)
    except BatchFailed as err:
        cache.save_failures(store, {item.key: (item.chunk_id, err.kind) for item in batch})
        raise
    if rows.shape != (len(batch), embedder.dimension):
        raise ModelUnusable("wrong_dimension", expected=(len(batch), embedder.dimension), found=rows.shape)
    good = np.isfinite(rows).all(axis=1) & (np.abs(np.linalg.norm(rows, axis=1) - 1.0) < 1e-2)
    cache.save(store, {item.key: rows[n].astype("<f4").tobytes() for n, item in enumerate(batch) if good[n]})
    bad = {item.key: (item.chunk_id, "not_finite") for n, item in enumerate(batch) if not good[n]}
    if bad:
        cache.save_failures(store, bad)
    return int(good.sum()), len(bad)
