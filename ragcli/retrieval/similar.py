"""Whether two passages say the same, so that copies don't fill a list.

Two editions of a page or two sibling manuals differ in little but their numbers: what differs in a number is
never a copy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHINGLE = 6
_COPY = 0.9
_VALUES = re.compile(r"\d+")
_BLANK = re.compile(r"[\W_]+")


def copies_last(texts: Sequence[str]) -> list[int]:
    """Return the positions of `texts` (folded) with copies of an earlier one moved behind all others."""
    first: list[int] = []
    later: list[int] = []
    bare = [_BLANK.sub("", text) for text in texts]
    values = [_VALUES.findall(text) for text in bare]
    for position, text in enumerate(bare):
        if any(values[position] == values[other] and is_copy(text, bare[other]) for other in first):
            later.append(position)
        else:
            first.append(position)
    return first + later


def is_copy(one: str, other: str) -> bool:
    """Return whether two texts without blanks and marks differ in next to nothing, and in no value."""
    if one == other:
        return True
    # Most pairs differ in length by more than copies can, which spares looking inside.
    if min(len(one), len(other)) < _COPY * max(len(one), len(other)):
        return False
    if _VALUES.findall(one) != _VALUES.findall(other):
        return False
    mine, theirs = _shingles(one), _shingles(other)
    shared = len(mine & theirs)
    return shared >= _COPY * (len(mine) + len(theirs) - shared)


def _shingles(text: str) -> set[str]:
    return {text[at : at + _SHINGLE] for at in range(max(1, len(text) - _SHINGLE + 1))}
