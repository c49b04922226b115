"""Vectors and chunks into a searchable index: written beside the current one, published by one rename."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragcli.datatypes import Embedder, Json, StoredChunk, Term, Vocabulary, with_tuples
from ragcli.errors import Damaged, NotReady
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.changes import ROWS_FILE, Change, Rows, change_between, pack_rows, read_rows, rows_of
from ragcli.pipeline.embedders import query_embedding
from ragcli.pipeline.report import IndexReport, RunReport
from ragcli.retrieval.lexical import LexicalRow
from ragcli.storage import vectors as cache
from ragcli.storage.files import link_files, publish, remove, write_atomic
from ragcli.storage.revisions import (
    Revision,
    begin_revision,
    current_revision,
    publish_revision,
    verify_revision,
)
from ragcli.storage.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragcli.datatypes import Vectors


# Raised by one whenever the same chunks and vectors give another index.
INDEX_VERSION = 4
CALIBRATION_FILE = "calibration.json"
# Share of an index that may change piece by piece before it is made anew: words that are gone still count in BM25,
# and the lists of an inverted file were laid out for other vectors.
_PIECEMEAL = 0.1


def build_index(
    store: Store, base: KnowledgeBase, identity: dict[str, str], kind: str, clock: Callable[[], float]
) -> RunReport:
    """Publish an index of everything that has a vector; the caller holds the writer's lock."""
    started = clock()
    if store.count_chunks() == 0:
        raise NotReady("empty_base", path=base.folder)
    rows = rows_of(store, identity)
    facts = made_from(store, base, identity, kind)
    facts["total"] = sum(row.has_vector for row in rows.values())
    current = _current(base.index_dir)
    if current and {key: current.manifest.get(key) for key in facts} == facts:
        report = IndexReport(current.manifest["kind"], current.number, facts["total"], unchanged=True)
        return RunReport(index=report, seconds=clock() - started)
    folder = begin_revision(base.index_dir)
    write_atomic(folder / ROWS_FILE, pack_rows(rows))
    change = _small_change(current, facts, rows)
    if current and change:
        made = _update(store, current, folder, rows, change, kind)
        facts["changed"] = current.manifest["changed"] + change.size
    else:
        made, facts["changed"] = _build(store, base, folder, rows, kind), 0
    _settle(folder / "lexical")
    vocabulary = vocabulary_of(store, base)
    write_atomic(folder / "vocabulary.json", json.dumps(asdict(vocabulary), ensure_ascii=False).encode())
    revision = publish_revision(base.index_dir, folder, {**facts, "kind": made})
    return RunReport(index=IndexReport(made, revision.number, facts["total"]), seconds=clock() - started)


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


def _small_change(current: Revision | None, facts: Json, rows: Rows) -> Change | None:
    """Return what changed since the current revision, or None where an index has to be made from the beginning."""
    if current is None or any(
        current.manifest.get(key) != facts[key] for key in ("version", "embedding", "asked_kind")
    ):
        return None
    try:
        verify_revision(current)
    except Damaged:
        return None
    change = change_between(read_rows(current.folder / ROWS_FILE), rows)
    return change if current.manifest["changed"] + change.size <= _PIECEMEAL * len(rows) else None


def _build(store: Store, base: KnowledgeBase, folder: Path, rows: Rows, kind: str) -> str:
    """Write dense index, lexical index and calibration from the store alone; return the dense index's kind."""
    from ragcli.documents.normalise import fold
    from ragcli.retrieval.calibration import calibrate
    from ragcli.retrieval.dense import DenseIndex, build_dense
    from ragcli.retrieval.lexical import LexicalIndex, build_lexical

    ids, vectors = stored_vectors(store, with_vectors(rows))
    made = build_dense(folder / "dense.faiss", ids, vectors, kind)
    build_lexical(folder / "lexical", (lexical_row(stored) for stored in store.all_chunks()), fold)
    calibration = calibrate(
        DenseIndex(folder / "dense.faiss"),
        LexicalIndex(folder / "lexical", fold),
        ids,
        vectors,
        store.fetch,
        fold,
        asked(store, query_embedding(base)),
    )
    write_atomic(folder / CALIBRATION_FILE, json.dumps(asdict(calibration)).encode())
    return made


def _update(store: Store, current: Revision, folder: Path, rows: Rows, change: Change, kind: str) -> str:
    """Write the current revision's indexes with a few chunks changed; return the dense index's kind.

    What chance looks like in the base stays as it was measured: nine tenths of the base are the same.
    """
    from ragcli.documents.normalise import fold
    from ragcli.retrieval.dense import build_dense, choose_kind, update_dense
    from ragcli.retrieval.lexical import update_lexical

    link_files(current.folder / "lexical", folder / "lexical")
    new = (lexical_row(stored) for stored in store.fetch(change.new))
    update_lexical(folder / "lexical", change.gone, new, fold)
    calibration = json.loads((current.folder / CALIBRATION_FILE).read_bytes())
    made = str(current.manifest["kind"])
    old, dense = current.folder / "dense.faiss", folder / "dense.faiss"
    ids, vectors = stored_vectors(store, with_vectors({chunk: rows[chunk] for chunk in change.new}))
    same_kind = kind != "auto" or choose_kind(len(rows)) == made
    if not (same_kind and update_dense(made, old, dense, change.gone, ids, vectors)):
        ids, vectors = stored_vectors(store, with_vectors(rows))
        made = build_dense(dense, ids, vectors, kind)
        calibration["mean"] = vectors.mean(axis=0).tolist() if len(ids) else []
    calibration["total"] = len(with_vectors(rows))
    write_atomic(folder / CALIBRATION_FILE, json.dumps(calibration).encode())
    return made


def asked(store: Store, embedder: Embedder) -> Callable[[str], Vectors]:
    """Return what embeds the questions that a base is measured with: each once, through the vector cache."""
    identity = {**embedder.identity, "role": "query"}

    def vector(question: str) -> Vectors:
        import numpy as np

        key = cache.vector_key(identity, question)
        for _, kept in cache.load(store, [key]):
            return np.frombuffer(kept, dtype="<f4")
        made = embedder.embed_query(question)
        cache.save(store, {key: made.astype("<f4").tobytes()})
        return made

    return vector


def _settle(folder: Path) -> None:
    """Give a lexical index's files names by their content, and take away what the library left beside them."""
    from ragcli.retrieval.lexical import settled

    names, meta = settled(folder)
    for old, new in names.items():
        if old != new:
            publish(folder / old, folder / new)
    write_atomic(folder / "meta.json", meta)
    write_atomic(folder / ".managed.json", json.dumps(sorted([*names.values(), "meta.json"])).encode())
    for lock in folder.glob(".*.lock"):
        remove(lock)


def with_vectors(rows: Rows) -> Rows:
    """Return the rows that have a vector."""
    return {chunk: row for chunk, row in rows.items() if row.has_vector}


def stored_vectors(store: Store, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the ids and the vectors [n, d] of rows that have one, in the order of the rows."""
    import numpy as np

    places: dict[bytes, list[int]] = {}
    for place, row in enumerate(rows.values()):
        places.setdefault(row.key, []).append(place)
    vectors = np.zeros((len(rows), 0), dtype=np.float32)
    for key, data in cache.load(store, list(places)):
        row_of = np.frombuffer(data, dtype="<f4")
        if not vectors.shape[1]:
            vectors = np.zeros((len(rows), len(row_of)), dtype=np.float32)
        vectors[places[key]] = row_of
    return np.array(list(rows), dtype=np.int64), vectors


def lexical_row(stored: StoredChunk) -> LexicalRow:
    """Return what the lexical index reads of a chunk."""
    chunk = stored.chunk
    body = chunk.body if chunk.embed_text is None else chunk.embed_text
    return LexicalRow(chunk.chunk_id, stored.title, chunk.heading_path, chunk.header + body)


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
    except (NotReady, Damaged):
        return None  # derived: what can't be read is made anew
