"""The contract's JSON: how values of the rooms look to scripts."""

from __future__ import annotations

from ragcli.cli.messages import Messages
from ragcli.datatypes import Chunk, Document, Json, chunk_name
from ragcli.pipeline.report import RunReport, Trouble


def chunk_json(chunk: Chunk) -> Json:
    """Return a chunk as `outline` lists it."""
    return {
        "chunk_id": chunk_name(chunk.chunk_id),
        "heading_path": list(chunk.heading_path),
        "kind": chunk.kind,
        "table_header": bool(chunk.header),
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "text": chunk.text,
    }


def outline_json(file: str, document: Document, messages: Messages) -> Json:
    """Return how a file is split."""
    return {
        "file": file,
        "encoding": document.encoding,
        "title": {"line": document.title.line, "text": document.title.text} if document.title else None,
        "headings": [
            {"line": item.line, "level": item.level, "text": item.text} for item in document.headings
        ],
        "articles": [{"line": item.line, "number": item.number} for item in document.articles],
        "tables": [{"first_line": item.first_line, "last_line": item.last_line} for item in document.tables],
        "chunks": [chunk_json(chunk) for chunk in document.chunks],
        "notes": [
            {
                "kind": note.kind,
                "line": note.line,
                "warning": note.warning,
                "text": messages.note(note.kind, line=note.line, **note.fields),
            }
            for note in document.notes
        ],
    }


def trouble_json(trouble: Trouble, messages: Messages) -> Json:
    """Return a file that was left out, with the reason in words."""
    return {
        "file": trouble.file,
        "kind": trouble.kind,
        "reason": messages.note(trouble.kind, **trouble.fields),
    }


def report_json(report: RunReport, messages: Messages) -> Json:
    """Return the parts of a run that were done."""
    out: Json = {}
    if report.files:
        files = report.files
        out["files"] = {
            "added": files.added,
            "updated": files.updated,
            "unchanged": files.unchanged,
            "removed": files.removed,
            "removed_names": list(files.removed_names),
            "skipped": [trouble_json(item, messages) for item in files.skipped],
            "failed": [trouble_json(item, messages) for item in files.failed],
            "warned": [trouble_json(item, messages) for item in files.warned],
        }
    if report.chunks:
        out["chunks"] = {
            "added": report.chunks.added,
            "removed": report.chunks.removed,
            "total": report.chunks.total,
        }
    if report.vectors:
        out["vectors"] = {
            "computed": report.vectors.computed,
            "cached": report.vectors.cached,
            "failed": report.vectors.failed,
        }
    if report.index:
        out["index"] = {
            "kind": report.index.kind,
            "revision": report.index.revision,
            "total": report.index.total,
            "unchanged": report.index.unchanged,
        }
    return {**out, "seconds": round(report.seconds, 3)}
