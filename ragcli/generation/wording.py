"""The prompts and word lists of each language, read once from the data files beside this module."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("zh", "en")


@cache
def wording(language: str) -> Mapping[str, Any]:
    """Return a language's prompts and words; an unknown language speaks English."""
    name = language if language in LANGUAGES else "en"
    return tomllib.loads(files(__package__).joinpath(f"data/{name}.toml").read_text(encoding="utf-8"))


def language_of(text: str) -> str:
    """Return the language to answer in: zh where a Han character stands in the question, else en.

    A Chinese question with English names in it is Chinese; an English one hardly ever holds Han characters.
    """
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    return "zh" if han and han * 8 >= latin else "en"


def fold(text: str) -> str:
    """Return text as it is compared: NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).casefold()


def mentions(text: str, words: list[str]) -> bool:
    """Tell whether one of the words stands in the text."""
    folded = fold(text)
    return any(word in folded for word in words)
