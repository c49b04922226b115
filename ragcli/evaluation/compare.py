"""When two wordings count as equal, and whether a passage or an answer holds what it should.

The rules are those of the case files' own description: width, case, blanks, marks and thousands separators don't
count; a number or a Latin word must not be cut out of a longer one. Hits are those of a turn's JSON.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from ragcli.datatypes import Json
from ragcli.evaluation.cases import CaseTurn, Evidence

# Of running text only this much is sure to be read; a table is shown by its rows.
READ_CHARS = 700
_COUNTED = 10
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_STEPS = (
    (re.compile(r"\[\d+\]|[*`]"), ""),
    (re.compile("[‐‑‒–—−]"), "-"),
    (re.compile("[～〜]"), "~"),
    (re.compile(r"\s+"), " "),
    (re.compile(r"\s*([-~])\s*"), r"\1"),
    (re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])"), ""),
)
_LATIN = "abcdefghijklmnopqrstuvwxyz"


def squeezed(text: str) -> str:
    """Return a text without its blanks, in one width and case.

    >>> squeezed("水箱容量        4.5 Ｌ")
    '水箱容量4.5l'
    """
    return "".join(unicodedata.normalize("NFKC", text).split()).lower()


def plain(text: str) -> str:
    """Return an answer as its wording is compared: no marks of citation, one kind of dash, blanks only between ASCII.

    >>> plain("约 1,200 元 [2]，**每台**")
    '约1200元,每台'
    """
    text = unicodedata.normalize("NFKC", _THOUSANDS.sub("", text)).lower()
    for pattern, instead in _STEPS:
        text = pattern.sub(instead, text)
    return text


def stands_in(wording: str, text: str) -> bool:
    """Say whether a wording stands in a text uncut; both are `plain`.

    >>> stands_in("5 秒", "15 秒"), stands_in("2元", "0.2元"), stands_in("led", "a led panel")
    (False, False, True)
    """
    if not wording:
        return False
    before = r"(?<!\d)(?<!\d[.:])" if wording[0].isdigit() else "(?<![a-z])" if wording[0] in _LATIN else ""
    after = r"(?![.:]?\d)" if wording[-1].isdigit() else "(?![a-z])" if wording[-1] in _LATIN else ""
    return re.search(before + re.escape(wording) + after, text) is not None


def wordings_right(turn: CaseTurn, answer: str) -> bool:
    """Say whether an answer holds a wording of every group and none of the forbidden ones."""
    text = plain(answer)
    held = all(any(stands_in(plain(item), text) for item in group) for group in turn.answer_has)
    return held and not forbidden(turn, answer)


def forbidden(turn: CaseTurn, answer: str) -> bool:
    """Say whether an answer holds a value that it must not."""
    text = plain(answer)
    return any(stands_in(plain(item), text) for item in turn.answer_not)


def holds(hit: Json, evidence: Evidence) -> bool:
    """Say whether a hit is of the evidence's file and holds one of its wordings."""
    if PurePath(hit["file"]).name != PurePath(evidence.file).name:
        return False
    text = squeezed(hit["text"] if hit.get("kind") == "table" else hit["text"][:READ_CHARS])
    return any(squeezed(wording) in text for wording in evidence.wordings)


def ranks(evidence: Sequence[Evidence], hits: Sequence[Json]) -> list[int | None]:
    """Return the first rank, from 1, at which each piece of evidence is among the hits; None for not at all."""
    counted = hits[:_COUNTED]
    return [next((n for n, hit in enumerate(counted, 1) if holds(hit, item)), None) for item in evidence]


def rank(evidence: Sequence[Evidence], hits: Sequence[Json]) -> int | None:
    """Return the rank of a turn: where its last piece of evidence comes, less one for each piece before it.

    A turn that needs two places can't have both in the first hit, so two hits are its first rank. Beyond the
    first five hits the place counts as it is.
    """
    found = ranks(evidence, hits)
    places = [place for place in found if place is not None]
    if not places or len(places) < len(found):
        return None
    last = max(places)
    return max(1, last - len(found) + 1) if last <= _COUNTED // 2 else last
