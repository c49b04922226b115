"""Which reading of some bytes is a text: how usual the characters are that each encoding makes of them.

Chinese first: GB18030 and Big5 are weighed against each other over the whole file, and another language's code
page is asked only where neither gives a clean reading. Nothing here deals with line ends or marks.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragcli.documents.normalise import traditional_forms

CLEAN = 0.62  # measured: right readings score above 0.8, wrong ones below 0.5 from about ten characters on
_SURE = 0.85
_SAMPLE = 100_000
_SHORT = 200
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_BEYOND = re.compile("[\u0800-\U0010ffff]")
_TWO_CHINESE = re.compile("[\u4e00-\u9fff]{2}")
_FALLBACKS = ("cp932", "cp1251", "cp1252")
_ESCAPED = range(0xDC80, 0xDD00)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one encoding makes of the bytes; undecodable ones are lone surrogates U+DC80 to U+DCFF."""

    text: str
    encoding: str
    score: float


@cache
def usual() -> frozenset[str]:
    """Return the characters that everyday Chinese is mostly made of, both scripts."""
    lines = files("ragcli.documents").joinpath("data/usual.txt").read_text("utf-8").splitlines()
    simplified = "".join(line for line in lines if not line.startswith("#"))
    return frozenset(simplified) | frozenset("".join(map(traditional_forms, simplified)))


@cache
def known() -> frozenset[str]:
    """Return the first level of GB2312 (3,755 characters) and of Big5 (5,401): what is taught at school."""
    first_gb = bytes(b for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF) for b in (row, cell))
    trails = [*range(0x40, 0x7F), *range(0xA1, 0xFF)]
    first_big5 = bytes(b for row in range(0xA4, 0xC7) for cell in trails for b in (row, cell))
    return frozenset(first_gb.decode("gb2312", "ignore")) | frozenset(first_big5.decode("big5", "ignore"))


def weigh(text: str, *, every: bool = False) -> float:
    """Return how usual the characters are, from about -2 to 1; `every` counts the ASCII ones too."""
    total = weight = 0.0
    for char, times in Counter(text).items():
        if char < "\x80" and not every:
            continue
        total += times
        weight += times * _weight(char)
    return weight / total if total else 0.0


def _weight(char: str) -> float:
    code = ord(char)
    if code < 0x80:
        return 1.0 if char.isprintable() or char in "\t\n\r\f" else -1.0
    if char in usual():
        return 1.0
    if 0x4E00 <= code < 0xA000:
        return 0.75 if char in known() else 0.1
    if 0x3000 <= code < 0x3020 or 0xFF01 <= code < 0xFF5F or 0x2010 <= code < 0x2027 or code == 0xB7:
        return 1.0
    if code in _ESCAPED or 0xD800 <= code < 0xE000:
        return -2.0
    return _weight_of_symbol(code)


def _weight_of_symbol(code: int) -> float:
    if 0x3040 <= code < 0x3100:
        return 0.1  # kana: what Big5's commonest characters look like to GB18030
    if 0x2100 <= code < 0x2700 or code in (0xB0, 0xB1, 0xD7, 0xF7):
        return 0.6
    if 0xE000 <= code < 0xF900 or 0x80 <= code < 0xA0:
        return 0.2 if code >= 0xE000 else -0.5
    return -0.1


def read_as(data: bytes, encoding: str) -> Reading:
    """Read all bytes in one encoding, whatever it makes of them."""
    text = _lenient(data, encoding)
    return Reading(text, encoding, weigh(text, every=encoding.startswith("utf-")))


def _lenient(data: bytes, encoding: str) -> str:
    if encoding.startswith(("utf-16", "utf-32")):
        width = 2 if encoding.startswith("utf-16") else 4
        whole = len(data) - len(data) % width
        rest = "".join(chr(0xDC00 + byte) if byte > 0x7F else chr(byte) for byte in data[whole:])
        try:
            return data[:whole].decode(encoding, "surrogatepass") + rest
        except UnicodeDecodeError:
            return data[:whole].decode(encoding, "backslashreplace") + rest
    try:
        return data.decode(encoding, "surrogateescape")
    except UnicodeDecodeError:  # a damaged pair of plain bytes, as HZ has them
        return data.decode(encoding, "backslashreplace")


def guess(data: bytes) -> Reading:
    """Return the most likely reading of bytes that carry no mark of their encoding."""
    if b"\x00" in data and (wide := _wide(data)):
        return wide
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess_damaged(data)
    if data.isascii():
        hz = read_as(data, "hz") if b"~{" in data else None
        other = hz if hz and hz.score > CLEAN else None
    else:
        other = _short_gb18030(data, text)
    return other or (_CONTROL.search(text) and _wide(data)) or Reading(text, "utf-8", 1.0)


def _short_gb18030(data: bytes, text: str) -> Reading | None:
    """Return the Chinese reading of the few words that are sound as UTF-8 too, where that reads as nothing.

    Two-byte characters of UTF-8 can be Chinese ones of two bytes. Accents stand alone among Latin letters, and
    other scripts give unusual Chinese characters.
    """
    if len(data) > _SHORT or _BEYOND.search(text):
        return None
    plain = _strict_gb18030(data)
    return plain if plain and plain.score > 0.9 and _TWO_CHINESE.search(plain.text) else None


def _wide(data: bytes) -> Reading | None:
    """Return the reading as UTF-16 or UTF-32 without a mark, where it is one."""
    names = ["utf-16-le", "utf-16-be"]
    if len(data) % 4 == 0:
        names += ["utf-32-le", "utf-32-be"]
    readings = [reading for name in names if (reading := _strict(data, name))]
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best if best and best.score > 0.8 and "\x00" not in best.text else None


def _strict(data: bytes, encoding: str) -> Reading | None:
    """Return a reading as UTF-16 or UTF-32 where all but lone surrogates and an odd end is sound."""
    width = 2 if encoding.startswith("utf-16") else 4
    try:
        data[: len(data) - len(data) % width].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return None
    return read_as(data, encoding)


def _guess_damaged(data: bytes) -> Reading:
    """Choose for bytes that aren't UTF-8 throughout."""
    if (plain := _strict_gb18030(data)) and plain.score > _SURE and not _CONTROL.search(plain.text):
        return plain
    # A sample tells whether UTF-8 is worth a look: reading another encoding as UTF-8 is an error a character.
    sound, broken = _utf8_share(data[:_SAMPLE])
    chinese = [read_as(data, "gb18030"), read_as(data, "big5hkscs")]
    best = max(chinese, key=lambda reading: reading.score)
    if sound > broken * 3:
        utf8 = read_as(data, "utf-8")
        if weigh(utf8.text) > min(best.score, 0.5):
            return utf8
    if len(data) >= 4 and (best.score < CLEAN or _CONTROL.search(best.text)) and (wide := _wide(data)):
        return wide
    if best.score >= CLEAN:
        return best
    if sound >= max(1, broken):
        return read_as(data, "utf-8")
    return _foreign(data) or best


def _strict_gb18030(data: bytes) -> Reading | None:
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    return Reading(text, "gb18030", weigh(text))


def _utf8_share(data: bytes) -> tuple[int, int]:
    """Return how many characters beyond ASCII are sound in UTF-8, and how many bytes aren't."""
    text = _lenient(data, "utf-8")
    broken = sum(1 for char in text if ord(char) in _ESCAPED)
    return sum(1 for char in text if char >= "\x80") - broken, broken


def _foreign(data: bytes) -> Reading | None:
    """Return the reading in another language's code page, where it makes words of the bytes."""
    latin = sum(65 <= byte <= 90 or 97 <= byte <= 122 for byte in data)
    for name in _FALLBACKS:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        high = [char for char in text if char >= "\x80"]
        if name != "cp1252" and latin > len(high):
            continue  # another script stands by itself, accents stand among Latin letters
        wanted = sum(_belongs(char, name) for char in high)
        if wanted >= 0.8 * len(high):
            return Reading(text, name, wanted / len(high))
    return None


def _belongs(char: str, encoding: str) -> bool:
    if encoding == "cp932":
        return "\u3040" <= char < "\u3100" or char in known()
    if encoding == "cp1251":
        return "\u0410" <= char <= "\u0451"
    return char.isalpha() or char in "“”‘’–—…«»°©£€§·\xa0"


def codec_name(encoding: str) -> str | None:
    """Return Python's name of a text encoding, or None where there is none.

    >>> codec_name("GBK"), codec_name("klingon")
    ('gbk', None)
    """
    try:
        info = codecs.lookup(encoding)
    except (LookupError, ValueError):
        return None
    return info.name if info._is_text_encoding else None
