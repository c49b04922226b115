"""Which passages the model is shown: cut to what bears on the question, or whole, so that they come again.

A passage whose evaluated state is to be put back must be the same text in every prompt: then a stored chunk is
the unit, by itself, and as many are shown as fit whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ragcli.config import PassageStateSettings, Settings
from ragcli.datatypes import Hit, LanguageModel, Passage, StoredChunk
from ragcli.documents.normalise import fold
from ragcli.generation.tables import as_records, header_of
from ragcli.retrieval.passages import passages

PassageMode = Literal["all-kept", "best-fresh", "off"]
# The fastest that answers as well as reading everything anew (docs/speed.md).
AUTO: PassageMode = "best-fresh"
_HEADINGS = 80  # tokens of a passage's number, file and headings: one that fits whole isn't cut for them


def passage_mode(settings: PassageStateSettings, model: LanguageModel, *, wanted: bool = True) -> PassageMode:
    """Return how passages reach the model; `off` where it can't put any back."""
    if not wanted or settings.mode == "off" or not getattr(model, "keeps_passages", False):
        return "off"
    return AUTO if settings.mode == "auto" else settings.mode  # type: ignore[return-value]


def shown_passages(
    question: str, hits: Sequence[Hit], settings: Settings, count: Callable[[str], int], mode: PassageMode
) -> list[Passage]:
    """Return what the model sees, best first, numbered in the order in which it stands in the prompt.

    That is the order of the documents; a best passage that alone is read anew stands last, next to the question.
    """
    hits = hits[: settings.retrieval.passages]
    chosen = _whole(hits, settings.passage_states.tokens, count) if mode != "off" else []
    if not chosen:
        return _cut(question, hits, settings.generation.passage_tokens, count)
    fresh = {0} if mode == "best-fresh" else set()
    order = sorted(range(len(chosen)), key=lambda n: (n in fresh, chosen[n].file, chosen[n].chunk.line_start))
    return [
        passage_of(stored, order.index(place) + 1, keep=place not in fresh)
        for place, stored in enumerate(chosen)
    ]


def room_for_passages(settings: Settings, mode: PassageMode) -> int:
    """Return the tokens that passages may take in a prompt, their numbers and headings included."""
    if mode == "off":
        return settings.generation.passage_tokens
    return settings.passage_states.tokens + _HEADINGS * settings.retrieval.passages


def passage_of(stored: StoredChunk, n: int, *, keep: bool = True) -> Passage:
    """Return a stored chunk as a passage of its own."""
    chunk = stored.chunk
    lines = header_of(chunk.text) if chunk.kind == "table" else 0
    return Passage(
        n, stored.file, chunk.heading_path, chunk.text, (chunk.chunk_id,), stored.title, lines, (chunk.text,), keep
    )  # fmt: skip


def _whole(hits: Sequence[Hit], budget: int, count: Callable[[str], int]) -> list[StoredChunk]:
    """Return the hits that fit whole, in order of rank; none where the best one doesn't."""
    chosen: list[StoredChunk] = []
    for hit in hits:
        cost = count(_as_shown(hit.stored))
        if cost <= budget:
            chosen.append(hit.stored)
            budget -= cost
        elif not chosen:
            return []
    return chosen


def _as_shown(stored: StoredChunk) -> str:
    """Return a chunk's text as the model reads it: a table's cells with the names of their columns."""
    passage = passage_of(stored, 1)
    return as_records(passage.text, passage.header_lines)


def _cut(question: str, hits: Sequence[Hit], budget: int, count: Callable[[str], int]) -> list[Passage]:
    """Return neighbours joined and cut to the sentences and rows that bear on the question."""
    chosen = passages(question, hits, budget, count, fold)
    order = sorted(range(len(chosen)), key=lambda n: (chosen[n].file, chosen[n].line_start))
    texts = {hit.stored.chunk.chunk_id: hit.stored.chunk.text for hit in hits}
    return [
        Passage(
            order.index(place) + 1,
            item.file,
            item.heading_path,
            item.text,
            item.chunk_ids,
            item.title,
            header_of(item.text) if item.table else 0,
            tuple(texts[chunk] for chunk in item.chunk_ids),
        )
        for place, item in enumerate(chosen)
    ]
