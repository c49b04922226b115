"""A file's bytes into a document: decode, lines, tables, headings, sections, chunks.

The corridor of this room. It reads no file and stores nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.datatypes import Document, Heading, SplitOptions, Table
from ragcli.documents.chunks import Section, split
from ragcli.documents.decode import Decoded, decode
from ragcli.documents.furniture import boilerplate, furniture
from ragcli.documents.headings import Found, find_headings, find_title
from ragcli.documents.lines import Lines, cut
from ragcli.documents.tables import find_tables
from ragcli.errors import SourceUnreadable


def read_document(data: bytes, file: str, options: SplitOptions, encoding: str | None = None) -> Document:
    """Read and split a file; `file` is the name that its chunks are known by.

    Raises:
        SourceUnreadable: `binary_file` or `no_text`.
        UsageError: `unknown_encoding`.

    """
    return split_text(decode(data, encoding), file, options)


def split_text(decoded: Decoded, file: str, options: SplitOptions) -> Document:
    """Find what a decoded text is made of, and cut it into chunks."""
    lines = cut(decoded.text)
    if not any(lines.seen):
        raise SourceUnreadable("no_text", file=file)
    pages = furniture(lines)
    tables = find_tables(lines, pages)
    rows = frozenset(line for table in tables for line in range(table.first, table.last + 1))
    found = find_headings(lines, rows | pages, options.heading_rules)
    title = find_title(lines, found, rows | pages)
    sections = _sections(lines, found)
    said = pages | boilerplate(lines, rows | {heading.line - 1 for heading in found.headings})
    chunks = split(lines, sections, tables, said, options, file, title.text if title else "")
    return Document(
        decoded.text,
        decoded.encoding,
        title,
        found.headings,
        found.articles,
        tuple(Table(table.first + 1, table.last + 1, table.header_lines) for table in tables),
        chunks,
        (*decoded.notes, *found.notes),
    )


def _sections(lines: Lines, found: Found) -> list[Section]:
    """Return the stretches between borders; a heading begins one, and so does an article."""
    borders: dict[int, tuple[str, ...]] = {}
    stack: list[tuple[int, str]] = []
    heads = {heading.line: heading for heading in found.headings}
    articles = {article.line: article for article in found.articles if article.line not in heads}
    for line in sorted({*heads, *articles}):
        if line in heads:
            stack = _under(stack, heads[line], found)
            borders[line - 1] = tuple(entry for _, entry in stack)
        else:
            borders[line - 1] = (*(entry for _, entry in stack), articles[line].number)
    firsts = sorted(borders)
    sections = (
        [Section(0, (firsts[0] if firsts else len(lines)) - 1, ())] if not firsts or firsts[0] > 0 else []
    )
    ends = [*firsts[1:], len(lines)] if firsts else []
    for first, after in zip(firsts, ends, strict=True):
        sections.append(Section(first, after - 1, borders[first]))
    return sections


def _under(stack: Sequence[tuple[int, str]], heading: Heading, found: Found) -> list[tuple[int, str]]:
    kept = [(level, entry) for level, entry in stack if level < heading.level]
    return [*kept, (heading.level, found.entries[heading.line])]
