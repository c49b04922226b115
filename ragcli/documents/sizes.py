"""How large a chunk may be: characters always, tokens exactly where a model counts them and by a bound elsewhere.

The bound: a token stands for at least one character of the text in compatibility form (NFKC), and blanks cost at
most one token a run; so a text without blanks has at most as many tokens as characters. Measured with the
tokenizer of multilingual-e5-small: Chinese takes 0.6 to 0.75 a character, digits and codes up to 0.95.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.datatypes import SplitOptions

_BLANKS = re.compile(r"\s+")
# The characters that become several in compatibility form: ㎡, …, ½, ﬁ. A test compares this with Unicode's data.
EXPANDING = re.compile(
    "[\u0344\xa8\xaf\xb4\xb8\xbc-\xbe\u0132\u0133\u013f\u0140\u0149\u01c4-\u01cc\u01f1-\u01f3\u02d8-\u02dd\u037a-\u0385"
    "\u0587\u0675-\u0678\u0958-\u095f\u09dc-\u09df\u0a33-\u0a5e\u0b5c\u0b5d\u0e33-\u0fb9\u1e9a\u1f80-\u1fff\u2017\u2024-\u2026\u2033-\u2037\u203c\u203e\u2047-\u2049\u2057"
    "\u20a8\u2100-\u2189\u222c-\u2230\u2469-\u24b5\u2a0c\u2a74-\u2adc\u309b-\u30ff\u3200-\u33ff\ufb00-\ufdff\ufe19\ufe30-\ufeff"
    "\uffe3\U0001d15e-\U0001d1c0\U0001f100-\U0001f2ff]"
)
_MARKS = 10  # begin and end of text, the prefix "passage: ", and the signs between path and text
_LEAST = 80


def most_tokens(text: str) -> int:
    """Return a number of tokens that the text can't exceed.

    >>> most_tokens("滤芯  ㎡")
    5
    """
    return len(_BLANKS.sub(" ", text)) + _more(text)


def growth(text: str, start: int, end: int) -> list[int]:
    """Return where a range grows in compatibility form, a place once for each character that it grows by."""
    places: list[int] = []
    for match in EXPANDING.finditer(text, start, end):
        places += [match.start()] * (len(unicodedata.normalize("NFKC", match.group())) - 1)
    return places


def _more(text: str) -> int:
    """Return by how many characters a text grows in compatibility form."""
    if text.isascii():
        return 0
    return sum(len(unicodedata.normalize("NFKC", char)) - 1 for char in EXPANDING.findall(text))


@dataclass(frozen=True, slots=True)
class Budget:
    """What fits under one heading path: `chars` at most, and the token limit less what title and path take."""

    options: SplitOptions
    lead: str
    tokens: int

    @property
    def chars(self) -> int:
        """How long a text chunk may be, so that it needn't be counted where nothing can count."""
        if self.options.count_tokens is None:
            return max(_LEAST, min(self.options.max_chars, self.tokens))
        return self.options.max_chars

    def fits(self, text: str) -> bool:
        """Say whether the embedding model reads all of a chunk; counted exactly only near the limit."""
        if len(text) + _more(text) <= self.tokens:
            return True
        if most_tokens(text) <= self.tokens or len(text) <= _LEAST:
            return True
        count = self.options.count_tokens
        return count is not None and count(f"{self.lead}\n{text}") + _MARKS <= self.options.max_tokens


def budget(options: SplitOptions, title: str, path: Sequence[str]) -> Budget:
    """Return what fits under a path."""
    lead = " > ".join((title, *path))
    return Budget(options, lead, max(_LEAST, options.max_tokens - _MARKS - most_tokens(lead)))
