"""Ablations: the same engine with one thing taken out, so that the table shows what that thing brings.

Each variant is a value; it is laid over an opened engine without touching the rooms: what is searched, how hits
are ranked, which names are known, what the rewriting model is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from ragcli.config import Settings
from ragcli.datatypes import Embedder, Vocabulary
from ragcli.dialogue.reading import RewriteOptions
from ragcli.errors import UsageError
from ragcli.evaluation.cases import Form
from ragcli.evaluation.ways import GOLD, JOINED, RAW, SPOKEN_GOLD, SYSTEM, Mode, Way
from ragcli.pipeline.engine import Engine
from ragcli.pipeline.prompts import ReadingEngine, rewriting_of
from ragcli.pipeline.rerankers import InFusedOrder
from ragcli.pipeline.searcher import Searcher
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.rank import RankWeights, WordReranker
from ragcli.retrieval.search import SearchOptions, SearchResult

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

SearchChange = Callable[[SearchOptions], SearchOptions]
FilterChange = Callable[[Filters], Filters]
QueryChange = Callable[[Sequence[str]], Sequence[str]]
NameChange = Callable[[Vocabulary], Vocabulary]
SettingsChange = Callable[[Settings], Settings]
RewritingChange = Callable[[RewriteOptions], RewriteOptions]


@dataclass(frozen=True)
class Variant:
    """One row of the table: its name, how it asks, and what it changes of the engine."""

    name: str
    way: Way
    search: SearchChange | None = None
    filters: FilterChange | None = None
    queries: QueryChange | None = None
    names: NameChange | None = None
    settings: SettingsChange | None = None
    rewriting: RewritingChange | None = None
    split: bool = False
    model: bool = False

    @property
    def reads(self) -> bool:
        """Whether it is another way of making questions complete, and not of searching or asking."""
        changed = self.search or self.filters or self.queries or self.names or self.settings or self.split
        return self.way.asks != "rewrite" and not changed


@dataclass(frozen=True)
class ChangedSearcher(Searcher):
    """A searcher that searches as a variant says."""

    variant: Variant = Variant("", SYSTEM)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The names of the base as the variant leaves them."""
        names = super().vocabulary
        return self.variant.names(names) if self.variant.names else names

    def search(self, queries: Sequence[str], filters: Filters, options: SearchOptions) -> SearchResult:
        """Return the hits of the queries, the filters and the options that the variant leaves."""
        queries = self.variant.queries(queries) if self.variant.queries else queries
        filters = self.variant.filters(filters) if self.variant.filters else filters
        options = self.variant.search(options) if self.variant.search else options
        return super().search(queries, filters, options)


def with_variant(engine: Engine, variant: Variant) -> Engine:
    """Return the engine as a variant changes it."""
    changed = replace(engine, settings=variant.settings(engine.settings)) if variant.settings else engine
    if variant.rewriting:
        rewriting = variant.rewriting(rewriting_of(engine))
        changed = ReadingEngine(
            changed.searcher, changed.models, changed.settings, changed.today, rewriting=rewriting
        )
    if not (variant.search or variant.filters or variant.queries or variant.names):
        return changed
    old = engine.searcher
    searcher = ChangedSearcher(old.base, old.store, old.revision, old.stale, variant=variant)
    # What was opened already is shared: an index in memory twice would only cost.
    for name in ("dense", "lexical", "calibration"):
        searcher.__dict__[name] = getattr(old, name)
    searcher.__dict__["embedder"] = remembering(old)
    return replace(changed, searcher=searcher)


class Remembering:
    """Embeds a query once in a run: the rows of an ablation ask mostly the same ones."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    @property
    def identity(self) -> Mapping[str, str]:
        """What a vector depends on besides its text."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self._embedder.dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return a single row, computed once."""
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage of this text takes."""
        return self._embedder.count_tokens(text)


def remembering(searcher: Searcher) -> Remembering:
    """Return the searcher's embedder with a memory, which it keeps for the next row."""
    if not isinstance(searcher.embedder, Remembering):
        searcher.__dict__["embedder"] = Remembering(searcher.embedder)
    return cast(Remembering, searcher.embedder)


def variants(form: Form, mode: Mode, only: Sequence[str], *, with_model: bool) -> list[Variant]:
    """Return the rows of an ablation: ways of asking, then one thing out at a time.

    The latter stand under the row `rules`, and under the run's own rewriting only where the model may be asked:
    otherwise each row would ask it again.
    """
    if form == "rewriting":
        known = [
            item for item in _ways(mode) if item.reads and item.way.asks == "query" and item.way.mode != "off"
        ]
    else:
        under: Mode = mode if with_model or mode == "off" else "rules"
        known = [*_ways(under), *(replace(item, way=replace(SYSTEM, mode=under)) for item in _without())]
    if only:
        names = [item.name for item in known]
        for name in only:
            if name not in names:
                raise UsageError("unknown_variant", name=name, known=", ".join(names))
        return [item for item in known if item.name in only]
    return [item for item in known if with_model or not item.model]


# What the rewriting model is shown and allowed, one thing less each; beside the row `llm`.
_SHOWN: dict[str, RewritingChange] = {
    "llm, no examples": lambda options: replace(options, built_in=False, examples=()),
    "llm, no whitelist": lambda options: replace(options, whitelist=False),
    "llm, last turns": lambda options: replace(options, similar_turns=False),
}


def _ways(mode: Mode) -> list[Variant]:
    return [
        Variant("raw", RAW),
        Variant("concat", JOINED),
        Variant("rules", replace(SYSTEM, mode="rules")),
        Variant("llm", replace(SYSTEM, mode="llm"), model=True),
        Variant("hybrid", replace(SYSTEM, mode="hybrid"), model=True),
        Variant("gold", replace(GOLD, mode=mode)),
        Variant("gold in conversation", replace(SPOKEN_GOLD, mode=mode)),
        *(
            Variant(name, replace(SYSTEM, mode="llm"), rewriting=change, model=True)
            for name, change in _SHOWN.items()
        ),
    ]


def _reranked(**weights: float) -> SearchChange:
    return lambda options: replace(options, reranker=WordReranker(replace(RankWeights(), **weights)))


def _alone(**weights: float) -> SearchChange:
    """Return the plain search of one kind: no other kind, no reranking."""
    return lambda options: replace(options, reranker=InFusedOrder(), **weights)  # type: ignore[arg-type]


def _no_aliases(names: Vocabulary) -> Vocabulary:
    return Vocabulary(tuple(replace(term, aliases=()) for term in names.terms))


def _threshold(settings: Settings) -> Settings:
    return replace(settings, retrieval=replace(settings.retrieval, threshold=0.0))


def _first_two(queries: Sequence[str]) -> Sequence[str]:
    return queries[:2]


def _no_raw(queries: Sequence[str]) -> Sequence[str]:
    return queries[1:] or queries


def _without() -> list[Variant]:
    way = SYSTEM
    return [
        Variant("dense alone", way, search=_alone(lexical_weight=0.0)),
        Variant("lexical alone", way, search=_alone(dense_weight=0.0)),
        Variant("fused, not reranked", way, search=lambda options: replace(options, reranker=InFusedOrder())),
        Variant("with path weight", way, search=_reranked(path=0.3)),
        Variant("no table rows", way, search=_reranked(near=0.0)),
        Variant("no numbers", way, search=_reranked(numbers=0.0)),
        Variant("as typed, no written words", way, search=lambda options: replace(options, written=False)),
        Variant("no threshold", way, settings=_threshold),
        Variant("no file weights", way, filters=lambda filters: replace(filters, files={})),
        Variant(
            "no seen set", way, filters=lambda filters: replace(filters, seen=frozenset(), only_new=False)
        ),
        Variant("one query", way, queries=_first_two),
        Variant("rewrite alone", way, queries=_no_raw),
        Variant("fixed-size pieces", way, split=True),
        Variant("no aliases", way, names=_no_aliases),
        Variant("no vocabulary", way, names=lambda _names: Vocabulary()),
    ]
