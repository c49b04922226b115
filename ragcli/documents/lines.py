"""A text as numbered lines, each as it is and as a reader sees it.

Lines are counted from 0 inside this room; what leaves it counts from 1. Form feeds and U+2028 don't end a line.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import accumulate

# Blanks and what can't be seen: byte order marks, zero-width characters, form feeds.
INVISIBLE = (
    " \t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000-\u200f\u2028\u2029\u202a-\u202f\u205f-\u2064\u3000\ufeff"
)
_STRIP = (
    "".join(
        chr(code)
        for code in (
            *range(0x2000, 0x2010),
            *range(0x2028, 0x2030),
            *range(0x205F, 0x2065),
            0x3000,
            0xFEFF,
            0x1680,
        )
    )
    + " \t\v\f\x1c\x1d\x1e\x1f\x85\xa0"
)
_BLANKS = re.compile(r"\s+")
_RULE = re.compile(r"([-=~*_#+·.—–─━═┄┈―＝－＊～])\1{2,}|(?:[-=*_~] ){2,}[-=*_~]")
SENTENCE_END = "。！？!?；;…"
_WIDE = "WF"


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut at its line ends: `raw` lines, `seen` without blanks around them, and where each begins."""

    text: str
    raw: list[str]
    seen: list[str]
    starts: list[int]

    def __len__(self) -> int:
        return len(self.raw)

    def blank(self, line: int) -> bool:
        """Say whether there is nothing to see in a line, or no such line."""
        return not 0 <= line < len(self.seen) or not self.seen[line]

    def next_seen(self, line: int, limit: int = 8) -> int:
        """Return the next line with something to see, at most `limit` lines on, or -1."""
        for other in range(line + 1, min(line + 1 + limit, len(self.seen))):
            if self.seen[other]:
                return other
        return -1

    def indent(self, line: int) -> int:
        """Return how many columns a line is set in; a tab reaches to the next eighth column."""
        return columns(self.raw[line][: len(self.raw[line]) - len(self.raw[line].lstrip(_STRIP))])


def cut(text: str) -> Lines:
    """Cut a text into lines; a line end at the very end begins no further line."""
    raw = text.split("\n")
    if len(raw) > 1 and not raw[-1]:
        raw.pop()
    seen = [line.strip(_STRIP) for line in raw]
    starts = [0, *accumulate(len(line) + 1 for line in raw)]
    starts[-1] = len(text)
    return Lines(text, raw, seen, starts)


def columns(text: str) -> int:
    """Return the width of a text on a screen: wide characters take two columns, a tab goes to the next eighth."""
    if text.isascii() and "\t" not in text:
        return len(text)
    width = 0
    for char in text:
        if char == "\t":
            width += 8 - width % 8
        elif char > "\u10ff" and unicodedata.east_asian_width(char) in _WIDE:
            width += 2
        elif char not in "\u200b\u200c\u200d\u2060\ufeff":
            width += 1
    return width


def is_rule(seen: str) -> bool:
    """Say whether a line is a rule: one sign over and over.

    >>> [is_rule(line) for line in ("----", "= = =", "--- x", "──────", "..")]
    [True, True, False, True, False]
    """
    return len(seen) > 2 and not seen[0].isalnum() and _RULE.fullmatch(seen) is not None


def key(seen: str) -> str:
    """Return what makes two headings the same: no blanks, one width and case."""
    return _BLANKS.sub("", unicodedata.normalize("NFKC", seen)).lower()


def is_sentence(seen: str) -> bool:
    """Say whether a line reads as a sentence or a part of one, rather than as a title.

    >>> [is_sentence(x) for x in ("安装条件", "1.5 升以上的，分次接取。", "4 screws are supplied.", "为什么？")]
    [False, True, True, False]
    """
    if not seen:
        return False
    last = seen[-1]
    if last in "。；;，,、！!":
        return True
    if last == "." and (len(seen) > 12 or seen.count(" ") > 1) and seen[-2:-1].islower():
        return True
    return "。" in seen or "；" in seen or (len(seen) > 40 and "，" in seen)
