"""The `search` command's corridor: a query, the index, hits with reasons. No dialogue, no language model."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass

from ragcli.datatypes import Json, LanguageModel
from ragcli.dialogue.editions import edition_in
from ragcli.dialogue.files import file_weights
from ragcli.dialogue.linking import build_lexicon, mentions
from ragcli.documents.normalise import fold
from ragcli.errors import UsageError
from ragcli.pipeline.base import KnowledgeBase, reading
from ragcli.pipeline.record import hit_json
from ragcli.pipeline.rerankers import chosen_reranker
from ragcli.pipeline.searcher import least_score, open_searcher
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.search import SearchOptions


@dataclass(frozen=True, slots=True)
class Query:
    """What `search` was asked for."""

    text: str
    k: int = 5
    file_glob: str = ""
    heading: str = ""
    explain: bool = False


def search_base(base: KnowledgeBase, query: Query) -> tuple[Json, bool]:
    """Return the contract's JSON of a search, and whether the index is older than the files."""
    if not query.text.strip():
        raise UsageError("empty_question")
    with reading(base) as store, ExitStack() as used:

        def judge() -> LanguageModel:
            from ragcli.pipeline.language import LanguageModels

            return used.enter_context(closing(LanguageModels(base))).generator

        searcher = open_searcher(base, store, chosen_reranker(base.settings, judge))
        lexicon = build_lexicon(searcher.vocabulary, fold)
        named = tuple(mention.entity for mention in mentions(query.text, lexicon) if mention.anchors)
        filters = Filters(
            query.file_glob, query.heading, file_weights(named, (), lexicon, edition_in(query.text))
        )
        known = searcher.holds([entity.name for entity in named])
        options = SearchOptions(k=query.k, threshold=least_score(base.settings.retrieval.threshold, known))
        found = searcher.search([query.text], filters, options)
        places = {
            item.chunk.chunk_id: item for item in store.fetch([chunk for chunk, _ in found.dropped[:20]])
        }
    out: Json = {
        "query": query.text,
        "hits": [hit_json(hit, rank) for rank, hit in enumerate(found.hits, 1)],
        "timings_ms": {name: round(value * 1000, 2) for name, value in found.timings.items()},
    }
    if query.explain:
        out["entities"] = [entity.name for entity in named]
        out["below"] = [hit_json(hit, rank) for rank, hit in enumerate(found.below[:10], len(found.hits) + 1)]
        out["dropped"] = [
            {"file": places[chunk].file, "line_start": places[chunk].chunk.line_start, "reason": reason}
            for chunk, reason in found.dropped[:20]
            if chunk in places
        ]
    return out, searcher.stale
