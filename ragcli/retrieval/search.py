"""The room's corridor: queries in, scored and explained hits out.

Every query is searched in both indexes, the lists are fused, what the dialogue ruled out is left out, the
first candidates are ranked by their words, copies step back, and what lies below the threshold is dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ragcli.datatypes import Hit, StoredChunk
from ragcli.retrieval.calibration import Calibration
from ragcli.retrieval.evidence import Candidate, QueryView, asks_for_values, candidates_of, examine, view
from ragcli.retrieval.filters import Filters, factor, narrows, reason_to_drop
from ragcli.retrieval.fusion import Ranking, normalised, reciprocal_rank
from ragcli.retrieval.rank import RankWeights, Reranker, WordReranker, strength
from ragcli.retrieval.similar import copies_last
from ragcli.retrieval.terms import Fold

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors
    from ragcli.retrieval.dense import DenseIndex

# A model or chapter that the question names and the base never does: what is found is about another one.
UNKNOWN_NAME = 1.0
# A passage that holds the name and nothing of what is asked about it owes its likeness to the name.
ONLY_NAMED = 0.5
# A file or heading wished for twice as much stands as much higher as if it held all the words besides.
WISH = 1.0

Fetch = Callable[[Sequence[int]], Sequence[StoredChunk]]


class Lexical(Protocol):
    """What the corridor asks of a lexical index."""

    @property
    def fold(self) -> Fold:
        """What makes spellings equal."""

    @property
    def total(self) -> int:
        """The number of chunks."""

    def frequency(self, term: str) -> int:
        """Return how many chunks hold a term."""

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return at most `k` (chunk id, score) pairs, best first."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How far to look and what counts; the defaults are what the measurements in docs/retrieval.md chose.

    The best hit must reach `threshold`; further hits are listed down to `tail` times it, because the score
    tells whether the base holds an answer better than which of two passages it is. `separate` says that the
    queries behind the first are questions of their own and not wordings of one. `written` adds the words that
    documents write for what people say.
    """

    k: int = 10
    threshold: float = 0.5
    tail: float = 0.5
    depth: int = 100
    candidates: int = 30
    constant: float = 20.0
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    first_query_weight: float = 1.0
    separate: bool = False
    written: bool = True
    calibration: Calibration = field(default_factory=Calibration)
    weights: RankWeights = field(default_factory=RankWeights)
    reranker: Reranker = field(default_factory=WordReranker)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first; the candidates left out, with the reason; and the seconds of each step."""

    hits: tuple[Hit, ...]
    dropped: tuple[tuple[int, str], ...]
    below: tuple[Hit, ...]
    timings: dict[str, float]

    def timed(self, **seconds: float) -> SearchResult:
        """Return the same with more seconds on record."""
        return replace(self, timings={**self.timings, **seconds})


def search(
    queries: Sequence[str],
    vectors: Sequence[Vectors],
    dense: DenseIndex,
    lexical: Lexical,
    fetch: Fetch,
    options: SearchOptions,
    filters: Filters,
    clock: Callable[[], float] = time.perf_counter,
) -> SearchResult:
    """Return what the base holds on any of the queries; the first query is what the person typed last.

    Hits are sorted by score; `below` are those under the threshold, for `--explain`.
    """
    started, fold = clock(), lexical.fold
    rankings = first_stage(queries, vectors, dense, lexical, options, narrows(filters))
    searched = clock()
    fused = normalised(reciprocal_rank(rankings, options.constant))
    chunks, dropped = gather(fused, fetch, options.candidates, filters, fold)
    fetched = clock()
    views = [view(query, fold, lexical.frequency, lexical.total) for query in queries]
    candidates = candidates_of(chunks, fused, fold, any(map(asks_for_values, views)))
    scored = [
        score_for(view, vector, candidates, rankings[2 * n : 2 * n + 2], options)
        for n, (view, vector) in enumerate(zip(views, vectors, strict=True))
    ]
    hits = merge(scored, options, filters, fold)
    texts = {id_of(item): item.text for item in candidates}
    order = copies_last([texts[hit.stored.chunk.chunk_id] for hit in hits])
    listed = monotone([hits[n] for n in order])
    above = above_threshold(listed, options)
    timings = {"first_stage": searched - started, "fetch": fetched - searched, "rank": clock() - fetched}
    return SearchResult(tuple(above[: options.k]), tuple(dropped), tuple(listed[len(above) :]), timings)


def first_stage(
    queries: Sequence[str],
    vectors: Sequence[Vectors],
    dense: DenseIndex,
    lexical: Lexical,
    options: SearchOptions,
    deeper: bool,
) -> list[Ranking]:
    """Search each query in both indexes."""
    depth = options.depth * (5 if deeper else 1)
    rankings = []
    for number, (query, vector) in enumerate(zip(queries, vectors, strict=True)):
        weight = options.first_query_weight if number == 0 and len(queries) > 1 else 1.0
        rankings.append(Ranking("dense", dense.search(vector, depth), options.dense_weight * weight))
        rankings.append(Ranking("lexical", lexical.search(query, depth), options.lexical_weight * weight))
    return rankings


def gather(
    fused: dict[int, float], fetch: Fetch, wanted: int, filters: Filters, fold: Fold
) -> tuple[list[StoredChunk], list[tuple[int, str]]]:
    """Fetch chunks in fused order until enough pass the filters; return those that don't with the reason."""
    order = list(fused)
    kept: list[StoredChunk] = []
    dropped: list[tuple[int, str]] = []
    for start in range(0, len(order), wanted):
        for stored in fetch(order[start : start + wanted]):
            reason = reason_to_drop(stored, filters, fold)
            if reason:
                dropped.append((stored.chunk.chunk_id, reason))
            elif len(kept) < wanted:
                kept.append(stored)
        if len(kept) >= wanted:
            break
    return kept, dropped


def score_for(
    query: QueryView,
    vector: Vectors,
    candidates: Sequence[Candidate],
    rankings: Sequence[Ranking],
    options: SearchOptions,
) -> list[Hit]:
    """Return every candidate as a hit for one query."""
    base = options.calibration.expected(vector)
    cosines = found_by("dense", rankings)
    words = found_by("lexical", rankings)
    # What the dense search didn't reach is no nearer than the last that it did.
    lowest = min(cosines.values(), default=base)
    examined = examine(query, candidates, [cosines.get(id_of(item), lowest) - base for item in candidates])
    ranks = options.reranker.rerank(query, examined)
    hits = []
    for item, rank in zip(examined, ranks, strict=True):
        found = item.found
        evidence = strength(found, item.deviation, options.weights)
        evidence -= UNKNOWN_NAME * bool(query.unknown) + ONLY_NAMED * found.only_named
        scores = {
            "dense": item.deviation + base,
            "lexical": words.get(id_of(item), 0.0),
            "fused": item.fused,
            "rank": rank,
            "deviation": item.deviation,
            "coverage": found.coverage,
            "near": found.near,
            "path": found.path,
            "strength": evidence,
        }
        hits.append(Hit(item.stored, options.calibration.probability(query.text, evidence), scores))
    return hits


def found_by(name: str, rankings: Sequence[Ranking]) -> dict[int, float]:
    """Return what one kind of search found for one query, by chunk."""
    return {chunk: score for ranking in rankings if ranking.name == name for chunk, score in ranking.hits}


def id_of(candidate: Candidate) -> int:
    """Return a candidate's chunk id."""
    return candidate.stored.chunk.chunk_id


def merge(scored: Sequence[Sequence[Hit]], options: SearchOptions, filters: Filters, fold: Fold) -> list[Hit]:
    """Return each candidate once, in order of rank: what its wordings say of it together.

    Wordings of one question are weighed together, so that none of them alone puts a passage first; separate
    questions (`options.separate`) each put their best passage first. What the dialogue wishes moves a passage
    up or down the list; how well it answers stays what the best wording says.
    """
    raw = options.first_query_weight if len(scored) > 1 else 1.0
    merged = []
    for versions in zip(*scored, strict=True):
        best = max(versions, key=lambda hit: hit.score)
        rank = _together([hit.scores["rank"] for hit in versions], raw, options.separate)
        wished = WISH * math.log2(factor(best.stored, filters, fold))
        scores = {**best.scores, "rank": rank + wished, "wished": wished}
        merged.append(replace(best, scores=scores))
    return sorted(merged, key=lambda hit: -hit.scores["rank"])


def _together(ranks: Sequence[float], raw: float, separate: bool) -> float:
    """Return the mean of the ranks, the first of which counts `raw`; of separate questions, the best mean."""
    first, rest = ranks[0], ranks[1:]
    if not rest:
        return first
    if separate:
        return max((raw * first + one) / (raw + 1) for one in rest)
    return (raw * first + sum(rest)) / (raw + len(rest))


def above_threshold(hits: Sequence[Hit], options: SearchOptions) -> list[Hit]:
    """Return the hits that bear on the query: none if the best one doesn't, else those not far below it."""
    if not hits or hits[0].score < options.threshold:
        return []
    return [hit for hit in hits if hit.score >= options.threshold * options.tail]


def monotone(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with scores that never rise down the list: a hit is worth what any later one is."""
    result: list[Hit] = []
    highest = 0.0
    for hit in reversed(hits):
        highest = max(highest, hit.score)
        result.append(replace(hit, score=round(highest, 4)))
    return result[::-1]
