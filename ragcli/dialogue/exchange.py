"""What part of the last question a fragment takes the place of: 总监呢, 6 月呢, 周日呢, 核磁 400 的.

Tried in turn: a row or column of the same table, a counterpart by form, the noun that the question was about.
"""

from __future__ import annotations

import re

from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.linking import mentions
from ragcli.dialogue.phrases import blanked_names
from ragcli.dialogue.state import Entity, Turn
from ragcli.dialogue.wording import content
from ragcli.dialogue.words import language_of, words_of

CELLS = frozenset({"row", "column", "defined"})
_CLASS_NOUN = 2
_NOUN = 6
_LEAST_GOAL = 3
_TIMED = re.compile("[年月周日号]|季度")
_GOING = re.compile("[去到在往从]")
_CJK_RUN = re.compile(r"[\u4e00-\u9fff]+")


def replaced(said: str, part: str, text: str, last: Turn, lexicon: Lexicon) -> str:
    """Return what `said` (or the `part` of it with content) stands for in the last whole question, or nothing."""
    known = _of_one_kind(said, last.standalone, lexicon)
    formal = (counterpart(last.standalone, one, names_of(last)) for one in (said, part))
    return known or next(filter(None, formal), "") or _subject_for(said, text, last, lexicon)


def names_of(last: Turn) -> tuple[str, ...]:
    """Return the names of what a turn was about, topics aside."""
    return tuple(entity.name for entity in last.entities if entity.kind != "topic")


def _subject_for(said: str, text: str, last: Turn, lexicon: Lexicon) -> str:
    """Return the noun of the last question that a bare noun takes the place of: 总监呢, after 经理能坐什么舱."""
    bare = language_of(text) == "zh" and text.rstrip("?？").endswith("呢")
    if not bare or not 2 <= len(said) <= _NOUN or not re.fullmatch(r"[\u4e00-\u9fff]+", said):
        return ""
    for entity in last.entities:
        alike = entity.kind == "topic" or (entity.kind != "name" and len(entity.name) == len(said))
        if alike and last.standalone.startswith(entity.name) and not entity.files:
            return _goal_of(entity.name, lexicon) or entity.name
    return ""


def _goal_of(topic: str, lexicon: Lexicon) -> str:
    """Return where a topic goes: 日本 of 去日本漫游, where the base speaks of 漫游."""
    if not _GOING.match(topic):
        return ""
    terms = " ".join(term.text for term in lexicon.terms)
    ends = (at for at in range(_LEAST_GOAL, len(topic) - 1) if topic[at:] in terms)
    return topic[1 : next(ends, 0)]


def _of_one_kind(part: str, whole: str, lexicon: Lexicon) -> str:
    """Return the term of the whole that is a row or column of the same file as the part."""
    mine = [
        one
        for mention in mentions(part, lexicon)
        if part.startswith(mention.surface) and len(part) - len(mention.surface) <= _CLASS_NOUN
        for one in mention.entities
    ]
    for mention in mentions(whole, lexicon):
        timed = bool(_TIMED.search(mention.surface)) != bool(_TIMED.search(part))
        if not timed and any(_alike_cells(one, other) for one in mine for other in mention.entities):
            return mention.surface
    return ""


def _alike_cells(one: Entity, other: Entity) -> bool:
    same = one.kind == other.kind and one.kind in CELLS and one.name != other.name
    return same and bool(set(one.files) & set(other.files))


def counterpart(whole: str, part: str, named: tuple[str, ...] = ()) -> str:
    """Return what a short part takes the place of in a whole question; empty where nothing answers to it.

    Counterparts are times of one pattern (6 月 for 5 月), numbers of one length, single letters, names that
    differ in little (核磁 400 for 核磁 600), and words of one length at the edge of a run of content that
    share their first or last character (周日 for 周六, 末班 for 首班). `named` are entities, which stay.
    """
    plain = blanked_names(whole, named)
    words = words_of(language_of(whole))
    new = words.findall("time_patterns", part)
    old = words.findall("time_patterns", plain)
    if new and old and new[0].group() == part:
        return old[-1].group()
    for pattern in (rf"(?<!\d)\d{{{len(part)}}}(?![\d.])", r"(?<![A-Za-z])[A-Z](?![A-Za-z])"):
        same = [m for m in re.findall(pattern, plain) if m != part]
        if re.fullmatch(pattern, part) and same:
            return str(same[-1])
    return _near_name(plain, part) or _near_word(plain, part)


def _near_name(whole: str, part: str) -> str:
    """Find a name with a number or a letter in it that differs from the part in just that."""
    mark = re.search(r"\d+(?:\.\d+)?|(?<![A-Za-z])[A-Z](?![A-Za-z])", part)
    if not mark or len(part) - len(mark.group()) < 2:
        return ""
    kind = r"\d+(?:\.\d+)?" if mark.group()[0].isdigit() else "[A-Z]"
    before, after = part[: mark.start()].strip(), part[mark.end() :].strip()
    for tail in dict.fromkeys((after, after[:1])):
        found = re.search(rf"{re.escape(before)}\s*{kind}\s*{re.escape(tail)}", whole)
        if found and before + tail and found.group().strip() != part:
            return found.group()
    return ""


def _near_word(whole: str, part: str) -> str:
    if not _CJK_RUN.fullmatch(part) or not 2 <= len(part) <= 4:
        return ""
    for run in content(whole):
        for piece in (run[: len(part)], run[-len(part) :]):
            if _CJK_RUN.fullmatch(piece) and piece != part and _alike(piece, part):
                return piece
    return ""


def _alike(one: str, other: str) -> bool:
    if len(one) != len(other):
        return False
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return same >= len(one) / 2 and (one[0] == other[0] or one[-1] == other[-1])
