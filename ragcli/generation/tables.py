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

    >>> as_records("型号 | 水箱\\nA3 | 1.8 升", 1)
    '型号: A3 | 水箱: 1.8 升'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [line for line in lines[header_lines:] if not _RULE.match(line)]
    if not header_lines or not rows or len(rows) > most_rows:
        return text
    names = cells(next((line for line in lines[:header_lines] if not _RULE.match(line)), ""))
    records = [_record(names, cells(row)) for row in rows]
    regular = sum(record is not None for record in records)
    if len(names) < 2 or regular * 2 < len(rows):
        return text
    return "\n".join(record or row.strip() for record, row in zip(records, rows, strict=True))


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
