"""What the tests of this room share: reading a text, and what to look at of it."""

from ragcli.datatypes import Document, SplitOptions
from ragcli.documents.read import read_document


def read(text: str | bytes, options: SplitOptions | None = None, encoding: str | None = None) -> Document:
    data = text.encode() if isinstance(text, str) else text
    return read_document(data, "file.txt", options or SplitOptions(), encoding)


def headings(document: Document) -> list[str]:
    """Headings as an indented outline: two blanks a level below the first."""
    return ["  " * (heading.level - 1) + heading.text for heading in document.headings]


def paths(document: Document) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(chunk.heading_path for chunk in document.chunks if chunk.heading_path))


def path_of(document: Document, words: str) -> tuple[str, ...]:
    found = [chunk.heading_path for chunk in document.chunks if words in chunk.body]
    assert found, words
    return found[0]


def kept(document: Document) -> str:
    """The text that the chunks cover, overlaps taken off: it has to be all of it."""
    end, out = 0, []
    for chunk in document.chunks:
        assert chunk.char_start <= end < chunk.char_end or (end == 0 and chunk.char_start == 0)
        assert chunk.body == document.text[chunk.char_start : chunk.char_end]
        out.append(document.text[end : chunk.char_end])
        end = chunk.char_end
    return "".join(out)
