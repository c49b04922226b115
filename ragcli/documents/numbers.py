"""The numbers that headings are counted with: Chinese, Arabic, full-width, Roman, circled, spelled out.

Only reading; whether a number begins a heading is decided elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

NUMERAL = "〇零一二三四五六七八九十百千两兩壹贰叁肆伍陆柒捌玖拾廿卅"
ROMAN = "IVXLCDMivxlcdmⅠ-Ⅻⅰ-ⅻ"
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {
    c: n for n, c in enumerate("〇壹贰叁肆伍陆柒捌玖")
}
_DIGITS |= {"两": 2, "兩": 2}
_SCALES = {"十": 10, "拾": 10, "百": 100, "千": 1000, "廿": 20, "卅": 30}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_FORM = re.compile(r"m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]


def number(text: str) -> int | None:
    """Return the value of a written number, or None.

    >>> [number(text) for text in ("十二", "一千二百五十八", "２ 0", "XIV", "ⅲ", "⑫", "Seven", "1-1", "abc")]
    [12, 1258, 20, 14, 3, 12, 7, 1, None]
    """
    plain = re.sub(r"\s", "", text)
    if re.fullmatch(r"[①-⓿❶-➓㈠-㈩]", plain):
        return int(unicodedata.numeric(plain, 0)) or None
    plain = unicodedata.normalize("NFKC", plain).lower()
    head = plain.split("-")[0]
    if head.isdecimal():
        return int(head) if len(head) < 7 else None
    if head in _WORDS:
        return _WORDS.index(head)
    if head in _ORDINALS:
        return _ORDINALS.index(head) + 1
    if head and _ROMAN_FORM.fullmatch(head):
        return _roman(head)
    return chinese(head)


def _roman(text: str) -> int:
    values = [_ROMAN[char] for char in text]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def chinese(text: str) -> int | None:
    """Return the value of a number in Chinese characters, digits among them read as they are."""
    if not text:
        return None
    if not any(char in _SCALES for char in text):
        digits = [int(char) if char.isdecimal() else _DIGITS.get(char) for char in text]
        if None in digits or len(digits) > 6:
            return None
        return int("".join(map(str, digits)))
    total = current = 0
    for char in text:
        if char in _SCALES:
            scale = _SCALES[char]
            total += scale if scale in (20, 30) else (current or 1) * scale
            current = 0
        elif char in _DIGITS or char.isdecimal():
            current = current * 10 + (_DIGITS[char] if char in _DIGITS else int(char))
        else:
            return None
    return total + current
