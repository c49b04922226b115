"""Find the sentences and table rows of the passages that bear most on the question.

They are shown to the model once more, the best one right before the question: a small model reads what stands
last, and slips to neighbouring rows and to another product's values less. A piece is weighed by the question's
words that it holds (by how few pieces hold them), by a value of the kind asked for, by its passage's rank, and by
its likeness to the question as far as somebody can tell that. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragcli.datatypes import Passage
from ragcli.generation.expected import tells_what_is_asked
from ragcli.generation.grounding import units
from ragcli.generation.sentences import sentences
from ragcli.generation.tables import as_records
from ragcli.generation.wording import fold, language_of

MOST = 4
_NEAR = 0.3  # pieces that weigh less than this share of the best one are left out
_LONGEST = 240  # characters: a longer piece is no pointer any more
_KIND = 0.3  # what a value of the kind that is asked for counts, beside the words (at most 1)
_RANK = 0.3  # what the best passage counts before the third
_COMPARED = 12  # pieces whose likeness is asked for: each costs an encoding

_LEADS = 0.5  # a piece this much above the second is the one: set on the samples and a second set, docs/evaluation.md
_BEARS = 0.06  # how much liker the question than the base's average passage is it has to be

Likeness = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Looking:
    """What to look for besides the question itself: other words for it, and how like it a text is.

    Likeness is the cosine above that of the base's average passage: `likeness` to the question as it was typed, by
    which pieces are ordered, `completed` to what it means in the conversation. The liker of both tells whether the
    best piece bears on it: a short question means little by itself, and its completion by rules is no sentence that
    anybody would write.
    """

    words: str = ""
    likeness: Likeness | None = None
    completed: Likeness | None = None


NOTHING = Looking()


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or row, the passage that it stands in, and how much it bears on the question."""

    n: int
    text: str
    weight: float
    alike: float | None = None


def focus(
    question: str, passages: Sequence[Passage], most: int = MOST, looking: Looking = NOTHING
) -> list[Piece]:
    """Return at most `most` pieces of passages given best first, the best piece last; none where nothing bears.

    One that stands clear of the others is alone: a small model slips to the rows beside it.
    """
    asked = units("\n".join((question, looking.words)))
    pieces = [(p, text, units(text), units(_path(p))) for p in passages for text in pieces_of(p)]
    if len(pieces) < 2 or not asked:
        return []
    spread = Counter(unit for _, _, own, path in pieces for unit in own | path)
    words = [_weight(asked, own, path, spread, len(pieces)) for _, _, own, path in pieces]
    best = max(words, default=0.0)
    if not best and looking.likeness is None:
        return []
    found = [
        Piece(passage.n, text, weight / (best or 1.0) + _besides(question, passage, text, passages))
        for (passage, text, _, _), weight in zip(pieces, words, strict=True)
    ]
    found = sorted(found, key=lambda piece: -piece.weight)
    if looking.likeness:
        found = _compared(found[:_COMPARED], looking.likeness)
    kept = [piece for piece in found[:most] if piece.weight >= _NEAR * found[0].weight][::-1]
    if looking.completed and kept[-1].alike is not None:
        kept[-1] = replace(kept[-1], alike=max(kept[-1].alike, *looking.completed([kept[-1].text])))
    return kept[-1:] if _lead(kept) >= _LEADS else kept


def alone(pieces: Sequence[Piece]) -> Piece | None:
    """Return the last of the pieces that were found where it stands clear of the others, by its likeness too."""
    best = pieces[-1] if pieces else None
    return best if best and best.alike is not None and _lead(pieces) >= _LEADS else None


def leader(pieces: Sequence[Piece]) -> Piece | None:
    """Return the piece that stands clear of the others and bears on the question.

    On 467 answerable turns of two sets it was there for 133 and told what was asked in 81 % of them; of 35 turns that
    no file answers it was there for none.
    """
    best = alone(pieces)
    return best if best and best.alike is not None and best.alike >= _BEARS else None


def _lead(pieces: Sequence[Piece]) -> float:
    """Return how much the last of the pieces weighs above the one before it."""
    return pieces[-1].weight - (pieces[-2].weight if len(pieces) > 1 else 0.0) if pieces else 0.0


def pieces_of(passage: Passage) -> list[str]:
    """Return a passage's rows (with the names of their columns) or its sentences, headings and bare numbers left out."""
    if passage.header_lines:
        text = as_records(passage.text, passage.header_lines, most_rows=len(passage.text))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        pieces = lines if text != passage.text else lines[passage.header_lines :]
    else:
        pieces = [text.strip() for text in sentences(passage.text)]
    heading = _letters(passage.heading_path[-1]) if passage.heading_path else ""
    return [text for text in pieces if len(text) <= _LONGEST and _letters(text) not in ("", heading)]


def _letters(text: str) -> str:
    return re.sub(r"^\d{1,2}$", "", re.sub(r"\W", "", fold(text)))


def _besides(question: str, passage: Passage, text: str, passages: Sequence[Passage]) -> float:
    """Return what a piece counts for its place and for a value of the kind that is asked for."""
    rank = next(place for place, other in enumerate(passages) if other is passage)
    told = tells_what_is_asked(question, text, language_of(question))
    return _RANK * max(0.0, 1 - rank / 2) + _KIND * told


def _compared(found: Sequence[Piece], likeness: Likeness) -> list[Piece]:
    """Add how like the question each piece is, from 0 for the least to 1 for the most."""
    alike = likeness([piece.text for piece in found])
    low, high = min(alike), max(alike)
    spread = high - low or 1.0
    made = [
        replace(piece, weight=piece.weight + (one - low) / spread, alike=one)
        for piece, one in zip(found, alike, strict=True)
    ]
    return sorted(made, key=lambda piece: -piece.weight)


def _weight(asked: set[str], own: set[str], path: set[str], spread: Counter[str], count: int) -> float:
    """Weigh the question's words that stand in a piece; those only in its path count half."""

    def rare(unit: str) -> float:
        return math.log(1 + count / spread[unit])

    return sum(rare(unit) for unit in asked & own) + 0.5 * sum(rare(unit) for unit in (asked & path) - own)


def _path(passage: Passage) -> str:
    return "\n".join((passage.file, *passage.heading_path))
