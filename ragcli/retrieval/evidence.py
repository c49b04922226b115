"""What a candidate's own words say about a query: facts about a pair, before anything is weighed.

A query is taken apart once; then each candidate is looked through for its terms, for the names and numbers
among them, for how close together they stand, and for whether its path speaks of them or of a sibling.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ragcli.datatypes import Chunk, StoredChunk
from ragcli.retrieval.terms import WIDE, Fold, index_terms, is_chapter, query_terms, value_terms

_WIDE_ONLY = re.compile(f"[{WIDE}]+")
# A model number: letters and digits in one word, or capitals one blank before digits (in 2020 is none).
_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]+[-‐‑–_]?|[A-Z]{1,4} )\d[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*")
_NAME_TERM = re.compile(r"[a-z]+\d[a-z0-9]*")
_NUMBER = re.compile(r"\d+")
# A table's caption and its column names stand in its first lines.
_HEADER_LINES = 2
_LEAST_SAID, _MOST_SAID = 10, 300
_FAMILY = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[。！？；\n]+|(?<=[.!?;])\s")


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query taken apart: its terms with their rarity, and which of them are names or numbers.

    `unknown` are the names that no chunk of the base holds.
    """

    text: str
    terms: Mapping[str, float]
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a candidate holds of a query; shares are by rarity, from 0 to 1.

    `near` is the best share inside one sentence or row; `names` and `numbers` are shares by count (1 where
    the query has none); `sibling` says that the path names another member of a family that the query names;
    `only_named` that a model's name is held, and nothing of what is asked about it; `chapter` that the path
    is of a chapter that the query names by its number; `substance` the logarithm of how much the passage says
    besides its own heading, in hundreds of characters.
    """

    coverage: float = 0.0
    body: float = 0.0
    path: float = 0.0
    near: float = 0.0
    names: float = 1.0
    numbers: float = 1.0
    sibling: bool = False
    only_named: bool = False
    chapter: bool = False
    substance: float = 0.0


def view(text: str, fold: Fold, frequency: Callable[[str], int], total: int) -> QueryView:
    """Take a query apart; rarity is the inverse document frequency as in BM25 (Robertson, Spärck Jones)."""
    counts = {term: frequency(term) for term in query_terms(text, fold)}
    terms = {term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counts.items()}
    names = tuple(name for name in names_in(text) if name in terms) + tuple(filter(is_chapter, terms))
    # 一个月 asks for no number: only what is written in digits is one that must be met.
    digits = set(re.findall(r"\d+", fold(text)))
    numbers = tuple(term for term in terms if (match := _NUMBER.match(term)) and match[0] in digits)
    return QueryView(text, terms, names, numbers, tuple(term for term in names if not counts[term]))


def names_in(text: str) -> list[str]:
    """Return the model numbers of a text as terms.

    >>> names_in("KD-310 in 2020, XX 200")
    ['kd310', 'xx200']
    """
    found = _NAME.findall(unicodedata.normalize("NFKC", text))
    return list(dict.fromkeys(re.sub(r"[\W_]+", "", name).lower() for name in found))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fetched chunk, its folded text and what stands over it.

    `fused` is its score in the first stage, the best 1; `substance` as in `Facts`. Against one query:
    `deviation` is the distance of its cosine from that of an average passage, `found` what its words hold.
    """

    stored: StoredChunk
    fused: float
    text: str
    values: frozenset[str]
    path: frozenset[str]
    substance: float = 0.0
    deviation: float = 0.0
    found: Facts = Facts()


def candidates_of(
    chunks: Sequence[StoredChunk], fused: Mapping[int, float], fold: Fold, values: bool
) -> list[Candidate]:
    """Return chunks ready to be looked through; `values` where a query asks for more than plain characters."""
    paths: dict[tuple[str, ...], frozenset[str]] = {}
    made = []
    for stored in chunks:
        over = (stored.file.rsplit("/", 1)[-1].rsplit(".", 1)[0], stored.title, *stored.chunk.heading_path)
        if over not in paths:
            paths[over] = frozenset(index_terms(" \n ".join(over), fold))
        text = fold(stored.chunk.text)
        held = frozenset(value_terms(text)) if values else frozenset[str]()
        share = fused.get(stored.chunk.chunk_id, 0.0)
        made.append(Candidate(stored, share, text, held, paths[over], substance_of(stored.chunk)))
    return made


def substance_of(chunk: Chunk) -> float:
    """Return the logarithm of how much a chunk says besides its heading, in hundreds of characters.

    A title page or the line above a table holds the words of many questions and answers none; beyond 300
    characters more text says no more about one question.
    """
    first = next((line.strip() for line in chunk.text.split("\n") if line.strip()), "")
    said = len(chunk.text) - (len(first) if first in chunk.heading_path else 0)
    return math.log(min(max(said, _LEAST_SAID), _MOST_SAID) / 100)


def asks_for_values(query: QueryView) -> bool:
    """Return whether a query holds words, names or numbers besides plain characters."""
    return any(not _WIDE_ONLY.fullmatch(term) for term in query.terms)


def examine(
    query: QueryView, candidates: Sequence[Candidate], deviations: Sequence[float]
) -> list[Candidate]:
    """Return the candidates with what they hold of one query."""
    return [
        replace(item, deviation=deviation, found=facts(query, item))
        for item, deviation in zip(candidates, deviations, strict=True)
    ]


def facts(query: QueryView, candidate: Candidate) -> Facts:
    """Return what a candidate holds of a query."""
    held = {term for term in query.terms if holds(candidate, term)}
    everywhere = held | (candidate.path & query.terms.keys())
    return Facts(
        coverage=_share(query.terms, everywhere),
        body=_share(query.terms, held),
        path=_share(query.terms, candidate.path),
        near=_near(query.terms, held, candidate),
        names=_part(query.names, everywhere),
        numbers=_part(query.numbers, everywhere),
        sibling=_is_sibling(query.names, candidate, everywhere),
        only_named=_only_named([name for name in query.names if not is_chapter(name)], everywhere),
        chapter=any(is_chapter(name) and name in candidate.path for name in query.names),
        substance=candidate.substance,
    )


def holds(candidate: Candidate, term: str) -> bool:
    """Return whether a candidate's body holds a term."""
    if _WIDE_ONLY.fullmatch(term):
        return term in candidate.text
    return term in candidate.values


def _near(terms: Mapping[str, float], held: set[str], candidate: Candidate) -> float:
    """Return the best share inside one sentence, or one row with its header."""
    total = sum(terms.values())
    if not held or not total:
        return 0.0
    weights = [(term, terms[term], _spelled(term)) for term in held]
    table = candidate.stored.chunk.kind == "table"
    pieces = candidate.text.split("\n") if table else _SENTENCE.split(candidate.text)
    head = " ".join(pieces[:_HEADER_LINES]) if table else ""
    above = sum(weight for _, weight, spelled in weights if head and spelled.search(head))
    rest = [(weight, spelled) for _, weight, spelled in weights if not (head and spelled.search(head))]
    return (
        above + max(sum(weight for weight, spelled in rest if spelled.search(piece)) for piece in pieces)
    ) / total


@lru_cache(maxsize=4096)
def _spelled(term: str) -> re.Pattern[str]:
    """Return what a term looks like in folded text: a blank may part a number from its unit."""
    return re.compile(re.sub(r"(?<=\d)(?=\D)", " ?", re.escape(term)))


def _share(terms: Mapping[str, float], held: set[str] | frozenset[str]) -> float:
    total = sum(terms.values())
    return sum(weight for term, weight in terms.items() if term in held) / total if total else 0.0


def _part(wanted: Sequence[str], held: set[str]) -> float:
    return sum(term in held for term in wanted) / len(wanted) if wanted else 1.0


def _only_named(names: Sequence[str], held: set[str]) -> bool:
    return bool(names) and all(any(term in name or name in term for name in names) for term in held)


def _is_sibling(names: Sequence[str], candidate: Candidate, held: set[str]) -> bool:
    """Return whether the path names a relative (KD-320) of a name (KD-310) that the candidate lacks."""
    if not names or any(name in held for name in names):
        return False
    families = {match[0] for name in names if (match := _FAMILY.match(name))}
    return any(
        _NAME_TERM.fullmatch(term) and (match := _FAMILY.match(term)) and match[0] in families
        for term in candidate.path
    )
