"""Chapters into chunks: a chunk never crosses a heading, tables stay whole, paragraphs and then sentences part text.

The ranges of the chunks cover the text without a gap and in order; neighbours of text under one heading overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcli.datatypes import Chunk, ChunkKind, SplitOptions, chunk_id_of
from ragcli.documents.lines import Lines
from ragcli.documents.sentences import pieces, sentence_ends
from ragcli.documents.sizes import Budget, budget
from ragcli.documents.tables import Run

_INTRODUCES = re.compile(r"[:：]$|下表|如下|见表|表\s*\d|上表|[Tt]able|following|below", re.ASCII)
_CELL = re.compile(r"\s*[|│┃║\t]\s*|[ \u3000]{2,}|,")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines from one border to the next, and the headings that they stand under."""

    first: int
    last: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
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
    times: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks: list[Chunk] = []
    limits: dict[tuple[str, ...], Budget] = {}
    for section in sections:
        inside = tables[bisect_left(firsts, section.first) : bisect_right(firsts, section.last)]
        limit = limits.get(section.path) or budget(options, title, section.path)
        limits = {section.path: limit}
        for span in _spans(lines, section, inside, limit):
            chunks.append(_chunk(lines, section.path, span, marks, times, file))
    return tuple(chunks)


def _chunk(
    lines: Lines,
    path: tuple[str, ...],
    span: Span,
    furniture: list[int],
    times: Counter[tuple[tuple[str, ...], str]],
    file: str,
) -> Chunk:
    body = lines.text[span.start : span.end]
    line_start = bisect_right(lines.starts, span.start, 0, len(lines))
    line_end = bisect_right(lines.starts, span.end - 1, 0, len(lines))
    text = span.header + body
    occurrence = times[path, text]
    times[path, text] += 1
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
    """Return a chunk's text without page headers and form feeds; None where nothing else is left of it."""
    kept, at = [], span.start
    for line in furniture:
        start, end = max(span.start, lines.starts[line]), min(span.end, lines.starts[line + 1])
        kept.append(lines.text[at:start])
        at = max(at, end)
    kept.append(lines.text[at : span.end])
    text = "".join(kept).replace("\f", "")
    return text if text.strip() else None


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
    most = limit.chars
    units = list(_units(lines, start, end, max(40, most - limit.options.overlap_chars)))
    first = 0
    begin = start
    while first < len(units):
        last = _fill(lines.text, units, first, begin, most, limit)
        stop = units[last][1]
        yield Span(begin, stop)
        first = last + 1
        begin = stop if first >= len(units) else _step_back(lines.text, units, first, begin, stop, limit)


def _units(lines: Lines, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a range with the blank ones after each, cut at sentences where one is too long."""
    line = bisect_right(lines.starts, start, 0, len(lines)) - 1
    at = start
    while at < end:
        last = _after_blanks(lines, line)
        stop = min(end, lines.starts[last + 1])
        if stop - at <= most:
            yield at, stop
        else:
            yield from pieces(lines.text, at, stop, most)
        at, line = stop, last + 1


def _fill(text: str, units: list[tuple[int, int]], first: int, begin: int, most: int, limit: Budget) -> int:
    """Return the last unit that fits into a span from `begin`; a rest of a little over one span is halved."""
    rest = units[-1][1] - begin
    goal = most if rest <= most or rest > 1.7 * most else max(limit.options.min_chars, rest * 11 // 20)
    goal = min(goal, most)
    last = first
    while last + 1 < len(units) and units[last + 1][1] - begin <= goal:
        last += 1
    while last > first and not limit.fits(text[begin : units[last][1]]):
        last -= 1
    return last


def _step_back(
    text: str, units: list[tuple[int, int]], first: int, begin: int, stop: int, limit: Budget
) -> int:
    """Return where the next span begins: at a sentence's end 50 to 100 characters back, or at the cut."""
    overlap = limit.options.overlap_chars
    if overlap <= 0:
        return stop
    low, high = max(begin + 1, stop - overlap * 5 // 4), stop - overlap * 5 // 8
    room = limit.chars - (units[first][1] - units[first][0])
    low = max(low, stop - room)
    if low >= high:
        return stop
    ends = [end for end in sentence_ends(text, low - 1, high + 1) if low <= end <= high]
    if not ends:
        return stop
    back = min(ends, key=lambda end: abs(stop - overlap - end))
    return back if limit.fits(text[back : units[first][1]]) else stop


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
