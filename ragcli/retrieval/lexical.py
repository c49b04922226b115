"""The lexical index: BM25 over the terms of a chunk's title, heading path and body, kept by tantivy.

The only code that imports tantivy. Terms are cut by `terms`, so tantivy is handed words parted by blanks and
decides nothing about language. A query's terms are alternatives: one that is absent costs its share, no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragcli.errors import Damaged
from ragcli.retrieval.terms import Fold, index_terms, query_terms

if TYPE_CHECKING:
    import tantivy

_HEAP = 256 * 2**20
# In an index of a million chunks, 年 and 在 took three quarters of the slowest searches and weigh under log 2.
_LARGE, _MOST = 100_000, 0.5
FIELD_WEIGHTS = {"body": 1.0, "path": 0.5, "title": 0.3}


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """What is indexed of a chunk."""

    chunk_id: int
    title: str
    heading_path: tuple[str, ...]
    text: str


def build_lexical(folder: Path, rows: Iterable[LexicalRow], fold: Fold) -> None:
    """Write the index of `rows` into `folder`, which is made here and must not be in use."""
    import tantivy

    folder.mkdir(parents=True, exist_ok=True)
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", stored=False, indexed=True, fast=True)
    for name in FIELD_WEIGHTS:
        builder.add_text_field(name, stored=False, tokenizer_name="terms", index_option="freq")
    _write(tantivy.Index(builder.build(), path=str(folder)), (), rows, fold)


def update_lexical(folder: Path, gone: Iterable[int], rows: Iterable[LexicalRow], fold: Fold) -> None:
    """Take chunks out of the index in `folder` and add others; the files that are there are only renamed over."""
    import tantivy

    _write(tantivy.Index.open(str(folder)), gone, rows, fold)


def _write(index: tantivy.Index, gone: Iterable[int], rows: Iterable[LexicalRow], fold: Fold) -> None:
    import tantivy

    _register(index)
    # One thread: the order of the documents, and so the order of equal scores, is the order of the rows.
    writer = index.writer(heap_size=_HEAP, num_threads=1)
    for chunk_id in gone:
        writer.delete_documents_by_term("id", chunk_id)
    for row in rows:
        path = [part for part in row.heading_path if part != row.title]
        writer.add_document(
            tantivy.Document(
                id=row.chunk_id,
                title=" ".join(index_terms(row.title, fold)),
                path=" ".join(term for part in path for term in index_terms(part, fold)),
                body=" ".join(index_terms(row.text, fold)),
            )
        )
    writer.commit()
    writer.wait_merging_threads()


def settled(folder: Path) -> tuple[dict[str, str], bytes]:
    """Return new names for an index's files, and its `meta.json` with them: names by content instead of by chance.

    The same rows written in the same steps then give the same files, whenever and wherever they are written.
    """
    meta = json.loads((folder / "meta.json").read_bytes())
    names: dict[str, str] = {}
    for segment in meta["segments"]:
        old = segment["segment_id"].replace("-", "")
        digest = hashlib.sha256()
        for path in sorted(folder.glob(f"{old}.*")):
            if path.suffix != ".del":  # a later state of the same segment keeps its name
                digest.update(path.read_bytes())
        new = str(uuid.UUID(digest.hexdigest()[:32]))
        segment["segment_id"] = new
        names |= {
            path.name: path.name.replace(old, new.replace("-", ""), 1) for path in folder.glob(f"{old}.*")
        }
    return names, json.dumps(meta, indent=2).encode()


class LexicalIndex:
    """A published lexical index, memory-mapped; what it opened stays as it was."""

    def __init__(self, folder: Path, fold: Fold) -> None:
        self._fold = fold
        self._index, self._searcher = _open(folder)
        self._gone = _deleted(folder)

    @property
    def fold(self) -> Fold:
        """What makes spellings equal, in the index and in queries."""
        return self._fold

    @property
    def total(self) -> int:
        """The number of chunks."""
        return int(self._searcher.num_docs)

    def frequency(self, term: str) -> int:
        """Return how many chunks hold a term in their body, or in their path or title where no body does.

        tantivy's own counts include chunks that are gone; where those could be all of them, they are counted.
        """
        count = max(self._searcher.doc_freq(name, term) for name in FIELD_WEIGHTS)
        return int(count) if not 0 < count <= self._gone else self._living(term)

    def _living(self, term: str) -> int:
        queries = (_term_query(self._index.schema, name, term, 1.0) for name in FIELD_WEIGHTS)
        return max(int(self._searcher.search(query, limit=1, count=True).count) for query in queries)

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return at most `k` (chunk id, BM25) pairs, best first."""
        return self.search_terms(dict.fromkeys(self._telling(query_terms(query, self._fold)), 1.0), k)

    def _telling(self, terms: Sequence[str]) -> Sequence[str]:
        """Leave out of a search in a large index what most chunks hold: it takes most of the time and tells least."""
        if self.total < _LARGE:
            return terms
        return [term for term in terms if self.frequency(term) <= self.total * _MOST] or terms

    def search_terms(self, weights: dict[str, float], k: int) -> list[tuple[int, float]]:
        """Return at most `k` (chunk id, BM25) pairs for weighted terms, best first."""
        import tantivy

        if not weights or k < 1 or not self.total:
            return []
        parts = [
            (tantivy.Occur.Should, _term_query(self._index.schema, name, term, weight * share))
            for term, weight in weights.items()
            for name, share in FIELD_WEIGHTS.items()
        ]
        hits = self._searcher.search(tantivy.Query.boolean_query(parts), limit=k, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in hits])
        return [(int(chunk), float(score)) for chunk, (score, _) in zip(ids, hits, strict=True)]


def _deleted(folder: Path) -> int:
    """Return how many chunks are marked as gone in an index."""
    segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    return sum((segment.get("deletes") or {}).get("num_deleted_docs", 0) for segment in segments)


def _term_query(schema: tantivy.Schema, name: str, term: str, weight: float) -> tantivy.Query:
    import tantivy

    query = tantivy.Query.term_query(schema, name, term, index_option="freq")
    return tantivy.Query.boost_query(query, weight)


def _open(folder: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    """Open an index for reading, also where its folder can't be written to.

    tantivy takes a lock file even to read; on a read-only disk it is given a passing folder of links.
    """
    import tantivy

    if not (folder / "meta.json").is_file():
        raise Damaged("damaged_index", path=folder)
    try:
        if os.access(folder, os.W_OK):
            return _searcher(tantivy.Index.open(str(folder)))
        with tempfile.TemporaryDirectory(prefix="ragcli-") as links:
            for file in folder.iterdir():
                if not file.name.endswith(".lock"):
                    Path(links, file.name).symlink_to(file.resolve())
            return _searcher(tantivy.Index.open(links))
    except ValueError as err:
        raise Damaged("damaged_index", path=folder) from err


def _searcher(index: tantivy.Index) -> tuple[tantivy.Index, tantivy.Searcher]:
    index.config_reader("manual")
    _register(index)
    return index, index.searcher()


def _register(index: tantivy.Index) -> None:
    import tantivy

    index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
