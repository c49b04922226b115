"""Mend slips of homophones within the vocabulary: 滤心 is 滤芯 where the base knows only the latter.

Nothing is mended in silence: each mend is returned, to be shown. What the base itself spells so stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.wording import content, quotations
from ragcli.dialogue.words import words_of

_LONGEST = 6
_COMMON = ("everyday", "continuations", "stop_phrases", "bare_questions", "affirmations")


@dataclass(frozen=True, slots=True)
class Mend:
    """A slip, and what it was read as."""

    said: str
    meant: str


@cache
def sounds() -> Mapping[str, str]:
    """Return the toneless sound of each character."""
    text = files(__package__).joinpath("data/pinyin.txt").read_text(encoding="utf-8")
    lines = [line.split(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return {char: sound for sound, chars in lines for char in chars}


def sound_of(text: str) -> str:
    """Return a text's sound, a syllable a character; other characters stand for themselves."""
    known = sounds()
    return " ".join(known.get(char, char) for char in text)


def mend(query: str, lexicon: Lexicon) -> tuple[str, tuple[Mend, ...]]:
    """Return the question with homophone slips mended, and the mends.

    A slip is a whole run of content between function words, of two to six characters, that the base doesn't
    know and no word list calls an everyday word, and that sounds like exactly one of the base's words and
    shares a character with it. Anything less sure is left as it was typed.
    """
    words = _by_sound(lexicon)
    mends: list[Mend] = []
    for run in content(query):
        if not 2 <= len(run) <= _LONGEST or run in lexicon.characters or _counted(run, query):
            continue
        for term in words.get(sound_of(run), ()):
            if _slip(run, term) and all(run not in query[slice(*span)] for span in quotations(query)):
                mends.append(Mend(run, term))
                query = query.replace(run, term)
    return query, tuple(mends)


def _counted(run: str, query: str) -> bool:
    """Say whether a number stands right before a run, so that its first character is a measure: 23 版卡."""
    return bool(re.search(r"\d\s*$", query[: query.find(run)]))


def _slip(said: str, term: str) -> bool:
    same = sum(a == b for a, b in zip(said, term, strict=True))
    words = words_of("zh")
    return 0 < same < len(said) and not any(words.has(name, said) for name in _COMMON)


@cache
def _table(terms: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    out: dict[str, dict[str, None]] = defaultdict(dict)
    for term in terms:
        for size in range(2, min(_LONGEST, len(term)) + 1):
            for piece in {term[:size], term[-size:]}:
                out[sound_of(piece)][piece] = None
    return {sound: tuple(pieces) for sound, pieces in out.items() if len(pieces) == 1}


def _by_sound(lexicon: Lexicon) -> Mapping[str, tuple[str, ...]]:
    return _table(lexicon.spoken)
