"""Bytes into text, to the letter: which encoding it is, and what couldn't be read.

Line ends become `\\n`, a leading byte order mark and NULs go, and nothing else is changed. A byte that can't be
decoded stays in the text as its code in ASCII, `\\xNN`, and is named in a note by its offset and line.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from ragcli.datatypes import Note
from ragcli.documents.encodings import Reading, codec_name, guess, read_as
from ragcli.errors import SourceUnreadable, UsageError

# The marks, longest first: UTF-32's begins like UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"\x7fELF",
    b"\xd0\xcf\x11\xe0",
)
_CONTROLS = bytes({*range(1, 32), 127} - {9, 10, 11, 12, 13, 27, 26})
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, the encoding it was read in, and what a person should know about that."""

    text: str
    encoding: str
    notes: tuple[Note, ...] = ()


def decode(data: bytes, encoding: str | None = None) -> Decoded:
    """Read bytes as text, in the given encoding or in the one they are most likely in.

    Raises:
        UsageError: `unknown_encoding`.
        SourceUnreadable: `binary_file`, where the bytes aren't text.

    """
    mark, marked = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    if encoding:
        name = codec_name(encoding)
        if name is None:
            raise UsageError("unknown_encoding", encoding=encoding)
        reading = read_as(data[len(mark) :] if _same_family(name, marked) else data, name)
    elif marked:
        _refuse_binary(data, marked)
        reading = read_as(data[len(mark) :], marked)
    else:
        _refuse_binary(data, "")
        reading = guess(data)
        _refuse_nuls(data, reading)
    skipped = len(mark) if _same_family(reading.encoding, marked) else 0
    return _clean(reading, skipped)


def _same_family(name: str, marked: str) -> bool:
    return bool(marked) and name.replace("_", "-").removesuffix("-sig").startswith(marked[:6])


def _refuse_binary(data: bytes, marked: str) -> None:
    if data.startswith(_MAGIC):
        raise SourceUnreadable("binary_file", bytes=len(data))
    if marked.startswith(("utf-16", "utf-32")):
        return
    controls = len(data) - len(data.translate(None, _CONTROLS))
    # UTF-16 of plain Chinese has control bytes too, but then it isn't full of the other ones as well.
    if controls > 3 and controls * 20 > len(data) and (marked or guess(data).encoding[:6] not in _WIDE):
        raise SourceUnreadable("binary_file", bytes=len(data))


_WIDE = ("utf-16", "utf-32")


def _refuse_nuls(data: bytes, reading: Reading) -> None:
    nuls = data.count(0)
    if nuls > 3 and nuls * 3 > len(data) and reading.encoding[:6] not in _WIDE and data.strip(b"\x00"):
        raise SourceUnreadable("binary_file", bytes=len(data))


def _clean(reading: Reading, skipped: int) -> Decoded:
    text, notes = reading.text, []
    if "\x00" in text:
        notes.append(Note("nul_bytes", fields={"number": text.count("\x00")}))
    lone = _LONE.search(text)
    if lone:
        text, note = _show_undecodable(text, reading.encoding, skipped)
        notes.append(note)
    text = text.replace("\x00", "").removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, reading.encoding, tuple(notes))


def _show_undecodable(text: str, encoding: str, skipped: int) -> tuple[str, Note]:
    """Put each undecodable byte as its code, and name the first ones by offset and line."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    at = line = 0
    offset = skipped
    for match in _LONE.finditer(text):
        before = text[at : match.start()]
        pieces.append(before)
        if len(places) < 1000:
            offset += len(before.encode(encoding, "surrogatepass" if encoding[:6] in _WIDE else "replace"))
            line += before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
            places.append((offset, line + 1))
        code = ord(match.group())
        escaped = 0xDC80 <= code < 0xDD00
        pieces.append(f"\\x{code - 0xDC00:02x}" if escaped else f"\\u{code:04x}")
        offset += (
            1 if escaped or encoding == "utf-8" else len(match.group().encode(encoding, "surrogatepass"))
        )
        at = match.end()
    number = len(_LONE.findall(text))
    pieces.append(text[at:])
    fields = {
        "number": number,
        "offset": places[0][0],
        "places": "; ".join(f"{offset} ({line})" for offset, line in places[:5]),
    }
    return "".join(pieces), Note("undecodable_bytes", places[0][1], fields, warning=True)
