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
_MARKS = 10  # begin and end of text, the prefix "passage: ", and the signs between path and text
_LEAST = 80


def most_tokens(text: str) -> int:
    """Return a number of tokens that the text can't exceed.

    >>> most_tokens("滤芯  ㎡")
    5
    """
    plain = (
        text
        if text.isascii() or unicodedata.is_normalized("NFKC", text)
        else unicodedata.normalize("NFKC", text)
    )
    return len(_BLANKS.sub(" ", plain))


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
        if len(text) <= self.tokens and text.isascii():
            return True
        if most_tokens(text) <= self.tokens or len(text) <= _LEAST:
            return True
        count = self.options.count_tokens
        return count is not None and count(f"{self.lead}\n{text}") + _MARKS <= self.options.max_tokens


def budget(options: SplitOptions, title: str, path: Sequence[str]) -> Budget:
    """Return what fits under a path."""
    lead = " > ".join((title, *path))
    return Budget(options, lead, max(_LEAST, options.max_tokens - _MARKS - most_tokens(lead)))
