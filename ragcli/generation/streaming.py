"""From token bytes to text that may be shown: whole characters, no thoughts, no endless loops. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

OPEN, CLOSE = "<think>", "</think>"
_PERIOD, _REPEATS, _LENGTH = 48, 4, 40


class Characters:
    """Bytes in, whole characters out. An incomplete tail is dropped, never replaced by U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def feed(self, data: bytes) -> str:
        """Return the characters that these bytes complete."""
        return self._decoder.decode(data)


class Thoughts:
    """Take a reasoning model's thoughts out of a stream, however it is cut into pieces."""

    def __init__(self, *, inside: bool = False) -> None:
        self._inside = inside
        self._held = ""
        self.dropped_before = False

    def feed(self, text: str) -> str:
        """Return what may be shown by now.

        A close mark without an open one means that all before it was a thought: `dropped_before` is set, and
        who has shown some of it takes it back.
        """
        self._held += text
        out = ""
        while True:
            mark = CLOSE if self._inside else self._next_mark()
            place = self._held.find(mark)
            if place < 0:
                keep = _begun(self._held, (CLOSE,) if self._inside else (OPEN, CLOSE))
                out += "" if self._inside else self._held[: len(self._held) - keep]
                self._held = self._held[len(self._held) - keep :]
                return out
            if mark == OPEN:
                out += self._held[:place]
            elif not self._inside:
                out, self.dropped_before = "", True
            self._inside = mark == OPEN
            self._held = self._held[place + len(mark) :]

    def finish(self) -> str:
        """Return what was held back at the end: text that only looked like a mark."""
        rest, self._held = self._held, ""
        return "" if self._inside else rest

    def _next_mark(self) -> str:
        opened, closed = self._held.find(OPEN), self._held.find(CLOSE)
        return CLOSE if closed >= 0 and (opened < 0 or closed < opened) else OPEN


def without_thoughts(text: str) -> str:
    """Return a whole text without its thoughts."""
    thoughts = Thoughts()
    shown = thoughts.feed(text)
    return (shown + thoughts.finish()).strip()


def looping(tokens: Sequence[int]) -> bool:
    """Tell whether the end of an answer is one thing over and over, which greedy models don't leave again."""
    if len(tokens) < _LENGTH:
        return False
    for period in range(1, _PERIOD + 1):
        span = max(period * _REPEATS, _LENGTH)
        if len(tokens) < span:
            return False
        tail = tokens[-span:]
        if all(tail[i] == tail[i - period] for i in range(period, span)):
            return True
    return False


def _begun(text: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end of `text` may be the beginning of a mark."""
    for size in range(min(len(text), max(map(len, marks)) - 1), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return size
    return 0
