"""The same documents cut into pieces of one size, so that splitting by chapters and tables can be seen beside it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ragcli.datatypes import Chunk, Progress, chunk_id_of
from ragcli.pipeline import runs
from ragcli.pipeline.base import KnowledgeBase, make_base, reading, writing
from ragcli.pipeline.evaluate_cases import text_of

SIZE, OVERLAP = 400, 80


def fixed_base(
    base: KnowledgeBase, cache: Path, clock: Callable[[], float], progress: Progress
) -> KnowledgeBase:
    """Return a base of the same texts in fixed pieces, kept in the cache and made where it isn't there.

    Titles and the mined names stay: only the pieces differ.
    """
    with reading(base) as store:
        documents = [
            (document, text_of(store, document.root, document.file)) for document in store.documents()
        ]
    digest = hashlib.sha256(
        "\x00".join(text for _, text in documents).encode("utf-8", "surrogatepass")
    ).hexdigest()
    place = cache / "bases" / f"fixed-{digest[:12]}"
    make_base(place)
    fixed = KnowledgeBase(place, base.settings, base.models_dir)
    with writing(fixed, 600.0) as store:
        if len(store.documents()) < len(documents):
            for document, text in documents:
                store.put_document(replace(document, split="fixed"), list(pieces(document.file, text)))
    runs.embed_run(fixed, 0, False, 600.0, clock, progress)
    runs.index_run(fixed, "", 600.0, clock)
    return fixed


def pieces(file: str, text: str, size: int = SIZE, overlap: int = OVERLAP) -> Iterator[Chunk]:
    """Yield pieces of one size that overlap, wherever lines, chapters and tables end."""
    seen: Counter[str] = Counter()
    for start in range(0, max(1, len(text) - overlap), size - overlap):
        body = text[start : start + size]
        end = start + len(body)
        if body.strip():
            name = chunk_id_of(file, (), body, seen[body])
            seen[body] += 1
            first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
            yield Chunk(name, (), "text", body, first, last, start, end)
