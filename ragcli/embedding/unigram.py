"""Cut a text into the tokens of a Unigram model, from a table that is looked into where it lies.

A query has a few dozen characters: looking its pieces up in a sorted table takes a millisecond, where parsing the
vocabulary of 250,000 pieces takes a second. The cut is the one that `tokenizers` and sentencepiece make.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SPACE = "▁"


@dataclass(frozen=True, slots=True)
class Texts:
    """Byte strings behind each other, sorted; `starts` has one entry more than there are strings."""

    blob: memoryview
    starts: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, place: int) -> bytes:
        return bytes(self.blob[self.starts[place] : self.starts[place + 1]])


@dataclass(frozen=True, slots=True)
class Unigram:
    """A vocabulary of pieces with log-probabilities, and what characters are read as."""

    pieces: Texts
    ids: Sequence[int]
    scores: Sequence[float]
    codes: Sequence[int]
    read_as: Texts
    unknown: int
    unknown_score: float

    def tokens(self, text: str) -> list[int]:
        """Return the ids of the most probable cut, without the marks of beginning and end."""
        found: list[int] = []
        for word in self.normalised(text).replace(SPACE, f" {SPACE}").split():
            found += self._cut(word if word.startswith(SPACE) else SPACE + word)
        return found

    def normalised(self, text: str) -> str:
        """Return the text as the model reads it: compatibility characters replaced, blanks as blanks."""
        return text if text.isascii() and text.isprintable() else "".join(map(self._character, text))

    def _character(self, char: str) -> str:
        code = ord(char)
        place = bisect_left(self.codes, code)
        if place < len(self.codes) and self.codes[place] == code:
            return self.read_as[place].decode()
        return char

    def _cut(self, word: str) -> list[int]:
        """Return a word's most probable cut (Viterbi); neighbouring unknown characters become one token."""
        best: list[tuple[float, int, int]] = [(0.0, 0, -1)] + [(float("-inf"), 0, -1)] * len(word)
        for start in range(len(word)):
            single = False
            for end, piece in self._beginning_at(word, start):
                single |= end == start + 1
                _offer(best, start, end, self.scores[piece], self.ids[piece])
            if not single:
                _offer(best, start, start + 1, self.unknown_score, self.unknown)
        found: list[int] = []
        end = len(word)
        while end:
            _, start, token = best[end]
            if not (token == self.unknown and found and found[-1] == token):
                found.append(token)
            end = start
        return found[::-1]

    def _beginning_at(self, word: str, start: int) -> Iterator[tuple[int, int]]:
        """Yield (end, place in the table) of every piece that stands in the word at `start`, shortest first."""
        low = 0
        for end in range(start + 1, len(word) + 1):
            wanted = word[start:end].encode("utf-8", "replace")
            low = bisect_left(self.pieces, wanted, lo=low)
            if low == len(self.pieces):
                return
            there = self.pieces[low]
            if there == wanted:
                yield end, low
            elif not there.startswith(wanted):
                return


def _offer(best: list[tuple[float, int, int]], start: int, end: int, score: float, token: int) -> None:
    total = best[start][0] + score
    if total > best[end][0]:
        best[end] = (total, start, token)


def open_unigram(arrays: Mapping[str, Any], facts: Mapping[str, str]) -> Unigram:
    """Return the tokenizer of a query form's arrays."""
    return Unigram(
        Texts(memoryview(arrays["pieces.text"]), memoryview(arrays["pieces.start"])),
        memoryview(arrays["pieces.id"]),
        memoryview(arrays["pieces.score"]),
        memoryview(arrays["characters.code"]),
        Texts(memoryview(arrays["characters.text"]), memoryview(arrays["characters.start"])),
        int(facts["unk"]),
        float(facts["unk_score"]),
    )
