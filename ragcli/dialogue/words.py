"""The word lists of each language, read once from the data files beside this module.

It says which words there are; what follows from them is the gate's and the rewriting's business.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Language = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Words:
    """One language's lists, by name, longest entry first."""

    language: Language
    lists: Mapping[str, tuple[str, ...]]

    def has(self, name: str, text: str) -> bool:
        """Say whether the whole text is an entry of the list."""
        return text in _entries(self.language, name)

    def find(self, name: str, text: str) -> re.Match[str] | None:
        """Return the first place where an entry of the list stands in the text."""
        return _pattern(self.language, name).search(text)

    def findall(self, name: str, text: str) -> list[re.Match[str]]:
        """Return every place where an entry of the list stands in the text."""
        return list(_pattern(self.language, name).finditer(text))

    def starts(self, name: str, text: str) -> str:
        """Return the longest entry that the text begins with, or an empty string."""
        match = _pattern(self.language, name).match(text)
        return match.group() if match else ""

    def ends(self, name: str, text: str) -> str:
        """Return the longest entry that the text ends with, or an empty string."""
        return next((entry for entry in self.lists[name] if text.endswith(entry)), "")


def language_of(text: str) -> Language:
    """Return zh where the text holds a Chinese character, else en."""
    return "zh" if _CJK.search(text) else "en"


@cache
def words_of(language: Language) -> Words:
    """Return the lists of a language."""
    raw = tomllib.loads(files(__package__).joinpath(f"data/{language}.toml").read_text(encoding="utf-8"))
    lists = {name: tuple(sorted(entries, key=len, reverse=True)) for name, entries in raw.items()}
    return Words(language, lists)


@cache
def _entries(language: Language, name: str) -> frozenset[str]:
    return frozenset(words_of(language).lists[name])


@cache
def _pattern(language: Language, name: str) -> re.Pattern[str]:
    entries = words_of(language).lists[name]
    if name.endswith("_patterns"):
        return re.compile("|".join(entries), re.IGNORECASE)
    body = "|".join(re.escape(entry) for entry in entries)
    if language == "en":
        return re.compile(rf"(?<![A-Za-z0-9'])(?:{body})(?![A-Za-z0-9'])", re.IGNORECASE)
    return re.compile(body, re.IGNORECASE)
