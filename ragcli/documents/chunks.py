"""Chapters into chunks: a chunk never crosses a heading, tables stay whole, paragraphs and then sentences part text.

The ranges of the chunks cover the text without a gap and in order; neighbours of text under one heading overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub
from typing import NamedTuple

from ragcli.datatypes import Chunk, ChunkKind, SplitOptions, chunk_id_of
from ragcli.documents.lines import Lines
from ragcli.documents.sentences import pieces, sentence_ends
from ragcli.documents.sizes import Budget, budget, growth
from ragcli.documents.tables import Run

_INTRODUCES = re.compile(r"[:：]$|下表|如下|见表|表\s*\d|上表|[Tt]able|following|below", re.ASCII)
_LEAST_LEFT = 15  # characters: with less, a chunk couldn't be found by what it says
_CELL = re.compile(r"\s*[|│┃║\t]\s*|[ \u3000]{2,}|,")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines from one border to the next, and the headings that they stand under."""

    first: int
    last: int
    path: tuple[str, ...]


class Span(NamedTuple):
    """A chunk to be: a range of characters, what it is, and the table header that it repeats."""

    start: int
    end: int
    kind: ChunkKind = "text"
    header: str = ""


def split(
    lines: Lines,
    sections: Sequence[Section],
    tables: Sequence[Run],
    furniture: frozenset[int],
    options: SplitOptions,
    file: str,
    title: str,
) -> tuple[Chunk, ...]:
    """Cut every section into chunks, in the order of the text."""
    firsts = [table.first for table in tables]
    marks = sorted(furniture)
    times: dict[tuple[tuple[str, ...], str], int] = {}
    chunks: list[Chunk] = []
    limited: tuple[str, ...] = ()
    limit = budget(options, title, limited)
    for section in sections:
        inside = tables[bisect_left(firsts, section.first) : bisect_right(firsts, section.last)]
        if section.path != limited:
            limit, limited = budget(options, title, section.path), section.path
        for span in _spans(lines, section, inside, limit):
            chunks.append(_chunk(lines, section.path, span, marks, times, file))
    return tuple(chunks)


def _chunk(
    lines: Lines,
    path: tuple[str, ...],
    span: Span,
    furniture: list[int],
    times: dict[tuple[tuple[str, ...], str], int],
    file: str,
) -> Chunk:
    body = lines.text[span.start : span.end]
    line_start = min(bisect_right(lines.starts, span.start), len(lines.raw))
    line_end = min(bisect_right(lines.starts, span.end - 1), len(lines.raw))
    text = span.header + body
    occurrence = times.get((path, text), 0)
    times[path, text] = occurrence + 1
    embed = None
    if furniture and (
        inside := furniture[bisect_left(furniture, line_start - 1) : bisect_left(furniture, line_end)]
    ):
        embed = _without(lines, span, inside)
    return Chunk(
        chunk_id_of(file, path, text, occurrence),
        path,
        span.kind,
        body,
        line_start,
        line_end,
        span.start,
        span.end,
        span.header,
        embed,
    )


def _without(lines: Lines, span: Span, furniture: list[int]) -> str | None:
    """Return a chunk's text without page headers, form feeds and what was said before; None where little is left."""
    kept, at = [], span.start
    for line in furniture:
        start, end = max(span.start, lines.starts[line]), min(span.end, lines.starts[line + 1])
        kept.append(lines.text[at:start])
        at = max(at, end)
    kept.append(lines.text[at : span.end])
    text = "".join(kept).replace("\f", "")
    return text if len(text.strip()) >= _LEAST_LEFT else None


def _spans(lines: Lines, section: Section, tables: Sequence[Run], limit: Budget) -> Iterator[Span]:
    start, end = lines.starts[section.first], lines.starts[section.last + 1]
    at = start
    for table in tables:
        lead = _introduction(lines, section, table, at)
        yield from _text_spans(lines, at, lines.starts[lead], limit)
        stop = lines.starts[min(_after_blanks(lines, table.last), section.last) + 1]
        yield from _table_spans(lines, lead, table, stop, limit)
        at = stop
    yield from _text_spans(lines, at, end, limit)


def _after_blanks(lines: Lines, line: int) -> int:
    while line + 1 < len(lines) and not lines.seen[line + 1]:
        line += 1
    return line


def _introduction(lines: Lines, section: Section, table: Run, at: int) -> int:
    """Return the line that a table's chunk begins with: the one that introduces it, or a heading right above."""
    line = table.first - 1
    while line > section.first and not lines.seen[line]:
        line -= 1
    if line < section.first or lines.starts[line] < at or table.first - line > 3:
        return table.first
    text = lines.seen[line]
    if line == section.first or (len(text) <= 120 and _INTRODUCES.search(text)):
        return line if len(text) <= 120 else table.first
    return table.first


def _text_spans(lines: Lines, start: int, end: int, limit: Budget) -> Iterator[Span]:
    """Pack lines, and sentences of long ones, up to the limit; each further span goes back a little."""
    if start >= end:
        return
    text, most = lines.text, limit.chars
    cuts = _cuts(lines, start, end, max(40, most - limit.options.overlap_chars))
    grows = growth(text, start, end)

    def fits(first: int, stop: int) -> bool:
        size = stop - first + (bisect_left(grows, stop) - bisect_left(grows, first) if grows else 0)
        return size <= limit.tokens or limit.fits(text[first:stop])

    begin, done = start, 0
    while True:
        at = max(done, bisect_right(cuts, begin + _goal(end - begin, most, limit)) - 1)
        while at > done and not fits(begin, cuts[at]):
            at -= 1
        stop = cuts[at]
        yield Span(begin, stop)
        done = at + 1
        if done >= len(cuts):
            return
        begin = _step_back(text, begin, stop, cuts[done], limit)
        if begin < stop and not fits(begin, cuts[done]):
            begin = stop


def _goal(rest: int, most: int, limit: Budget) -> int:
    """Return how long the next span should be; a rest of a little over one span is halved."""
    if rest <= most or rest > 1.7 * most:
        return most
    return min(most, max(limit.options.min_chars, rest * 11 // 20))


def _cuts(lines: Lines, start: int, end: int, most: int) -> list[int]:
    """Return where a range may be cut: after lines and the blank ones below, in lines that are too long at sentences."""
    first = bisect_right(lines.starts, start, 0, len(lines)) - 1
    last = bisect_left(lines.starts, end, 0, len(lines) + 1)
    below = [*lines.seen[first + 1 : last], "end"]
    ends = [stop for stop, seen in zip(lines.starts[first + 1 : last + 1], below, strict=False) if seen]
    ends[-1] = end
    if end - start <= most:
        return ends
    cuts: list[int] = []
    at = start
    for stop in ends:
        if stop - at > most:
            ends_inside = [at, *sentence_ends(lines.text, at, stop), stop]
            if max(map(sub, ends_inside[1:], ends_inside)) <= most:
                cuts += ends_inside[1:]
            else:
                cuts += [cut for _, cut in pieces(lines.text, at, stop, most)]
        else:
            cuts.append(stop)
        at = stop
    return cuts


def _step_back(text: str, begin: int, stop: int, upto: int, limit: Budget) -> int:
    """Return where the next span begins: at a sentence's end 50 to 100 characters back, or at the cut."""
    overlap = limit.options.overlap_chars
    low = max(begin + 1, stop - overlap * 5 // 4, upto - limit.chars)
    high = stop - overlap * 5 // 8
    if overlap <= 0 or low >= high:
        return stop
    ends = sentence_ends(text, low - 1, high + 1)
    return min(ends, key=lambda end: abs(stop - overlap - end)) if ends else stop


def _table_spans(lines: Lines, lead: int, table: Run, stop: int, limit: Budget) -> Iterator[Span]:
    """Yield a table whole where it fits, else in pieces of whole rows, each later one with the header rows."""
    text = lines.text
    start = lines.starts[lead]
    most = limit.options.table_max_chars
    if stop - start <= most and limit.fits(text[start:stop]):
        yield Span(start, stop, "table")
        return
    header = text[lines.starts[table.first] : lines.starts[table.first + table.header_lines]]
    if len(header) > most // 3 or not limit.fits(header * 2):
        header = ""
    begin, at = start, table.first + (table.header_lines or 1)
    shown = ""
    while at <= table.last:
        last = at
        while last < table.last and _row_fits(lines, begin, last + 1, stop, table, shown, most, limit):
            last += 1
        end = stop if last == table.last else lines.starts[last + 1]
        yield from _long_rows(text, begin, end, shown, most, limit)
        begin, at, shown = end, last + 1, header
    if begin < stop:
        yield from _long_rows(text, begin, stop, shown, most, limit)


def _row_fits(
    lines: Lines, begin: int, line: int, stop: int, table: Run, shown: str, most: int, limit: Budget
) -> bool:
    end = stop if line == table.last else lines.starts[line + 1]
    return len(shown) + end - begin <= most and limit.fits(shown + lines.text[begin:end])


def _long_rows(text: str, begin: int, end: int, header: str, most: int, limit: Budget) -> Iterator[Span]:
    """Yield a piece; a single row that is longer than any chunk is cut between cells, as nothing else helps."""
    most -= len(header)
    whole = header + text[begin:end]
    if end - begin <= most and limit.fits(whole):
        yield Span(begin, end, "table", header)
        return
    size = most if limit.fits(whole[:most]) else max(40, min(most, limit.tokens - len(header)))
    while end - begin > size:
        cuts = [match.end() for match in _CELL.finditer(text, begin + size // 2, begin + size)]
        cut = cuts[-1] if cuts else begin + size
        yield Span(begin, cut, "table", header)
        begin = cut
    if begin < end:
        yield Span(begin, end, "table", header)
