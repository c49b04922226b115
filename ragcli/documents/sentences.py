"""Where a text may be cut: after sentences, else after clauses, else between words.

Cuts are offsets; nothing is dropped or changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A sentence ends at its mark, closing quotes and brackets included; in Latin script a blank has to follow.
_END = re.compile(r"(?:[。！？；!?…]+|(?<=[a-z0-9)\]\"'’”])\.(?=\s))[”’」』）)\]】》\"']*\s*|\n+")
_CLAUSE = re.compile(r"[，、：,:;|]\s*|\t+|\s+")


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets between `start` and `end`, exclusive of both, at which a sentence or a line ends."""
    for match in _END.finditer(text, start, end):
        if start < match.end() < end:
            yield match.end()


def pieces(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most `limit` characters that cover a text, each a sentence where it fits.

    >>> text = "开机。请先检查电源，再按启动键，等待十秒！完成"
    >>> [text[a:b] for a, b in pieces(text, 0, len(text), 8)]
    ['开机。', '请先检查电源，', '再按启动键，', '等待十秒！', '完成']
    """
    at = start
    for stop in (*sentence_ends(text, start, end), end):
        if stop - at <= limit:
            yield at, stop
        else:
            yield from _clauses(text, at, stop, limit)
        at = stop


def _clauses(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    while end - start > limit:
        cut = start
        for match in _CLAUSE.finditer(text, start + limit // 2, start + limit):
            cut = match.end()
        if cut <= start:
            cut = _whole_character(text, start + limit)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _whole_character(text: str, cut: int) -> int:
    """Move a cut back from the middle of a character written with a combining sign or a joiner."""
    for back in range(4):
        char = text[cut - back] if cut - back < len(text) else ""
        if not char or not ("\u0300" <= char < "\u0370" or char in "\u200d\ufe0f\ufe0e"):
            return cut - back
    return cut
