"""Which runs of lines are tables: bars, frames, tabs, commas, columns of blanks.

Justified prose, poems, trees, code and key-value lines have some of the same marks and aren't tables. Lines are
0-based here; a run's end is its last line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragcli.documents.lines import Lines, columns, is_rule, is_sentence

Style = Literal["", "bar", "frame", "tab", "gap", "comma", "rule"]

_BARS = "|│┃║｜"
_FRAME = re.compile(r"[+|│┃║┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬═─━\-=:┄┈\s╭╮╰╯╞╡╪]{3,}")
_TREE = re.compile(r"^(?:[│|] *)*[├└╰][─-]{1,3}\s*\S|^\|--+ ?\w|^`-+ ?\w")
_GAP = re.compile(r"(?<=\S)(?:[ \u3000\xa0]{2,}|\u3000|[ ]*\t[ \t]*)(?=\S)")
_PROSE_BREAK = "。！？；，、：.!?;:,"
_CODE = re.compile(r"[{};]$|^(?:>>>|\$ |//|/\*|def |if \(|for \(|return )")
_UNDER_HEADER = re.compile(r"[-=_~*─━═＝]{2,}(?:\s+[-=_~*─━═＝]{2,})*")
_TAG = re.compile(r"\*[\w.:-]{1,30}\*\t|<[^<>\s]{1,8}>")  # a heading, though a tab stands in it
_DIGITS = re.compile(r"^[-+±]?[\d.,:%/～~\s-]*\d[\d.,:%/～~\s-]*\S{0,4}$")


@dataclass(frozen=True, slots=True)
class Run:
    """A table's lines, and how many of the first ones name its columns."""

    first: int
    last: int
    header_lines: int
    style: Style


def find_tables(lines: Lines, taken: frozenset[int]) -> list[Run]:
    """Return the tables, in order; `taken` are lines that are none: contents and page furniture."""
    styles = _styles(lines, taken)
    found: list[Run] = []
    line = 0
    while line < len(styles):
        if not styles[line] or styles[line] == "rule":
            line += 1
            continue
        last = _end_of_run(lines, styles, line, taken)
        found += _tables_in(lines, styles, line, last)
        line = last + 1
    return found


def _styles(lines: Lines, taken: frozenset[int]) -> list[Style]:
    text = lines.text
    if not any(mark in text for mark in ("\t", "  ", "\u3000", "|", "│", "┃", "║", "｜", ",")):
        return [""] * len(lines)
    return ["" if line in taken or _TAG.match(seen) else _style(seen) for line, seen in enumerate(lines.seen)]


def _style(seen: str) -> Style:
    if len(seen) < 3:
        return ""
    if any(bar in seen for bar in _BARS) or seen[0] in "+┌├└╔╠╚╭╰┏┣┗":
        return "tab" if "\t" in seen and seen[-1] not in _BARS else _bar_style(seen)
    if "\t" in seen:
        return "tab"
    if ("  " in seen or "\u3000" in seen) and _gaps(seen):
        return "gap"
    if seen.count(",") >= 2 and not seen.endswith((".", "。", ",")) and " " not in seen.split(",")[1][:1]:
        return "comma"
    return "rule" if is_rule(seen) else ""


def _bar_style(seen: str) -> Style:
    if _FRAME.fullmatch(seen) and any(char in "-=─━═" for char in seen):
        return "frame"
    if _TREE.match(seen):
        return ""
    count = sum(seen.count(bar) for bar in _BARS)
    if count >= 2 or (count == 1 and seen[0] not in _BARS and seen[-1] not in _BARS and " | " in seen):
        return "bar"
    return "tab" if "\t" in seen else ""


def _gaps(seen: str) -> list[int]:
    """Return where the cells after the first begin, as offsets; blanks after punctuation don't part cells."""
    return [
        m.end() for m in _GAP.finditer(seen) if seen[m.start() - 1] not in _PROSE_BREAK or "\t" in m.group()
    ]


def _end_of_run(lines: Lines, styles: Sequence[Style], first: int, taken: frozenset[int]) -> int:
    style = styles[first]
    barred = style in ("bar", "frame")
    last, line = first, first + 1
    while line < len(styles):
        here = styles[line]
        if barred:
            fits = here in ("bar", "frame") or _closes_row(lines.seen[line - 1], lines.seen[line])
        elif here == style or (style == "gap" and not here and _under_column(lines, styles, line)):
            fits = line not in taken
        else:
            fits = here == "rule" and style in ("tab", "gap") and not lines.blank(line + 1)
        if fits:
            last = line
        elif not _continues(lines, styles, line, style, taken):
            break
        line += 1
    return last


def _closes_row(before: str, seen: str) -> bool:
    """Say whether a line ends a row of bars that the line before left open."""
    return bool(before and seen) and before[0] in _BARS and before[-1] not in _BARS and seen[-1] in _BARS


def _under_column(lines: Lines, styles: Sequence[Style], line: int) -> bool:
    """Say whether a line is a cell that goes on: it begins where a cell after the first of the row above does."""
    if not lines.seen[line] or len(lines.seen[line]) > 60:
        return False
    indent, above = lines.indent(line), line - 1
    while (
        above >= 0
        and not styles[above]
        and lines.seen[above]
        and lines.indent(above) == indent
        and line - above < 6
    ):
        above -= 1
    return indent >= 3 and styles[above] == "gap" and ("start", indent) in _edges(lines, above)


def _continues(lines: Lines, styles: Sequence[Style], line: int, style: Style, taken: frozenset[int]) -> bool:
    """Say whether a line between rows belongs to them: a comment, or a cell that goes on."""
    if line in taken or not lines.seen[line] or line + 1 >= len(styles):
        return False
    following = styles[line + 1]
    if style == "tab" and lines.seen[line][0] == "#" and following == "tab":
        return True
    return style in ("tab", "gap") and lines.indent(line) >= 16 and following in (style, "")


def _tables_in(lines: Lines, styles: Sequence[Style], first: int, last: int) -> list[Run]:
    """Return the tables in a run of lines that look like rows of one style."""
    style = styles[first]
    while last > first and styles[last] == "rule":
        last -= 1
    rows = [line for line in range(first, last + 1) if styles[line] not in ("", "rule", "frame")]
    if style == "gap":
        return _aligned(lines, styles, last, rows)
    if style in ("bar", "frame"):
        run = _barred(lines, styles, first, last, rows)
    elif style == "tab":
        run = _tabbed(lines, first, last, rows)
    else:
        run = _commas(lines, first, last, rows)
    return [run] if run else []


def _barred(lines: Lines, styles: Sequence[Style], first: int, last: int, rows: list[int]) -> Run | None:
    frames = [line for line in range(first, last + 1) if styles[line] == "frame"]
    if len(rows) < 1 or last - first < 1 or (not frames and len(rows) < 2):
        return None
    if not frames:
        counts = Counter(sum(lines.seen[line].count(bar) for bar in _BARS) for line in rows)
        if counts.most_common(1)[0][1] < 0.6 * len(rows):
            return None
    header = 1
    inner = [line for line in frames if line > rows[0]]
    if inner and inner[0] - first <= 6:
        header = inner[0] - first + 1
    return Run(first, last, min(header, last - first), styles[first])


def _tabbed(lines: Lines, first: int, last: int, rows: list[int]) -> Run | None:
    """Take two rows with the same three cells or short two, or three rows of any."""
    cells = [len(re.split(r"\t+", lines.seen[line])) for line in rows]
    if len(rows) < 2:
        return None
    if len(rows) == 2 and (cells[0] != cells[1] or (cells[0] < 3 and not _short_cells(lines, rows))):
        return None
    numbered = sum(bool(re.match(r"[*|]?[\d.]+[*|]?\t", lines.seen[line])) for line in rows)
    if max(cells) == 2 and (numbered == len(rows) or _is_list(lines, rows)):
        return None  # numbers or bullets with a tab behind them are a list
    long = sum(is_sentence(lines.seen[line]) and len(lines.seen[line]) > 80 for line in rows)
    if long * 2 > len(rows):
        return None
    return Run(first, last, _header(lines, first, rows), "tab")


def _short_cells(lines: Lines, rows: list[int]) -> bool:
    return all(
        len(cell) <= 20 and not is_sentence(cell) for line in rows for cell in lines.seen[line].split("\t")
    )


def _commas(lines: Lines, first: int, last: int, rows: list[int]) -> Run | None:
    """Comma-separated values: four rows or more, all with the same number of commas."""
    counts = {lines.seen[line].count(",") for line in rows}
    if len(rows) < 4 or len(counts) != 1 or any(is_sentence(lines.seen[line]) for line in rows):
        return None
    spaced = sum(", " in lines.seen[line] for line in rows)
    return None if spaced * 3 > len(rows) else Run(first, last, 1, "comma")


def _aligned(lines: Lines, styles: Sequence[Style], last: int, rows: list[int]) -> list[Run]:
    """Columns of blanks: the cells of nearly all rows begin, or end, in the same columns."""
    sets = [_edges(lines, line) for line in rows]
    parts: list[list[int]] = []
    for n in range(len(rows)):
        if parts and _shares_edge(sets, n, parts[-1][0]):
            parts[-1].append(n)
        else:
            parts.append([n])
    found: list[Run] = []
    for number, part in enumerate(parts):
        if not _in_columns(lines, styles, [rows[n] for n in part], [sets[n] for n in part]):
            continue
        above = parts[number - 1] if number and len(parts[number - 1]) <= 2 and len(part) > 3 else []
        top = rows[(above or part)[0]]
        if found and top <= found[-1].last:
            top = rows[part[0]]
        bottom = last if number == len(parts) - 1 and part[-1] == len(rows) - 1 else rows[part[-1]]
        found.append(Run(top, bottom, _header(lines, top, [top, *(rows[n] for n in part)]), "gap"))
    return found


def _in_columns(
    lines: Lines, styles: Sequence[Style], rows: list[int], sets: list[frozenset[tuple[str, int]]]
) -> bool:
    if len(rows) < 2 or any(reject(lines, rows) for reject in (_is_verse, _is_code, _is_prose, _is_list)):
        return False
    edges = Counter(edge for row in sets for edge in row)
    common = [edge for edge, times in edges.items() if times >= 0.75 * len(rows)]
    counts = Counter(len(_gaps(lines.seen[line])) for line in rows)
    ruled = any(styles[line] == "rule" for line in range(rows[0], rows[-1] + 1))
    if not common or (len(common) < 2 and counts.most_common(1)[0][1] < 0.55 * len(rows)):
        return False
    return len(rows) >= (2 if ruled or min(counts) >= 2 else 3)


def _is_list(lines: Lines, rows: list[int]) -> bool:
    """Lines behind one and the same sign: comments, bullets, quotations."""
    signs = Counter(re.split(r"\s", lines.seen[line], maxsplit=1)[0] for line in rows)
    sign, times = signs.most_common(1)[0]
    return times >= 0.8 * len(rows) and len(sign) <= 2 and not any(char.isalnum() for char in sign)


def _shares_edge(sets: list[frozenset[tuple[str, int]]], n: int, first: int) -> bool:
    """Say whether row n lines up with one of the rows just above."""
    return any(sets[n] & sets[m] for m in range(max(first, n - 3), n))


def _edges(lines: Lines, line: int) -> frozenset[tuple[str, int]]:
    """Return in which columns of the screen the cells after the first begin and end."""
    seen = lines.seen[line]
    places = _gaps(seen)
    ends = [m.start() for m in _GAP.finditer(seen)][1:]
    if places and len(seen) - places[-1] <= 12:  # the end of prose set to a margin is no column's edge
        ends.append(len(seen))
    width, at, edges = lines.indent(line), 0, set()
    for place, side in sorted([*((place, "start") for place in places), *((place, "end") for place in ends)]):
        width += columns(seen[at:place])
        at = place
        edges.add((side, width))
    return frozenset(edges)


def _is_verse(lines: Lines, rows: list[int]) -> bool:
    """Two halves of a line of verse, the same number of characters each, all Chinese."""
    lengths: set[int] = set()
    for line in rows:
        cells = [cell.strip() for cell in re.split(r"[ \u3000]{2,}|\u3000", lines.seen[line]) if cell.strip()]
        bare = [cell.rstrip("，。；！？、") for cell in cells]
        if len(cells) != 2 or not all("\u4e00" <= char <= "\u9fff" for cell in bare for char in cell):
            return False
        lengths.update(map(len, bare))
    return len(lengths) == 1 and 4 <= lengths.pop() <= 9


def _is_prose(lines: Lines, rows: list[int]) -> bool:
    """Articles and paragraphs: most lines end as sentences do, or are far longer than a row."""
    prose = sum(lines.seen[line][-1] in "。；，" or _longest_cell(lines.seen[line]) > 60 for line in rows)
    return prose * 2 > len(rows)


def _longest_cell(seen: str) -> int:
    return max(map(len, _GAP.split(seen)))


def _is_code(lines: Lines, rows: list[int]) -> bool:
    marks = sum(_CODE.search(lines.seen[line]) is not None for line in rows)
    return marks * 10 >= len(rows) * 3


def _header(lines: Lines, first: int, rows: list[int]) -> int:
    """Return how many lines name the columns: the first row with a rule below it, none where it is all values."""
    if rows[0] + 1 < rows[-1] and _UNDER_HEADER.fullmatch(lines.seen[rows[0] + 1]):
        return rows[0] + 1 - first + 1
    cells = [cell for cell in re.split(r"\t+|[ \u3000]{2,}", lines.seen[rows[0]]) if cell]
    below = [cell for cell in re.split(r"\t+|[ \u3000]{2,}", lines.seen[rows[-1]]) if cell]
    values = sum(_DIGITS.match(cell) is not None for cell in cells)
    values_below = sum(_DIGITS.match(cell) is not None for cell in below)
    return 0 if values >= 2 and values >= values_below > 0 else 1
