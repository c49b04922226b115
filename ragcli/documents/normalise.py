"""One spelling for what is written in several: width, case, script, and the joint between letters and digits.

For comparing only: text that is shown or stored is never changed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_TO_PLAIN = str.maketrans({**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_INVISIBLE, "")})
# A joint is a hyphen or a blank between a name's letters and its number: XX-200, xx 200. Longer or common
# words before a blank are words, and stay apart from the number.
_JOINT = re.compile(r"(?<![a-z0-9])(?:([a-z]{1,6})-|([a-z]{1,4}) )(?=\d)")
_SQUASHED = re.compile(r"[\s\-_·‧・]+")


@cache
def simplified() -> dict[int, str]:
    """Return the Traditional-to-Simplified table, a character to the first of its simplified forms."""
    spec = find_spec("opencc")
    if spec is None or not spec.submodule_search_locations:
        return {}
    path = Path(next(iter(spec.submodule_search_locations)), "dictionary", "TSCharacters.txt")
    table: dict[int, str] = {}
    for line in path.read_text("utf-8").splitlines():
        old, _, new = line.partition("\t")
        if len(old) == 1 and new:
            table[ord(old)] = new.split()[0]
    return table


@cache
def _traditional() -> dict[str, str]:
    forms: defaultdict[str, str] = defaultdict(str)
    for old, new in simplified().items():
        forms[new] += chr(old)
    return dict(forms)


def traditional_forms(char: str) -> str:
    """Return the Traditional characters that are simplified to this one.

    >>> traditional_forms("电")
    '電'
    """
    return _traditional().get(char, "")


def fold(text: str) -> str:
    """Return the text in one width, case and script, names joined to their numbers; its length may change.

    >>> fold("ＸＸ－２００"), fold("XX 200"), fold("xx200"), fold("電源開關")
    ('xx200', 'xx200', 'xx200', '电源开关')
    >>> fold("than 200 m²")
    'than 200 m2'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_plain())
    return _JOINT.sub(_join, text.lower())


@cache
def _plain() -> dict[int, str]:
    """Return both tables as one: a text is gone through once."""
    both = {*_TO_PLAIN, *simplified()}
    return {code: chr(code).translate(_TO_PLAIN).translate(simplified()) for code in both}


def _join(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    return match[0] if match[2] in _common_words() else match[2]


@cache
def _common_words() -> frozenset[str]:
    text = files("ragcli.documents").joinpath("data/common_en.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def squash(text: str) -> str:
    """Return the folded text without blanks, hyphens and middle dots: a key to look names up by.

    >>> squash("JS - 500 台下式 净水器")
    'js500台下式净水器'
    """
    return _SQUASHED.sub("", fold(text))
