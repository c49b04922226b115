"""How a sentence is taken apart without a parser: fillers off, quotations aside, content words out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ragcli.dialogue.words import Words, language_of, words_of

Fold = Callable[[str], str]

_PAUSE = r"[\s,，、。.!！~～…:：;；?？]"
_QUOTED = re.compile(r"“[^”]+”|「[^」]+」|『[^』]+』|《[^》]+》|\"[^\"]+\"|‘[^’]+’|【[^】]+】")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'’.+/_-]*[A-Za-z0-9+]|[A-Za-z0-9]")
_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[A-Za-z0-9][A-Za-z0-9.+/_%-]*")
_CLAUSE = re.compile(r"[,，。.!！?？;；~～…\s]+(?![\d])")
_ASKS = re.compile(
    r"[?？]|吗|呢|什么|啥|怎么|怎样|如何|为何|多少|多久|多[大长高重快]|几|哪|谁|是否|能不|是不是|有没有|可不可|不$"
    r"|请|帮我|列出|列一下|介绍|说说|说下|讲讲|讲一下|解释|告诉|总结"
)
_REMARK = 8
_PRAISE = re.compile("好|厉害|不错|详细|可以|知道|明白|了解|谢|真|巧|行|棒|贵|哦|啊")
ENDS = " \t,，。.!！?？~～…、；;:："


@dataclass(frozen=True, slots=True)
class Squashed:
    """A text folded and without blanks and hyphens, and where each of its characters came from."""

    text: str
    origin: tuple[int, ...]


def squash(text: str, fold: Fold) -> Squashed:
    """Fold a text character by character, leaving out blanks, hyphens and middle dots."""
    out: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        for piece in _folded(char, fold):
            if piece.isspace() or piece in "-_·‧・‐‑–—":
                continue
            out.append(piece)
            origin.append(at)
    return Squashed("".join(out), tuple(origin))


@lru_cache(maxsize=1 << 16)
def _folded(char: str, fold: Fold) -> str:
    """Return a character folded: a vocabulary folds each of a few thousand many times."""
    return fold(char)


def quotations(text: str) -> list[tuple[int, int]]:
    """Return the ranges of quoted names, marks included."""
    return [match.span() for match in _QUOTED.finditer(text)]


def outside(spans: list[tuple[int, int]], match: re.Match[str]) -> bool:
    """Say whether a match lies outside every range."""
    return not any(start <= match.start() < end for start, end in spans)


def strip_fillers(text: str) -> str:
    """Take off what people say before they come to the point; a text of fillers alone stays."""
    words = words_of(language_of(text))
    rest = text.strip()
    while True:
        shorter = _without_one(rest, words)
        if shorter == rest or not shorter.strip(ENDS):
            return rest
        rest = shorter


def _without_one(text: str, words: Words) -> str:
    filler = words.starts("fillers", text)
    paused = words.starts("fillers_paused", text)
    for entry, need in ((filler, words.language == "en"), (paused, True)):
        rest = text[len(entry) :]
        if entry and re.match(_PAUSE, rest):
            return rest.lstrip(ENDS)
        if entry and not need and rest and entry not in words.lists["fillers_paused"]:
            return rest.lstrip(ENDS)
    return text


def content(text: str) -> tuple[str, ...]:
    """Return the words that a question is about, in order: what is left without function words."""
    if language_of(text) == "en":
        stops = words_of("en").lists["stop_phrases"]
        return tuple(
            word for word in (match.group() for match in _WORD.finditer(text)) if word.lower() not in stops
        )
    words = words_of("zh")
    spans = quotations(text)
    cut = list(text)
    for match in words.findall("stop_phrases", text):
        if outside(spans, match) and (len(match.group()) > 1 or _at_run_edge(text, match)):
            cut[match.start() : match.end()] = "　" * (match.end() - match.start())
    return tuple(run.group() for run in _RUN.finditer("".join(cut)))


def _at_run_edge(text: str, match: re.Match[str]) -> bool:
    """One-character function words are mostly parts of longer words inside a run: 和 of 和平, 地 of 地铁."""
    char = match.group()
    if char in "的了吗呢吧啊呀么嘛":
        return True
    before, after = text[: match.start()], text[match.end() :]
    if char in "地得着过等":  # 地下车库, 过夜: particles stand behind a word only
        return bool(re.match(r"[\u4e00-\u9fff]", before[-1:])) and not re.match(r"[\u4e00-\u9fff]", after[:1])
    return (
        not before
        or not re.match(r"[\u4e00-\u9fff]", before[-1:])
        or not re.match(r"[\u4e00-\u9fff]", after[:1])
    )


def asking_clause(text: str) -> str:
    """Return the last clause of a Chinese text that asks, without what is said before it.

    A text without a clause that asks, or of one clause, comes back whole.
    """
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip(ENDS)]
    if len(clauses) < 2 or language_of(text) == "en":
        return text
    return next((clause for clause in reversed(clauses) if asks(clause)), text)


def asks(text: str) -> bool:
    """Say whether a Chinese text asks or bids by its own words, a final 呢 aside."""
    return bool(_ASKS.search(text.replace("呢", "")))


def without_preface(text: str) -> str:
    """Take off short remarks before a Chinese question: 太好了，那门票贵不."""
    while True:
        match = _CLAUSE.search(text)
        if (
            not match
            or match.start() > _REMARK
            or asks(text[: match.start()])
            or not asks(text[match.end() :])
        ):
            return text
        if content(text[: match.start()]) and not _PRAISE.search(text[: match.start()]):
            return text
        text = text[match.end() :]


def joined(parts: list[str]) -> str:
    """Join pieces with a blank, leaving out empty ones and those that another piece holds already."""
    said = list(dict.fromkeys(part.strip(ENDS) for part in parts))
    return " ".join(
        part for part in said if part and not any(part in other for other in said if other != part)
    )
