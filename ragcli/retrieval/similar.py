"""Whether two passages say the same, so that copies don't fill a list.

Two editions of a page or two sibling manuals differ in little but their numbers: what differs in a number or
a Latin name is never a copy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHINGLE = 6
_COPY = 0.9
_VALUES = re.compile(r"[a-z0-9]+(?:\.\d+)*")
_BLANK = re.compile(r"[\W_]+")


def copies_last(texts: Sequence[str]) -> list[int]:
    """Return the positions of `texts` (folded) with copies of an earlier one moved behind all others."""
    first: list[int] = []
    later: list[int] = []
    prints: list[tuple[frozenset[str], frozenset[str]]] = []
    for position, text in enumerate(texts):
        mine = _print(text)
        if any(_same(mine, other) for other in prints):
            later.append(position)
        else:
            first.append(position)
            prints.append(mine)
    return first + later


def _print(text: str) -> tuple[frozenset[str], frozenset[str]]:
    bare = _BLANK.sub("", text)
    shingles = {bare[at : at + _SHINGLE] for at in range(max(1, len(bare) - _SHINGLE + 1))}
    return frozenset(shingles), frozenset(_VALUES.findall(text))


def _same(one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]]) -> bool:
    if one[1] != other[1]:
        return False
    shared = len(one[0] & other[0])
    return shared >= _COPY * (len(one[0]) + len(other[0]) - shared)
