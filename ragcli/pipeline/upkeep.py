"""The base's health: what is in it and pending, whether it is whole, and what nothing needs any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragcli.datatypes import Json
from ragcli.errors import Damaged, ModelUnusable, NotReady, RagcliError
from ragcli.pipeline.base import KnowledgeBase, conversations, reading, writing
from ragcli.pipeline.embed import chunk_keys, missing_vectors, text_of
from ragcli.pipeline.embedders import passage_embedding
from ragcli.pipeline.index import build_index
from ragcli.pipeline.prompts import own_prompts
from ragcli.pipeline.warm import warm_share
from ragcli.storage import vectors as cache
from ragcli.storage.files import remove, sweep
from ragcli.storage.revisions import current_revision, verify_revision
from ragcli.storage.store import Store


def status(base: KnowledgeBase) -> Json:
    """Return counts and what is pending; needs no model where none is there."""
    with reading(base) as store, conversations(base) as saved:
        return {
            "path": str(base.folder),
            "files": len(store.documents()),
            "chunks": store.count_chunks(),
            "vectors": _vectors(base, store),
            "index": _index(base, store),
            "sessions": len(saved.overview()),
            "prompts": own_prompts(base),
            "warm": warm_share(base),
        }


def _vectors(base: KnowledgeBase, store: Store) -> Json:
    out: Json = {
        "model": base.settings.embedding.model,
        "precision": base.settings.embedding.precision,
    }
    failures = cache.failures(store)
    try:
        identity = passage_embedding(base).identity
    except RagcliError as err:
        return {**out, "failed": len(failures), "done": None, "pending": None, "trouble": err.kind}
    missing, total = missing_vectors(store, identity)
    failed = sum(item.key in failures for item in missing)
    return {
        **out,
        "precision": identity["precision"],
        "failed": failed,
        "done": total - len(missing),
        "pending": len(missing) - failed,
    }


def _index(base: KnowledgeBase, store: Store) -> Json | None:
    try:
        revision = current_revision(base.index_dir)
    except NotReady:
        return None
    facts = revision.manifest
    return {
        "kind": facts["kind"],
        "revision": revision.number,
        "total": facts["total"],
        "stale": facts["state"] != store.state(),
    }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found and what it rebuilt."""

    chunks: int
    vectors: int
    revision: int
    repaired: tuple[str, ...] = ()


def check(base: KnowledgeBase, clock: Callable[[], float], *, repair: bool = False) -> CheckResult:
    """Verify every chunk, vector and index file.

    With `repair`, damaged vectors go (`embed` computes them again) and a damaged index is rebuilt from the store.
    """
    dropped = ("vectors",) if repair and _dropped_vectors(base) else ()
    with reading(base) as store:
        chunks = _check_chunks(store)
        vectors = _check_vectors(base, store)
        try:
            revision = current_revision(base.index_dir)
            verify_revision(revision, again=True)
            return CheckResult(chunks, vectors, revision.number, dropped)
        except NotReady:
            return CheckResult(chunks, vectors, 0, dropped)
        except Damaged:
            if not repair:
                raise
    return _rebuilt(base, clock, chunks, vectors)


def _check_chunks(store: Store) -> int:
    """Check every chunk against its hash, and that each file's chunks cover it without a gap."""
    number = 0
    for document in store.documents():
        end = 0
        for stored in store.chunks_of(document.root, document.file):
            if stored.chunk.char_start > end:
                raise Damaged(
                    "damaged_chunk", path=store.path, file=document.file, line=stored.chunk.line_start
                )
            end = max(end, stored.chunk.char_end)
            number += 1
    return number


def _check_vectors(base: KnowledgeBase, store: Store) -> int:
    """Check every vector that this base's chunks need, and that each chunk's kept key is its text's."""
    try:
        identity = passage_embedding(base).identity
    except ModelUnusable:
        return 0  # without its model nothing says which vectors are the base's
    kept = cache.kept_keys(store, identity)
    keys = set()
    for stored in store.all_chunks():
        key = cache.vector_key(identity, text_of(stored))
        if kept.get(stored.chunk.chunk_id, key) != key:
            raise Damaged("damaged_vector", path=store.path, key=key.hex())
        keys.add(key)
    return sum(1 for _ in cache.load(store, sorted(keys)))


def _dropped_vectors(base: KnowledgeBase) -> int:
    with writing(base) as store:
        cache.drop_keys(store)  # made anew from the texts when they are needed
        return cache.drop_damaged(store)


def _rebuilt(base: KnowledgeBase, clock: Callable[[], float], chunks: int, vectors: int) -> CheckResult:
    with writing(base) as store:
        for folder in base.index_dir.glob("rev-*"):
            remove(folder)
        report = build_index(store, base, passage_embedding(base).identity, base.settings.index.kind, clock)
    number = report.index.revision if report.index else 0
    return CheckResult(chunks, vectors, number, ("index",))


def vacuum(base: KnowledgeBase) -> Json:
    """Drop vectors that no chunk needs under the present settings, and what killed runs left behind."""
    with writing(base) as store:
        identity = passage_embedding(base).identity
        dropped = cache.drop_unused(store, set(chunk_keys(store, identity, keep=True).values()))
        swept = len(sweep(base.folder / "data")) + len(sweep(base.index_dir))
        store.compact()
    return {"vectors": dropped, "files": swept}
