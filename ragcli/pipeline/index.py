"""Vectors and chunks into a searchable index: written beside the current one, published by one rename."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragcli.datatypes import Embedder, Json, Term, Vocabulary, with_tuples
from ragcli.errors import NotReady
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.embed import text_of
from ragcli.pipeline.embedders import query_embedding
from ragcli.pipeline.report import IndexReport, RunReport
from ragcli.retrieval.lexical import LexicalRow
from ragcli.storage import vectors as cache
from ragcli.storage.files import write_atomic
from ragcli.storage.revisions import Revision, begin_revision, current_revision, publish_revision
from ragcli.storage.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragcli.datatypes import Vectors

# Raised by one whenever the same chunks and vectors give another index.
INDEX_VERSION = 3


def build_index(
    store: Store, base: KnowledgeBase, identity: dict[str, str], kind: str, clock: Callable[[], float]
) -> RunReport:
    """Publish an index of everything that has a vector; the caller holds the writer's lock."""
    started = clock()
    if store.count_chunks() == 0:
        raise NotReady("empty_base", path=base.folder)
    ids, vectors = stored_vectors(store, identity)
    facts = made_from(store, base, identity, kind)
    current = _current(base.index_dir)
    if current and {key: current.manifest.get(key) for key in facts} == facts:
        report = IndexReport(
            current.manifest["kind"], current.number, current.manifest["total"], unchanged=True
        )
        return RunReport(index=report, seconds=clock() - started)
    from ragcli.documents.normalise import fold
    from ragcli.retrieval.calibration import calibrate
    from ragcli.retrieval.dense import DenseIndex, build_dense
    from ragcli.retrieval.lexical import LexicalIndex, build_lexical

    folder = begin_revision(base.index_dir)
    made = build_dense(folder / "dense.faiss", ids, vectors, kind)
    build_lexical(folder / "lexical", lexical_rows(store), fold)
    vocabulary = vocabulary_of(store, base)
    write_atomic(folder / "vocabulary.json", json.dumps(asdict(vocabulary), ensure_ascii=False).encode())
    calibration = calibrate(
        DenseIndex(folder / "dense.faiss"),
        LexicalIndex(folder / "lexical", fold),
        ids,
        vectors,
        store.fetch,
        fold,
        asked(store, query_embedding(base)),
    )
    write_atomic(folder / "calibration.json", json.dumps(asdict(calibration)).encode())
    revision = publish_revision(base.index_dir, folder, {**facts, "kind": made, "total": len(ids)})
    return RunReport(index=IndexReport(made, revision.number, len(ids)), seconds=clock() - started)


def asked(store: Store, embedder: Embedder) -> Callable[[str], Vectors]:
    """Return what embeds the questions that a base is measured with: each once, through the vector cache."""
    identity = {**embedder.identity, "role": "query"}

    def vector(question: str) -> Vectors:
        import numpy as np

        key = cache.vector_key(identity, question)
        kept = cache.load(store, [key])
        if key in kept:
            return np.frombuffer(kept[key], dtype="<f4")
        made = embedder.embed_query(question)
        cache.save(store, {key: made.astype("<f4").tobytes()})
        return made

    return vector


def made_from(store: Store, base: KnowledgeBase, identity: dict[str, str], kind: str) -> Json:
    """Return what an index depends on; where none of it changed, the published one stays."""
    aliases = base.aliases_path.read_text("utf-8") if base.aliases_path.is_file() else ""
    return {
        "version": INDEX_VERSION,
        "state": store.state(),
        "embedding": identity,
        "asked_kind": kind,
        "aliases": cache.vector_key({}, aliases).hex(),
    }


def stored_vectors(store: Store, identity: dict[str, str]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the ids and the vectors of all chunks, or say how many are still without one."""
    import numpy as np

    ids, keys = [], []
    for stored in store.all_chunks():
        ids.append(stored.chunk.chunk_id)
        keys.append(cache.vector_key(identity, text_of(stored)))
    found = cache.load(store, keys)
    failed = cache.failures(store)
    missing = [key for key in keys if key not in found and key not in failed]
    if missing:
        raise NotReady("vectors_missing", number=len(missing), total=len(keys))
    kept = [n for n, key in enumerate(keys) if key in found]
    rows = np.frombuffer(b"".join(found[keys[n]] for n in kept), dtype="<f4").reshape(len(kept), -1)
    return np.array([ids[n] for n in kept], dtype=np.int64), rows


def lexical_rows(store: Store) -> Iterator[LexicalRow]:
    """Yield what the lexical index reads of each chunk."""
    for stored in store.all_chunks():
        chunk = stored.chunk
        body = chunk.body if chunk.embed_text is None else chunk.embed_text
        yield LexicalRow(chunk.chunk_id, stored.title, chunk.heading_path, chunk.header + body)


def vocabulary_of(store: Store, base: KnowledgeBase) -> Vocabulary:
    """Return the base's own names, with the user's aliases."""
    from ragcli.documents.vocabulary import build_vocabulary, read_aliases

    terms = {
        document.file: [Term(**with_tuples(term)) for term in document.terms]
        for document in store.documents()
    }
    text = base.aliases_path.read_text("utf-8-sig") if base.aliases_path.is_file() else ""
    return build_vocabulary(terms, read_aliases(text))


def _current(index: Path) -> Revision | None:
    try:
        return current_revision(index)
    except NotReady:
        return None
