"""Where a text may be cut: after sentences, else after clauses, else between words.

Cuts are offsets; nothing is dropped or changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A sentence ends at its mark, closing quotes and brackets included. A full stop of Latin script is looked at again.
# The pattern begins with one set of characters: that is what the engine finds fast.
_END = re.compile(r"[。！？；!?…\n.]+[”’」』）)\]】》\"']*\s*")
_CLAUSE = re.compile(r"[，、：,:;|]\s*|\t+|\s+")


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Return the offsets between `start` and `end`, exclusive of both, at which a sentence or a line ends."""
    if text.find(".", start, end) < 0:
        found = [match.end() for match in _END.finditer(text, start, end)]
    else:
        found = [
            match.end()
            for match in _END.finditer(text, start, end)
            if text[match.start()] != "." or _full_stop(text, match.start(), match.end())
        ]
    if found and found[-1] >= end:
        found.pop()
    return found


def _full_stop(text: str, at: int, stop: int) -> bool:
    """Tell the end of a sentence from a decimal point, an abbreviation's initial and a file name."""
    before = text[at - 1 : at]
    return text[stop - 1].isspace() and (before.islower() or before.isdigit() or before in ")]\"'’”")


def pieces(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most `limit` characters that cover a text, each a sentence where it fits.

    >>> text = "开机。请先检查电源，再按启动键，等待十秒！完成"
    >>> [text[a:b] for a, b in pieces(text, 0, len(text), 8)]
    ['开机。', '请先检查电源，', '再按启动键，', '等待十秒！', '完成']
    """
    at = start
    for stop in [*sentence_ends(text, start, end), end]:
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
