"""Relative times made absolute: 上个季度 against what was talked about, else against the date of the day."""

from __future__ import annotations

import re
from datetime import date

from ragcli.dialogue.words import language_of, words_of

_CHINESE = "一二三四五六七八九十"
_QUARTER = re.compile(r"(?:第)?([一二三四1-4])季度")
_MONTH = re.compile(r"(?:(\d{4})\s*年)?\s*(?<!\d)(\d{1,2})\s*月")
_YEAR = re.compile(r"(\d{4})\s*年?")


def times_in(text: str) -> tuple[str, ...]:
    """Return the times that a text names, as they stand there."""
    return tuple(match.group() for match in words_of(language_of(text)).findall("time_patterns", text))


def absolute(text: str, anchor: str, today: date) -> str:
    """Return the text with relative times in Chinese followed by what they come to.

    `anchor` is the text in which a time was talked about last: 上个季度 after 二季度 is 一季度, 上个月 after
    6 月 is 5 月. Without one the day's date decides. What can't be worked out stays as it is.
    """
    for pattern, reckon in _RELATIVE:
        text = pattern.sub(lambda match, reckon=reckon: _said(match, reckon(match, anchor, today)), text)  # type: ignore[misc]
    return text


def _said(match: re.Match[str], found: str) -> str:
    return f"{match.group()}（{found}）" if found else match.group()


def _step(word: str) -> int:
    return -1 if word[0] in "上去昨前" else 1 if word[0] in "下明后" else 0


def _ordinal(text: str) -> int:
    return int(text) if text.isdigit() else _CHINESE.find(text) + 1


def _quarter(match: re.Match[str], anchor: str, today: date) -> str:
    named = _QUARTER.findall(anchor)
    now = _ordinal(named[-1]) if named else (today.month + 2) // 3
    then = now + _step(match.group())
    if named:
        return f"{_CHINESE[then - 1]}季度" if 1 <= then <= 4 else ""
    year = today.year + (then < 1) * -1 + (then > 4) * 1
    return f"{year} 年{_CHINESE[(then - 1) % 4]}季度"


def _month(match: re.Match[str], anchor: str, today: date) -> str:
    named = _MONTH.findall(anchor)
    year, now = (int(named[-1][0] or 0), int(named[-1][1])) if named else (today.year, today.month)
    then = now + _step(match.group())
    if not 1 <= then <= 12:
        year, then = (year + (1 if then > 12 else -1) if year else 0), (then - 1) % 12 + 1
    return f"{year} 年 {then} 月" if year else f"{then} 月"


def _year(match: re.Match[str], anchor: str, today: date) -> str:
    steps = {"去": -1, "前": -2, "明": 1, "后": 2, "今": 0}
    return f"{today.year + steps[match.group()[0]]} 年"


_RELATIVE = (
    (re.compile(r"[上下本这]个?季度"), _quarter),
    (re.compile(r"[上下]个?月(?!卡|票|租)"), _month),
    (re.compile(r"[去今明前后]年(?!度)"), _year),
)
