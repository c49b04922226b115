"""Whether a question goes on with what was said, where its words don't tell: the passages do.

A short question may be whole (热瑜伽每节多少钱) and a long one may lean on the last (清出来的东西还找得到吗). What the
base holds decides: words that meet one place of the running file and no other need nothing added, and words that
meet none surely are searched with the question before them as well.
"""

from __future__ import annotations

from collections.abc import Callable

from ragcli.dialogue.reading import Reading
from ragcli.retrieval.search import SearchResult

# From this score on a question that names nothing is taken to open a subject of its own.
SURE = 0.8
# A question stands alone where its best passage has this score, the lower one where its form says so as well, and
# other files' have less than that share of it.
ALONE, ALONE_BY_FORM = 0.85, 0.6
ELSEWHERE = 0.4

Search = Callable[[Reading], SearchResult]


def settle(reading: Reading, running: str, search: Search) -> tuple[Reading, SearchResult]:
    """Return the reading that the passages bear out, with what it finds; `running` is the file talked about."""
    if reading.verdict.doubtful and reading.clarify is None:
        alone = reading.standing_alone()
        found = search(alone)
        if stands_alone(found, running, ALONE):
            return alone, found
    found = search(reading)
    sure = bool(found.hits) and found.hits[0].score >= SURE
    if reading.fallback and not sure and not stands_alone(found, running, ALONE_BY_FORM):
        reading = reading.going_on()
        found = search(reading)
    return reading, found


def stands_alone(found: SearchResult, running: str, least: float) -> bool:
    """Say whether a question's own words mean one place of the running file, and nothing like it elsewhere."""
    if not found.hits or found.hits[0].stored.file != running or found.hits[0].score < least:
        return False
    elsewhere = max(
        (hit.score for hit in (*found.hits, *found.below) if hit.stored.file != running), default=0.0
    )
    return elsewhere <= ELSEWHERE * found.hits[0].score
