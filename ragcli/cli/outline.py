"""How a file is split, for a person to see at once: the tree of headings, sizes, tables, doubts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragcli.cli.context import Environment
from ragcli.cli.render import Screen
from ragcli.datatypes import Document

if TYPE_CHECKING:
    from ragcli.pipeline.runs import DryRun

_WIDTH = 24


def print_outline(screen: Screen, file: str, document: Document) -> None:
    """Print the heading tree with each section's chunks as a bar, then tables and doubts."""
    text = screen.messages.text
    title = document.title.text.strip() if document.title else text("outline.untitled")
    screen.say(text("outline.head", file=file, title=title, encoding=document.encoding, lines=document.text.count("\n") + 1,
                    chunks=len(document.chunks), headings=len(document.headings), tables=len(document.tables)))  # fmt: skip
    starts = [heading.line for heading in document.headings]
    if not starts or starts[0] > 1:
        _print_section(screen, document, "·", text("outline.front"), 1, starts[0] if starts else None)
    for number, heading in enumerate(document.headings):
        after = starts[number + 1] if number + 1 < len(starts) else None
        _print_section(
            screen, document, "  " * (heading.level - 1) + "▸", heading.text.strip(), heading.line, after
        )
    for note in document.notes:
        screen.say(
            text(
                "outline.note",
                line=note.line,
                text=screen.messages.note(note.kind, line=note.line, **note.fields),
            )
        )


def _print_section(
    screen: Screen, document: Document, mark: str, name: str, first: int, after: int | None
) -> None:
    sizes = [
        (len(chunk.text), chunk.kind)
        for chunk in document.chunks
        if first <= chunk.line_start and (after is None or chunk.line_start < after)
    ]
    if not sizes and mark == "·":
        return
    cells = " ".join(f"{size}{'▦' if kind == 'table' else ''}" for size, kind in sizes[:_WIDTH])
    more = " …" if len(sizes) > _WIDTH else ""
    screen.say(f"{first:>6}  {mark} {name}  {cells}{more}")


def print_dry_run(env: Environment, rows: Iterable[DryRun]) -> None:
    """Print one line a file: what `ingest` would make of it."""
    screen = env.screen
    listed = [
        {
            "file": row.file, "encoding": row.encoding, "headings": row.headings, "tables": row.tables, "chunks": row.chunks,
            "reason": screen.messages.note(row.trouble.kind, **row.trouble.fields) if row.trouble else "",
        }
        for row in rows
    ]  # fmt: skip
    if screen.json:
        screen.json_out({"files": listed})
        return
    names = ("file", "encoding", "headings", "tables", "chunks", "reason")
    screen.table(
        [screen.messages.text(f"column.{name}") for name in names],
        [[row[name] for name in names] for row in listed],
    )
