"""Find the sentences and table rows of the passages that bear most on the question.

They are shown to the model once more, right before the question: a small model reads what stands last, and
slips to neighbouring rows and to another product's values less. Words are weighed by how few pieces hold them.
Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.datatypes import Passage
from ragcli.generation.grounding import units
from ragcli.generation.sentences import sentences
from ragcli.generation.tables import as_records

_NEAR = 0.6  # pieces that weigh less than this share of the best one are left out
_LONGEST = 240  # characters: a longer piece is no pointer any more


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or row, the passage that it stands in, and how much it bears on the question."""

    n: int
    text: str
    weight: float


def focus(question: str, passages: Sequence[Passage], most: int = 3) -> list[Piece]:
    """Return at most `most` pieces, in the order of the passages; none where nothing stands out."""
    asked = units(question)
    pieces = [(p, text, units(text), units(_path(p))) for p in passages for text in pieces_of(p)]
    if len(pieces) < 2 or not asked:
        return []
    spread = Counter(unit for _, _, own, path in pieces for unit in own | path)
    found = [
        Piece(p.n, text, _weight(asked, own, path, spread, len(pieces)))
        for p, text, own, path in pieces
        if len(text) <= _LONGEST
    ]
    best = max((piece.weight for piece in found), default=0.0)
    chosen = sorted(found, key=lambda piece: -piece.weight)[:most]
    kept = {id(piece) for piece in chosen if best > 0 and piece.weight >= _NEAR * best}
    return sorted((piece for piece in found if id(piece) in kept), key=lambda piece: piece.n)


def pieces_of(passage: Passage) -> list[str]:
    """Return a passage's rows (with the names of their columns) or its sentences."""
    if passage.header_lines:
        text = as_records(passage.text, passage.header_lines, most_rows=len(passage.text))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines if text != passage.text else lines[passage.header_lines :]
    return [text.strip() for text in sentences(passage.text) if text.strip()]


def _weight(asked: set[str], own: set[str], path: set[str], spread: Counter[str], count: int) -> float:
    """Weigh the question's words that stand in a piece; those only in its path count half."""

    def rare(unit: str) -> float:
        return math.log(1 + count / spread[unit])

    return sum(rare(unit) for unit in asked & own) + 0.5 * sum(rare(unit) for unit in (asked & path) - own)


def _path(passage: Passage) -> str:
    return "\n".join((passage.file, *passage.heading_path))
