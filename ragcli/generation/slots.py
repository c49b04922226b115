"""Which prompt has been evaluated in which sequence of the cache: bookkeeping, no evaluation.

Each role (rewriter, generator) begins its prompts with its own fixed part, so it finds its own sequence again
by the tokens that it shares with it, and switching between roles evaluates neither fixed part anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_SHARED = 16  # fewer common tokens are the template's opening, not a prompt


@dataclass(slots=True)
class Slot:
    """A sequence, the tokens known to be evaluated in it, and when it was last used."""

    sequence: int
    tokens: list[int] = field(default_factory=list)
    used: int = 0


class Slots:
    """The sequences of one context, and the cells that they take together."""

    def __init__(self, count: int, cells: int) -> None:
        self.all = [Slot(sequence) for sequence in range(count)]
        self._cells = cells
        self._clock = 0

    def choose(self, tokens: Sequence[int]) -> tuple[Slot, int]:
        """Return the slot to evaluate these tokens in, and how many of them it holds already.

        At least the last token is always left to evaluate: its scores are wanted.
        """
        best = max(self.all, key=lambda slot: (common(slot.tokens, tokens), -len(slot.tokens)))
        shared = common(best.tokens, tokens)
        if shared < _SHARED:
            best, shared = min(self.all, key=lambda slot: (bool(slot.tokens), slot.used)), 0
        self._clock += 1
        best.used = self._clock
        return best, min(shared, len(tokens) - 1)

    def crowded_out(self, slot: Slot, cells: int) -> list[Slot]:
        """Return the slots to empty, least recently used first, so that `slot` may take so many cells."""
        others = sorted(
            (other for other in self.all if other is not slot and other.tokens), key=lambda o: o.used
        )
        left = self._cells - cells - sum(len(other.tokens) for other in others)
        out: list[Slot] = []
        for other in others:
            if left >= 0:
                break
            out.append(other)
            left += len(other.tokens)
        return out


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two prompts share from the beginning."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
