"""Page headers, page footers and page numbers: lines that come back on every page and say nothing new.

They stay in the text and in its chunks; they are left out of what is embedded, and don't cut paragraphs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from ragcli.documents.lines import Lines, is_rule

_DIGITS = re.compile(r"\d+")
_BLANKS = re.compile(r"\s+")
_PAGE = re.compile(
    r"第 ?# ?[页頁]|[页頁][码碼]?[:：]? ?#|\bpage:? ?#|\[page #\]|^[-—–·• ]*#[-—–·• ]*$|^# ?/ ?#$|共 ?# ?[页頁]",
    re.IGNORECASE,
)
_ORNAMENT = re.compile(r"^[-—–·•*=~─━]{1,10} ?\S.*\S ?[-—–·•*=~─━]{1,10}$")
_LONG = 30
_NUMBER_ALONE = re.compile(r"^[-—–·• ]*#[-—–·• ]*$")


def furniture(lines: Lines) -> frozenset[int]:
    """Return the lines that are page headers, page footers or page numbers."""
    seen = lines.seen
    feeds = [n for n, raw in enumerate(lines.raw) if "\f" in raw] if "\f" in lines.text else []
    near = {n for feed in feeds for n in _around(lines, feed)}
    places: defaultdict[str, list[int]] = defaultdict(list)
    for line, text in enumerate(seen):
        if text and len(text) <= 100 and (line in near or _alone(lines, line)):
            places[_shape(text)].append(line)
    found = {line for line in feeds if not seen[line]}
    for shape, where in places.items():
        if len(where) >= 2 and _is_furniture(lines, shape, where, near):
            found.update(where)
    return frozenset(found)


def boilerplate(lines: Lines, taken: frozenset[int]) -> frozenset[int]:
    """Return the paragraphs that stand three times or more to the letter, the first time of each aside.

    They stay in their chunks and can be cited there; embedding them again would only fill the results with copies.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for line, text in enumerate(lines.seen):
        if _LONG <= len(text) <= 400 and line not in taken:
            places[text].append(line)
    return frozenset(line for where in places.values() if len(where) >= 3 for line in where[1:])


def _around(lines: Lines, feed: int) -> list[int]:
    """Return the two lines before and after a form feed that have something to see."""
    found = []
    for step in (-1, 1):
        line, left = feed if lines.seen[feed] and step > 0 else feed + step, 2
        while 0 <= line < len(lines) and left and abs(line - feed) < 9:
            if lines.seen[line]:
                found.append(line)
                left -= 1
            line += step
    return found


def _alone(lines: Lines, line: int) -> bool:
    return lines.blank(line - 1) and lines.blank(line + 1)


def _shape(text: str) -> str:
    return _DIGITS.sub("#", _BLANKS.sub(" ", text))


def _is_furniture(lines: Lines, shape: str, where: list[int], near: set[int]) -> bool:
    if is_rule(lines.seen[where[0]]):
        return False
    share = sum(line in near for line in where) / len(where)
    if len(where) >= 3 and share >= 0.6:
        return True
    if _PAGE.search(shape):
        return not _NUMBER_ALONE.match(shape) or (len(where) >= 3 and share > 0.3)
    if len(where) < 3:
        return False
    if _ORNAMENT.match(shape) and len({lines.seen[line] for line in where}) == 1:
        return True
    gaps = [after - before for before, after in pairwise(where)]
    regular = len(where) >= 4 and min(gaps) >= 20 and min(gaps) > 0.85 * max(gaps)
    return regular and len({lines.seen[line] for line in where}) <= 2
