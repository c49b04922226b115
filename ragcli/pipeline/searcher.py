"""The published index as a question meets it: opened once, checked, held for as long as the reader lives."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ragcli.datatypes import Embedder, Json, StoredChunk, Term, Vocabulary, with_tuples
from ragcli.documents.normalise import fold
from ragcli.errors import Damaged, NotReady
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.embedders import model_facts, query_embedding
from ragcli.pipeline.index import INDEX_VERSION
from ragcli.retrieval.calibration import Calibration
from ragcli.retrieval.dense import DenseIndex
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.lexical import LexicalIndex
from ragcli.retrieval.rank import Reranker, WordReranker
from ragcli.retrieval.search import SearchOptions, SearchResult, search
from ragcli.retrieval.terms import query_terms
from ragcli.retrieval.written import as_written
from ragcli.storage.revisions import Revision, current_revision, verify_revision
from ragcli.storage.store import Store

# Shares of the threshold: for a question that names a thing of the base, and for one asked in a conversation.
_KNOWN = 0.1
_TALKED = 0.75
_REMEMBERED = 2000  # vectors of sentences that a process keeps


@dataclass(frozen=True)
class Searcher:
    """One revision of a base's index with the store that its chunks are read from."""

    base: KnowledgeBase
    store: Store
    revision: Revision
    stale: bool
    reranker: Reranker | None = None

    @cached_property
    def dense(self) -> DenseIndex:
        """The vectors."""
        return DenseIndex(self.revision.folder / "dense.faiss")

    @cached_property
    def lexical(self) -> LexicalIndex:
        """The words."""
        return LexicalIndex(self.revision.folder / "lexical", fold)

    @cached_property
    def embedder(self) -> Embedder:
        """What turns a query into a vector; its model must be the index's."""
        return query_embedding(self.base)

    @cached_property
    def _embedded(self) -> dict[str, Any]:
        return {}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The names that the base itself uses."""
        raw = json.loads((self.revision.folder / "vocabulary.json").read_bytes())
        return read_vocabulary(raw)

    @cached_property
    def calibration(self) -> Calibration:
        """What a score means in this base."""
        return Calibration(
            **with_tuples(json.loads((self.revision.folder / "calibration.json").read_bytes()))
        )

    def search(self, queries: Sequence[str], filters: Filters, options: SearchOptions) -> SearchResult:
        """Return the hits of several wordings of one question, fused; the first query is the raw one."""
        started = time.perf_counter()
        if options.written:
            queries = list(dict.fromkeys(map(as_written, queries)))
        vectors = [self.embedder.embed_query(query) for query in queries]
        encoded = time.perf_counter()
        options = replace(options, calibration=self.calibration)
        if self.reranker and isinstance(options.reranker, WordReranker):
            options = replace(options, reranker=self.reranker)
        result = search(queries, vectors, self.dense, self.lexical, self.fetch, options, filters)
        return result.timed(encode=encoded - started)

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how much liker a query each text is than the base's average passage; texts are embedded once."""
        known = self._embedded
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if len(known) + len(fresh) > _REMEMBERED:
            known.clear()
            fresh = list(dict.fromkeys(texts))
        if fresh:
            known.update(zip(fresh, self.embedder.embed_passages(fresh), strict=True))
        asked = self.embedder.embed_query(query)
        usual = self.calibration.expected(asked)
        return [float(known[text] @ asked) - usual for text in texts]

    def holds(self, names: Sequence[str]) -> bool:
        """Say whether the base holds one of these names or codes as it is written."""
        terms = (max(query_terms(name, fold), key=len, default="") for name in names)
        return any(term and self.lexical.frequency(term) for term in terms)

    def fetch(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return chunks from the store, checked."""
        return self.store.fetch(chunk_ids)


def open_searcher(base: KnowledgeBase, store: Store, reranker: Reranker | None = None) -> Searcher:
    """Open the current revision after checking every file of it; says so where the base has moved on."""
    revision = current_revision(base.index_dir)
    try:
        verify_revision(revision)
    except Damaged:
        # The revision may have been replaced between looking and opening; a newer one is then there.
        newer = current_revision(base.index_dir)
        if newer.number == revision.number:
            raise
        verify_revision(newer)
        revision = newer
    if revision.manifest["version"] != INDEX_VERSION:
        raise NotReady("index_of_other_version", path=base.folder)
    check_same_model(base, revision)
    stale = revision.manifest["state"] != store.state()
    return Searcher(base, store, revision, stale, reranker)


def least_score(threshold: float, known: bool, talking: bool = False) -> float:
    """Return the score that the best hit must reach.

    A question that names a thing of the base has shown already that the base bears on it, whatever words it
    is asked in; what the passages don't tell about that thing is for the answer to say. In a conversation
    people ask in words of their own, and the answer is the second judge: what is unlikely there is looked at.
    """
    return threshold * (_KNOWN if known else _TALKED if talking else 1.0)


def check_same_model(base: KnowledgeBase, revision: Revision) -> None:
    """Refuse to search vectors of one model with queries of another."""
    made, now = revision.manifest["embedding"], model_facts(base)
    if any(made.get(key) != value for key, value in now.items()):
        raise NotReady(
            "index_of_other_model", made=made.get("model"), made_width=made.get("dimension"), now=now.get("model"),
            now_width=now.get("dimension"),
        )  # fmt: skip


def read_vocabulary(raw: Json) -> Vocabulary:
    """Return the vocabulary that was written as JSON."""
    return Vocabulary(
        **{**with_tuples(raw), "terms": tuple(Term(**with_tuples(row)) for row in raw["terms"])}
    )
