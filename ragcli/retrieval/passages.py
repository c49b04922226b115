"""Hits into the passages of a prompt: neighbours joined, and cut to what bears on the question.

For the prompt alone: what is stored, listed and cited stays the whole chunk. Sentences and table rows are the
smallest pieces; a table's header always stays with its rows. Pure: a token count is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragcli.datatypes import Hit
from ragcli.retrieval.terms import Fold, index_terms, query_terms

_SENTENCE = re.compile(r"[^。！？!?；;\n]*(?:[。！？!?；;]+[”’」』）)]*\n?|\n|$)|.+", re.DOTALL)
_ENGLISH_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Passage:
    """One or more touching chunks of a file, as the model is to read them."""

    chunk_ids: tuple[int, ...]
    file: str
    title: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    table: bool
    header: str
    body: str

    @property
    def text(self) -> str:
        """The header of a table's later piece, and the text."""
        return self.header + self.body


def passages(
    question: str, hits: Sequence[Hit], budget: int, count_tokens: Callable[[str], int], fold: Fold
) -> list[Passage]:
    """Return the hits as passages in order of rank that take at most `budget` tokens together.

    A passage that doesn't fit whole is cut to the pieces that hold most of the question's terms; one for
    which no piece fits is left out.
    """
    terms = dict.fromkeys(query_terms(question, fold), 1.0)
    left, taken = budget, []
    for passage in join(hits):
        cost = count_tokens(passage.text)
        if cost > left:
            passage = trim(passage, terms, left, count_tokens, fold)
            cost = count_tokens(passage.text)
        if passage.body.strip() and cost <= left:
            taken.append(passage)
            left -= cost
    return taken


def join(hits: Sequence[Hit]) -> list[Passage]:
    """Return one passage a run of touching or overlapping chunks, at the place of its best hit."""
    place = {hit.stored.chunk.chunk_id: n for n, hit in enumerate(hits)}
    inside = sorted(hits, key=lambda hit: (hit.stored.file, hit.stored.chunk.char_start))
    runs: list[list[Hit]] = []
    for hit in inside:
        if runs and _touch(runs[-1][-1], hit):
            runs[-1].append(hit)
        else:
            runs.append([hit])
    runs.sort(key=lambda run: min(place[hit.stored.chunk.chunk_id] for hit in run))
    return [_joined(run) for run in runs]


def trim(
    passage: Passage, terms: dict[str, float], budget: int, count_tokens: Callable[[str], int], fold: Fold
) -> Passage:
    """Return the passage with the pieces that hold most of the terms, in their order, within a budget."""
    pieces = rows(passage.body) if passage.table else sentences(passage.body)
    header = passage.header
    if passage.table and not header and len(pieces) > 1:
        header, pieces = pieces[0], pieces[1:]
    worth = [_share(terms, frozenset(index_terms(piece, fold))) for piece in pieces]
    # A piece beside a good one often completes it; the first tells what the passage is about.
    near = [
        value + 0.3 * max(worth[max(0, n - 1) : n + 2]) + (0.1 if n == 0 else 0.0)
        for n, value in enumerate(worth)
    ]
    left, kept = budget - count_tokens(header), set()
    for n in sorted(range(len(pieces)), key=lambda n: (-near[n], n)):
        cost = count_tokens(pieces[n])
        if cost <= left:
            kept.add(n)
            left -= cost
    body = "".join(piece for n, piece in enumerate(pieces) if n in kept)
    return replace(passage, header=header, body=body)


def sentences(text: str) -> list[str]:
    """Cut running text into sentences, with their marks and line ends: joined they are the text.

    >>> sentences("先断电。再拆壳！")
    ['先断电。', '再拆壳！']
    """
    pieces = []
    for part in _SENTENCE.findall(text):
        cuts = [match.end() for match in _ENGLISH_END.finditer(part)]
        pieces += [part[a:b] for a, b in zip([0, *cuts], [*cuts, len(part)], strict=True)]
    return [piece for piece in pieces if piece]


def rows(text: str) -> list[str]:
    """Cut a table into its lines, with their ends."""
    return text.splitlines(keepends=True)


def _share(terms: dict[str, float], held: frozenset[str]) -> float:
    total = sum(terms.values())
    return sum(weight for term, weight in terms.items() if term in held) / total if total else 0.0


def _touch(one: Hit, other: Hit) -> bool:
    a, b = one.stored.chunk, other.stored.chunk
    return (
        one.stored.file == other.stored.file
        and a.heading_path == b.heading_path
        and a.kind == b.kind
        and b.char_start <= a.char_end
    )


def _joined(run: Sequence[Hit]) -> Passage:
    first, last = run[0].stored, run[-1].stored
    body, end = "", first.chunk.char_start
    for hit in run:
        chunk = hit.stored.chunk
        body += chunk.body[max(0, end - chunk.char_start) :]
        end = max(end, chunk.char_end)
    return Passage(
        tuple(hit.stored.chunk.chunk_id for hit in run),
        first.file,
        first.title,
        first.chunk.heading_path,
        first.chunk.line_start,
        max(first.chunk.line_end, last.chunk.line_end),
        first.chunk.kind == "table",
        first.chunk.header,
        body,
    )
