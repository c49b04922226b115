"""Which lines begin as a heading of some kind does: number, unit, separator, title.

A candidate is only a line that could be a heading; votes and sequences decide later. The kinds stand in
`data/families.toml`, titles without a number in `data/keywords.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ragcli.documents.lines import Lines, columns, is_sentence, key
from ragcli.documents.numbers import NUMERAL, ROMAN, number

LONGEST = 80  # characters; a longer line is no heading, but may begin an article
_BLANK = r"[ \t\u3000\xa0\u200b\ufeff]"
_FIRST = {
    "numeral": "一二三四五六七八九十百〇",
    "digit": "0123456789０１２３４５６７８９",
    "circled": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳❶❷❸❹❺❻❼❽❾❿",
    "roman": "IVXLCDMⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
}
# 1.5 GB 以下, 2.4 GHz: a quantity, not a number and a title.
_UNIT = re.compile(
    r"(?:[kKmMGTμ]?[BbWVAgmlLsJNΩ]|[kM]?Pa|[kMG]?Hz|[cmkμ]m|inch\w*|%|℃|°|米|升|元|公斤|千克|克|倍|秒|小时|万|亿|寸|度)(?![\w]|$)|(?:米|升|元|公斤|倍|万|亿)(?:以|的|左右)"
)
ARTICLE_UNITS = ("条", "條")


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of heading."""

    name: str
    pattern: re.Pattern[str]
    rank: int
    strong: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that begins as a heading does."""

    line: int
    family: str
    unit: str
    numbers: tuple[int, ...]
    title: str
    separated: bool
    rank: int
    strong: bool
    centred: bool = False

    @property
    def group(self) -> tuple[str, str, bool]:
        """What is voted on together."""
        return self.family, self.unit if self.family != "star_tag" else "", self.centred

    @property
    def number(self) -> int:
        """The last part of the number, 0 where there is none."""
        return self.numbers[-1] if self.numbers else 0


@cache
def data() -> Mapping[str, Any]:
    """Return the kinds of headings as they stand in the data file."""
    text = files("ragcli.documents").joinpath("data/families.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def keywords() -> Mapping[str, frozenset[str]]:
    """Return the titles that need no number, by what else they need."""
    text = files("ragcli.documents").joinpath("data/keywords.toml").read_text("utf-8")
    return {name: frozenset(map(key, words)) for name, words in tomllib.loads(text).items()}


@cache
def by_first_character() -> Mapping[str, tuple[Family, ...]]:
    """Return the families that a line can belong to by its first character."""
    table: defaultdict[str, list[Family]] = defaultdict(list)
    for row in data()["family"]:
        family = Family(row["name"], _compiled(row["pattern"]), row["rank"], row.get("strong", False))
        first = row["first"]
        for name, characters in _FIRST.items():
            first = first.replace(name, characters)
        for char in dict.fromkeys(first):
            table[char].append(family)
    return {char: tuple(families) for char, families in table.items()}


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern with its short forms written out; every repetition is bounded."""
    digits = rf"[0-9０-９](?:{_BLANK}?[0-9０-９]){{0,6}}(?:-\d{{1,3}})?"
    characters = rf"[{NUMERAL}](?:{_BLANK}?[{NUMERAL}]){{0,12}}"
    spaced, close = f"(?:{digits}|{characters})", f"(?:[0-9０-９]{{1,6}}|{characters})"
    for short, long in (
        ("第{S}*(?P<n>{N})", f"第{{S}}*(?P<n>{spaced})"),
        ("第{S}*(?P<n2>{N})", f"第{{S}}*(?P<n2>{spaced})"),
        ("{N}", close),
        ("{R}+", f"[{ROMAN}]{{1,8}}"),
        ("{R}", f"[{ROMAN}]"),
    ):
        pattern = pattern.replace(short, long)
    pattern = pattern.replace("{S}*", f"{_BLANK}{{0,20}}").replace("{S}+", f"{_BLANK}{{1,20}}")
    pattern = pattern.replace("{S}?", f"{_BLANK}?").replace("{S}", _BLANK).replace("{T}", ".*")
    return re.compile(pattern)


def candidates(lines: Lines) -> list[Candidate]:
    """Return, in order, every line that begins as a heading or an article does."""
    table = by_first_character()
    found: list[Candidate] = []
    for line, seen in enumerate(lines.seen):
        families = table.get(seen[:1])
        if families and (len(seen) <= LONGEST or seen[0] == "第"):
            found += _of_line(lines, line, seen, families)
    return found


def _of_line(lines: Lines, line: int, seen: str, families: tuple[Family, ...]) -> Iterator[Candidate]:
    for family in families:
        match = family.pattern.fullmatch(seen)
        if match and (found := _candidate(lines, line, family, match)):
            yield found
            return


def _candidate(lines: Lines, line: int, family: Family, match: re.Match[str]) -> Candidate | None:
    named = {name.rstrip("2"): value for name, value in match.groupdict().items() if value is not None}
    unit, title = named.get("unit", ""), named.get("t", "").strip()
    if family.name == "tag" and key(unit) in keywords()["contents"]:
        return None
    separated = not title or named.get("sep") is not None
    if family.name == "zh_unit" and not _unit_ends(unit, title, separated):
        return None
    if family.name == "en_unit" and title[:1].islower() and not named.get("sep", "").strip():
        return None
    if family.name == "decimal" and _UNIT.match(title):
        return None
    numbers = _numbers(family.name, named.get("n", ""))
    if numbers is None or (family.strong and family.name != "zh_unit" and _is_prose(title, separated)):
        return None
    return Candidate(
        line,
        family.name,
        unit.lower() if family.name.startswith("en_") else unit,
        numbers,
        title,
        separated,
        _rank(family, unit, numbers),
        family.strong,
        lines.indent(line) >= 12 and columns(match.string) < 60,
    )


def _is_prose(title: str, separated: bool) -> bool:
    return (
        is_sentence(title)
        or (not separated and len(title) > 12)
        or title.startswith(("，", "。", "；", ")", "）"))
    )


def _unit_ends(unit: str, title: str, separated: bool) -> bool:
    """Say whether the unit is a word of its own here, and the line isn't about that part."""
    if not title:
        return True
    if not separated and title[0] in data()["continued"].get(unit, ""):
        return False
    if unit not in ARTICLE_UNITS and (title[0] in "，。；" or is_sentence(title)):
        return False
    if separated and unit not in ARTICLE_UNITS:
        return True
    pointing = tuple(data()["pointing"]["zh"])
    return not title.startswith(pointing) if not separated else title[0] not in "，。；、"


def _numbers(family: str, text: str) -> tuple[int, ...] | None:
    """Return the parts of a heading's number; None where it can't be one."""
    if not text or family in ("star_tag", "bullet", "tag", "marked", "ruled"):
        return ()
    if family == "decimal":
        parts = re.split(r"[.．]", text)
        if any(len(part) > 1 and part[0] in "0０" for part in parts):
            return None
        return tuple(int(part) for part in parts)
    if text in ("上", "中", "下"):
        return ("上中下".index(text) + 1,)
    if family == "letter" or (
        family.endswith("special")
        and len(text.strip()) == 1
        and text.strip().isalpha()
        and text.strip().isascii()
    ):
        return (ord(text.strip().upper()) - 64,)
    value = number(text.strip().lstrip("之"))
    return None if value is None else (value,)


def _rank(family: Family, unit: str, numbers: tuple[int, ...]) -> int:
    if family.name == "decimal":
        return family.rank + len(numbers) - 2
    if family.name == "marked":
        return family.rank + len(unit)
    if family.rank == 0:
        ranks: Mapping[str, int] = data()["ranks"]
        return ranks.get(unit.lower(), 30 if family.name == "en_unit" else 20)
    return family.rank
