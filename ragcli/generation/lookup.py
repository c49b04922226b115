"""Guess the next tokens from the prompt: answers copy, so what followed there often follows here. Pure.

Prompt-lookup decoding (github.com/apoorvumang/prompt-lookup-decoding): the guesses are checked by the model in
one batch, so the text is the same as without them.
"""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST, _SHORTEST = 4, 2


def guess(tokens: Sequence[int], most: int) -> list[int]:
    """Return at most `most` tokens that followed the last place where the end of `tokens` stood before."""
    for size in range(_LONGEST, _SHORTEST - 1, -1):
        if len(tokens) <= size:
            continue
        end = list(tokens[-size:])
        for start in range(len(tokens) - size - 1, -1, -1):
            if tokens[start] == end[0] and list(tokens[start : start + size]) == end:
                return list(tokens[start + size : start + size + most])
    return []
