"""Put the words that documents write beside those that people say: 晚了 is 逾期, money back is refund.

A manual says 接通电源 where a person asks 插电, and no index knows that one is the other. The list is general
language alone; it adds to a query and takes nothing from it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


def as_written(query: str) -> str:
    """Return a query with the written words for what it says behind it; the query itself where there are none.

    >>> as_written("晚了怎么算"), as_written("逾期怎么算")
    ('晚了怎么算 逾期', '逾期怎么算')
    """
    pattern, words = _said()
    found = (words[match.group().lower()] for match in pattern.finditer(query))
    added = dict.fromkeys(word for line in found for word in line.split() if not _holds(query, word))
    return " ".join((query, *added))


def _holds(query: str, word: str) -> bool:
    edge = r"\b" if word.isascii() else ""
    return bool(re.search(f"{edge}{re.escape(word)}{edge}", query, re.IGNORECASE))


@cache
def _said() -> tuple[re.Pattern[str], dict[str, str]]:
    data = tomllib.loads(files("ragcli.retrieval").joinpath("data/written.toml").read_text("utf-8"))
    zh, en = (sorted(data[language], key=len, reverse=True) for language in ("zh", "en"))
    whole = "|".join(map(re.escape, en))
    pattern = re.compile(rf"{'|'.join(map(re.escape, zh))}|\b(?:{whole})\b", re.IGNORECASE)
    return pattern, {**data["zh"], **data["en"]}
