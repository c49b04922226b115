"""Does a sentence stand in the passages? Numbers must; words must mostly; decided by code, not by the model.

A small model forgets or mistakes its marks, so the support is looked for in every passage that it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragcli.datatypes import Passage
from ragcli.generation.names import codes, of_a_sibling, without_codes
from ragcli.generation.wording import fold

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.、)）](?!\d)|[(（]\d{1,2}[)）])\s*", re.MULTILINE)
_HAN_NUMBER = re.compile(r"[零〇一二两三四五六七八九十百千万]+")
_VALUE = re.compile(r"\d+(?:\.\d+)?\s*(?:[%％°℃]|[a-zA-Z/]{1,6}\b|[\u4e00-\u9fff]{1,2})")
_WORD = re.compile(r"[a-z][a-z0-9-]*\d[a-z0-9-]*|[a-z]{3,}")
_DIGITS = {char: i for i, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_NEWS = 2  # pairs that a sentence brings from a passage beyond the question's own words
_ECHO_KNOWN = 0.7  # share of an echo's pairs that one passage must hold
_ENOUGH = 0.34  # share of a sentence's pairs of characters (or words) that a passage must hold to support it
_ENOUGH_CITED = 0.2  # the same for a passage that the model named itself
_TRIED = 4  # passages that are tried alone and in pairs


@dataclass(frozen=True, slots=True)
class Support:
    """The passages that a sentence stands in, and the numbers that stand in none of them."""

    cited: tuple[int, ...]
    missing: tuple[str, ...] = ()
    weak: bool = False


def numbers(text: str) -> set[str]:
    """Return the numbers written in digits, each in one spelling: 0.10 and 0.1 are the same.

    >>> sorted(numbers("1. 容量 1,200 毫升，压力 0.10~0.35"))
    ['0.1', '0.35', '1200']
    """
    return {_one_spelling(found) for found in _NUMBER.findall(_plain(_ITEM.sub("", text)))}


def written_numbers(text: str) -> set[str]:
    """Return the numbers in digits and those in Chinese numerals."""
    return _all_numbers(text) | {
        str(value) for value in map(_han, _HAN_NUMBER.findall(text)) if value is not None
    }


def foreign_values(question: str, passages: Iterable[Passage]) -> list[str]:
    """Return the values with a unit in a question whose number no passage about its own model holds."""
    own = [passage for passage in passages if not of_a_sibling(question, passage)]
    known = {number for passage in own for number in written_numbers(_whole(passage))} | numbers(
        " ".join(number for _, number in codes(question))
    )
    values = [found.strip() for found in _VALUE.findall(_plain(question))]
    return [value for value in values if not numbers(value) <= known]


def support(
    sentence: str, cited: Sequence[int], passages: Sequence[Passage], question: str, *, computed: bool = False
) -> Support:
    """Return which passages a sentence (without marks) may cite: the model's own where they hold its numbers.

    Numbers of the question may be repeated. A passage about another model of the family doesn't count.
    `computed` lets sums, differences and products of passage numbers pass, for questions that ask for them.
    """
    passages = [passage for passage in passages if not of_a_sibling(sentence, passage, question)]
    cited = [n for n in cited if any(passage.n == n for passage in passages)]
    named = codes("\n".join((question, *map(_whole, passages))))
    wanted = numbers(without_codes(sentence, named)) - written_numbers(without_codes(question, named))
    if not wanted:
        return _by_words(sentence, cited, passages, question)
    held = {p.n: written_numbers(_whole(p)) for p in passages}
    if cited and _holds(wanted, cited, held, computed=computed):
        return Support(tuple(cited))
    ranked = sorted(passages, key=lambda p: -overlap(sentence, p))[:_TRIED]
    for size in (1, 2):
        for group in combinations(ranked, size):
            chosen = tuple(p.n for p in group)
            if _holds(wanted, chosen, held, computed=computed):
                return Support(chosen)
    every = set().union(*held.values()) if held else set()
    return Support(tuple(cited), tuple(sorted(wanted - every)) or tuple(sorted(wanted)))


def _by_words(sentence: str, cited: Sequence[int], passages: Sequence[Passage], question: str) -> Support:
    """Judge a sentence without numbers of its own: its words must stand in what it cites, or elsewhere."""
    own = [p for p in passages if p.n in cited]
    if any(_unlike(sentence, p) for p in own):
        return Support(tuple(cited))  # another language: words can't be compared
    if _echo(sentence, question, passages):
        return Support(tuple(cited), weak=True)
    if max((overlap(sentence, p) for p in own), default=0.0) >= _ENOUGH_CITED:
        return Support(tuple(cited))
    best = max(passages, key=lambda p: overlap(sentence, p), default=None)
    if best and overlap(sentence, best) >= _ENOUGH:
        return Support((best.n,))
    return Support(tuple(cited), weak=True)


def chunk_of(passage: Passage, said: Sequence[str]) -> int:
    """Return the chunk of a passage that holds most of what was said from it."""
    if len(passage.chunk_texts) != len(passage.chunk_ids):
        return passage.chunk_ids[0]
    wanted, words = numbers("\n".join(said)), units("\n".join(said))

    def worth(text: str) -> tuple[int, int]:
        return len(wanted & written_numbers(text)), len(words & units(text))

    best = max(range(len(passage.chunk_ids)), key=lambda i: worth(passage.chunk_texts[i]))
    return passage.chunk_ids[best]


def overlap(sentence: str, passage: Passage) -> float:
    """Return the share of a sentence's units that stand in a passage's text, 0 to 1.

    What its path says already (the product, the chapter) tells nothing about what is said of it.
    """
    mine = units(sentence) - units("\n".join((passage.file, passage.title, *passage.heading_path)))
    return len(mine & units(passage.text)) / len(mine) if mine else 0.0


def units(text: str) -> set[str]:
    """Return pairs of neighbouring Han characters, Latin words, model names and numbers."""
    folded = fold(text)
    han = re.findall(r"[\u3400-\u9fff]+", folded)
    pairs = {run[i : i + 2] for run in han for i in range(len(run) - 1)}
    return pairs | set(_WORD.findall(folded)) | set(_NUMBER.findall(folded))


# ---------------------------------------------------------------- inside


def _unlike(sentence: str, passage: Passage) -> bool:
    """Tell whether one is written in Han characters and the other hardly."""
    mine, theirs = (len(re.findall(r"[\u3400-\u9fff]", text)) for text in (sentence, passage.text))
    return bool(mine) != (theirs * 10 > len(passage.text))


def _echo(sentence: str, question: str, passages: Iterable[Passage]) -> bool:
    """Tell whether a sentence only says the question again, of which a good part stands in no passage.

    That is how a small model answers yes or no to what the passages don't tell.
    """
    said, asked = units(sentence), units(question)
    if not said:
        return False
    whole = [units(_whole(passage)) for passage in passages]
    new = [len((said - asked) & held) for held in whole]
    known = max((len(said & held) for held in whole), default=0)
    return max(new, default=0) < _NEWS and known < _ECHO_KNOWN * len(said)


def _holds(wanted: set[str], chosen: Collection[int], held: dict[int, set[str]], *, computed: bool) -> bool:
    there = set().union(*(held[n] for n in chosen))
    left = wanted - there
    return not left or (computed and all(_derived(float(number), there) for number in left))


def _derived(value: float, known: Collection[str]) -> bool:
    values = sorted({float(number) for number in known})[:200]
    ways = (sums for a, b in combinations(values, 2) for sums in (a + b, abs(a - b), a * b))
    return any(abs(way - value) < 1e-6 for way in ways) or any(abs(2 * v - value) < 1e-6 for v in values)


def _whole(passage: Passage) -> str:
    return "\n".join((passage.file, *passage.heading_path, passage.text))


def _all_numbers(text: str) -> set[str]:
    return {_one_spelling(found) for found in _NUMBER.findall(_plain(text))}


def _plain(text: str) -> str:
    # Thousands marks go first: NFKC makes a Chinese comma between two numbers look like one.
    return fold(_THOUSANDS.sub("", text))


def _one_spelling(number: str) -> str:
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if not number.startswith("0.") else number


def _han(text: str) -> int | None:
    """Return the value of a Chinese numeral below a hundred million."""
    if not any(char in _SCALES or char == "万" for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total, section, digit = 0, 0, 0
    for char in text:
        if char == "万":
            total, section, digit = (section + digit or 1) * 10000, 0, 0
        elif char in _SCALES:
            section += (digit or 1) * _SCALES[char]
            digit = 0
        else:
            digit = _DIGITS[char]
    return total + section + digit
