"""What is in the base: its files, a passage in its place, and taking a file out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from ragcli.datatypes import Json, StoredChunk, chunk_name
from ragcli.errors import UsageError
from ragcli.pipeline.base import KnowledgeBase, reading, writing
from ragcli.pipeline.report import ChunksReport, FilesReport, RunReport
from ragcli.storage.store import Store, StoredDocument

# Lines of the file that are shown before and after a passage.
_AROUND = 3


def list_files(base: KnowledgeBase) -> list[Json]:
    """Return the files of the base with their counts."""
    with reading(base) as store:
        return [
            {
                "file": document.file, "root": document.root, "title": document.title, "encoding": document.encoding,
                "lines": document.lines, "bytes": document.size, "chunks": document.chunks, "notes": document.notes,
            }
            for document in store.documents()
        ]  # fmt: skip


def remove_files(base: KnowledgeBase, names: Sequence[str], clock: Callable[[], float]) -> RunReport:
    """Take files out of the base; the files themselves stay where they are."""
    started = clock()
    with writing(base) as store:
        chosen = [document for name in names for document in _named(store, name)]
        removed = sum(store.drop_document(document.root, document.file) for document in chosen)
        files = FilesReport(removed=len(chosen), removed_names=tuple(document.file for document in chosen))
        return RunReport(files, ChunksReport(0, removed, store.count_chunks()), seconds=clock() - started)


def find_place(base: KnowledgeBase, what: str) -> Json:
    """Return a chunk by its id or by FILE:LINE, with the lines around it."""
    with reading(base) as store:
        document, chunk = _chunk_at(store, what)
        chunks = store.chunks_of(document.root, document.file)
        lines = _lines_of(chunks)
        first, last = chunk.chunk.line_start, chunk.chunk.line_end
        return {
            "chunk_id": chunk_name(chunk.chunk.chunk_id), "file": document.file, "title": document.title,
            "heading_path": list(chunk.chunk.heading_path), "line_start": first, "line_end": last,
            "before": [[n, lines[n]] for n in range(max(1, first - _AROUND), first) if n in lines],
            "lines": [[n, lines[n]] for n in range(first, last + 1) if n in lines],
            "after": [[n, lines[n]] for n in range(last + 1, last + 1 + _AROUND) if n in lines],
        }  # fmt: skip


def _chunk_at(store: Store, what: str) -> tuple[StoredDocument, StoredChunk]:
    name, _, line = what.rpartition(":")
    if name and line.isdigit():
        document = _named(store, name)[0]
        for chunk in store.chunks_of(document.root, document.file):
            if chunk.chunk.line_start <= int(line) <= chunk.chunk.line_end:
                return document, chunk
        raise UsageError("no_such_line", file=name, line=line, lines=document.lines)
    try:
        found = store.fetch([int(what, 16)])
    except ValueError:
        found = []
    if not found:
        raise UsageError("no_such_chunk", what=what)
    for document in store.documents():
        if document.file == found[0].file and any(
            c.chunk.chunk_id == found[0].chunk.chunk_id for c in store.chunks_of(document.root, document.file)
        ):
            return document, found[0]
    raise UsageError("no_such_chunk", what=what)


def _lines_of(chunks: Sequence[StoredChunk]) -> dict[int, str]:
    """Return the lines of a file, put together from its chunks: they cover it whole."""
    lines: dict[int, str] = {}
    for stored in chunks:
        chunk = stored.chunk
        parts = chunk.body.split("\n")
        for offset, part in enumerate(parts):
            number = chunk.line_start + offset
            if number <= chunk.line_end and len(part) > len(lines.get(number, "")):
                lines[number] = part
    return lines


def _named(store: Store, name: str) -> list[StoredDocument]:
    """Return the files of that name, or of that last part of it; an unknown name tells the nearest."""
    documents = store.documents()
    exact = [document for document in documents if document.file == name]
    found = exact or [document for document in documents if document.file.rpartition("/")[2] == name]
    if not found:
        near = difflib.get_close_matches(name, [document.file for document in documents], n=1, cutoff=0.0)
        raise UsageError("no_such_file", file=name, nearest=near[0] if near else "-")
    return found
