"""Write a table's rows so that a small model can't slip a column: each cell with the name of its column.

Only how a passage is shown to the model: what is stored and cited stays as it is. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULE = re.compile(r"^[\s|:+=\-─━┄┼│]+$")
_MOST_ROWS = 16  # a longer table would take too many tokens with its names repeated


def as_records(text: str, header_lines: int, most_rows: int = _MOST_ROWS) -> str:
    """Return the rows as `column: value | column: value`, or the text itself where it isn't that regular.

    `header_lines` ends with the names of the columns; what stands before them (单位为万件) stays.

    >>> as_records("型号 | 水箱\\nA3 | 1.8 升", 1)
    '型号: A3 | 水箱: 1.8 升'
    """
    lines = [line for line in text.splitlines() if not _RULE.match(line)]
    before = [line for line in text.splitlines()[:header_lines] if not _RULE.match(line)]
    rows = [line for line in lines[len(before) :] if line.strip()]
    if not before or not rows or len(rows) > most_rows:
        return text
    names = cells(before[-1])
    records = [_record(names, cells(row)) for row in rows]
    regular = sum(record is not None for record in records)
    if len(names) < 2 or regular * 2 < len(rows):
        return text
    lead = [line for line in before[:-1] if line.strip()]
    return "\n".join([*lead, *(record or row.strip() for record, row in zip(records, rows, strict=True))])


def header_of(text: str) -> int:
    """Return how many lines of a text end with the names of a table's columns; 0 where there is no such line.

    They are the first line of several cells that another one of as many follows, with the rule under it.

    >>> header_of("附录 价格\\n部件  价格\\n滤网  39 元\\n水箱  88 元")
    2
    """
    lines = text.splitlines()
    for place, line in enumerate(lines):
        width = len(cells(line))
        if width < 2 or _RULE.match(line):
            continue
        first = place + 1
        while first < len(lines) and (_RULE.match(lines[first]) or not lines[first].strip()):
            first += 1
        if first < len(lines) and len(cells(lines[first])) == width:
            return first
    return 0


def cells(row: str) -> list[str]:
    """Cut a row at its bars, tabs or runs of blanks."""
    row = row.strip()
    if "|" in row or "│" in row:
        return [cell.strip() for cell in re.split(r"[|│]", row.strip("|│"))]
    return [cell.strip() for cell in (row.split("\t") if "\t" in row else re.split(r" {2,}|\u3000{2,}", row))]


def _record(names: Sequence[str], values: Sequence[str]) -> str | None:
    if len(names) != len(values):
        return None
    return " | ".join(
        f"{name}: {value}" if name else value for name, value in zip(names, values, strict=True)
    )
