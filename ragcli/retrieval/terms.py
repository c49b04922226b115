"""Text into the terms that the lexical index holds and that a query asks for.

Chinese is cut into single characters and pairs, so that no dictionary decides what can be found; Latin words
are reduced to a light stem; a model number counts whole and by its parts, however it is spelled; a number in
characters before a measure counts as the number. Nothing here weighs or scores.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import add

Fold = Callable[[str], str]

# Ideographs, kana and hangul: scripts that put no blanks between words.
WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
NUMERAL = "零〇一二两三四五六七八九十百千万"
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_PIECE = rf"(?:(?![{WIDE}])[^\W_])+"
_SCAN = (
    rf"第\s?(?P<ordinal>\d+|[{NUMERAL}](?:\s?[{NUMERAL}])*)\s?(?:(?P<structure>[STRUCTURE])|(?=(?P<counted>[{WIDE}])))"
    rf"|(?P<grouped>(?<!\d)\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?)"
    rf"|(?P<latin>{_PIECE}(?:[-‐‒–—−_./'’]{_PIECE})*)"
    rf"|(?P<wide>[{WIDE}]+)"
)
_IS_WIDE = re.compile(f"[{WIDE}]")
_PARTS = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_COUNTED = rf"(?P<whole>[{NUMERAL}]+)(?:点(?P<part>[零〇一二三四五六七八九]+))?(?P<unit>[MEASURE])"


@dataclass(frozen=True, slots=True)
class Words:
    """The word lists that terms depend on."""

    stop: frozenset[str]
    skipped: re.Pattern[str]
    scan: re.Pattern[str]
    counted: re.Pattern[str]
    chapter: re.Pattern[str]


@cache
def words() -> Words:
    """Read the word lists that come with this room."""
    data = tomllib.loads(files("ragcli.retrieval").joinpath("data/words.toml").read_text("utf-8"))
    chinese = sorted((*data["zh"]["question"], *data["zh"]["particle"]), key=len, reverse=True)
    return Words(
        frozenset(data["en"]["stop"]),
        re.compile("|".join(map(re.escape, chinese))),
        re.compile(_SCAN.replace("STRUCTURE", data["numbers"]["structure"])),
        re.compile(_COUNTED.replace("MEASURE", data["numbers"]["measure"])),
        re.compile(rf"第\d+[{data['numbers']['structure']}]"),
    )


def index_terms(text: str, fold: Fold) -> list[str]:
    """Return every term that a text can be found by, repeats included.

    >>> index_terms("XX-200", str.lower)
    ['xx200', 'xx', '200']
    """
    return _terms(fold(text), asking=False)


def query_terms(text: str, fold: Fold) -> list[str]:
    """Return the terms that a question asks for, each once; words that carry no subject are left out.

    >>> query_terms("第七章讲了什么", str.lower)
    ['第7章', '讲']
    """
    folded = fold(text)
    stop = words().stop
    if has_wide(folded):  # the A of A系列 is no article
        stop = frozenset(word for word in stop if len(word) > 1)
    found = [term for term in _terms(folded, asking=True) if term not in stop]
    return list(dict.fromkeys(found or _terms(folded, asking=False)))


def is_chapter(term: str) -> bool:
    """Return whether a term names a numbered part of a document: 第7章."""
    return words().chapter.fullmatch(term) is not None


def has_wide(text: str) -> bool:
    """Return whether a text holds a character of a script without blanks between words."""
    return _IS_WIDE.search(text) is not None


def value_terms(folded: str) -> list[str]:
    """Return a folded text's words, names, numbers and ordinals: all but its plain characters and pairs."""
    return _terms(folded, asking=False, pairs=False)


def _terms(text: str, *, asking: bool, pairs: bool = True) -> list[str]:
    terms: list[str] = []
    if asking:
        text = words().skipped.sub(" ", text)
    before, end = "", 0
    for match in words().scan.finditer(text):
        if wide := match["wide"]:
            _add_wide(wide, terms, characters=not asking and pairs, pairs=pairs)
            before = ""
        elif ordinal := match["ordinal"]:
            # 第一时间: only a book's own units end the word that the ordinal begins.
            terms.append(f"第{numeral(ordinal)}{match['structure'] or match['counted']}")
            before = ""
        else:
            run = (match["grouped"] or match["latin"]).replace(",", "")
            if text[end : match.start()].strip():
                before = ""
            end = match.end()
            # 5 月 and 5月 are one: Chinese is often set with a blank behind a number.
            terms += _latin_terms(run, before, text[end : end + 2].lstrip(" ")[:1])
            before = run
    return terms


def _add_wide(run: str, terms: list[str], *, characters: bool, pairs: bool) -> None:
    if characters or (pairs and len(run) == 1):
        terms += run
    if pairs:
        terms += map(add, run, run[1:])
    for match in words().counted.finditer(run):
        part = "".join(str(_DIGITS[c]) for c in match["part"] or "")
        terms.append(f"{numeral(match['whole'])}{'.' if part else ''}{part}{match['unit']}")


def _latin_terms(run: str, before: str, after: str) -> Iterator[str]:
    """Yield a run's whole and its parts; `before` is the run one blank ahead, `after` the next character."""
    if run.isalpha():
        yield stem(run)
        if len(run) == 1 and _IS_WIDE.match(after):
            yield run + after
        return
    parts = _PARTS.findall(run)
    whole = "".join(parts) if len(parts) > 1 and re.search(r"[^\W\d]", run) else ""
    if whole:
        yield whole
    elif before.isalpha() and len(before) <= 6 and before not in words().stop:
        yield before + run
    for part in parts:
        yield part if part[0].isdigit() else stem(part)
    # 30天, K12路: what stands right behind a number is part of its name.
    if parts and parts[-1][0].isdigit() and _IS_WIDE.match(after):
        yield (whole or parts[-1]) + after


def stem(word: str) -> str:
    """Return an English word without its plural or verb ending; other words as they are.

    >>> [stem(word) for word in ("policies", "boxes", "ports", "charging", "settled", "bus")]
    ['policy', 'box', 'port', 'charg', 'settl', 'bus']
    """
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def numeral(text: str) -> int:
    """Return the value of a number in digits or Chinese characters; blanks inside don't count.

    >>> [numeral(text) for text in ("7", "七", "十二", "二十", "一百零三", "二〇二五")]
    [7, 7, 12, 20, 103, 2025]
    """
    text = re.sub(r"\s", "", text)
    if text.isdigit():
        return int(text)
    if not any(c in _SCALES or c == "万" for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c == "万":
            total, section, digit = (total + section + digit) * 10000, 0, 0
        else:
            section, digit = section + (digit or 1) * _SCALES[c], 0
    return total + section + digit
