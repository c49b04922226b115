"""Editions of one document: which is meant, and what that does to the others.

Two documents are editions of one where their titles differ in the year alone. A question that names none
means the newest; what it names stays for the questions that go on with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragcli.datatypes import Term
from ragcli.dialogue.words import language_of, words_of

OLD, NEW = "old", "new"
# What a passage of an edition that is not meant counts: it is found where nothing else answers.
UNNAMED, OTHER = 0.7, 0.5
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_LEAST = 4

Family = tuple[tuple[int, str], ...]


def families(terms: Iterable[Term]) -> tuple[Family, ...]:
    """Return the documents that are kept in several editions: (year, file) each, the newest first.

    >>> one, other = (Term(f"Travel policy ({y})", "name", (), (f"{y}.txt",)) for y in (2023, 2025))
    >>> families([one, other])
    (((2025, '2025.txt'), (2023, '2023.txt')),)
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for term in terms:
        year = _YEAR.search(term.text)
        stem = re.sub(r"\W+", "", _YEAR.sub("", term.text)).lower()
        if term.kind == "name" and len(term.files) == 1 and year and len(stem) >= _LEAST:
            found[stem][term.files[0]] = int(year.group())
    made = (sorted(((year, file) for file, year in files.items()), reverse=True) for files in found.values())
    return tuple(dict.fromkeys(tuple(family) for family in made if len({year for year, _ in family}) > 1))


def edition_in(text: str) -> str:
    """Return the edition that a text names: a year, `old`, `new`, or nothing.

    >>> [edition_in(text) for text in ("23 年的规定下四天谁批", "2019 版", "旧规定是多少", "多少钱")]
    ['2023', '2019', 'old', '']
    """
    words = words_of(language_of(text))
    for match in words.findall("edition_patterns", text):
        digits = re.findall(r"\d+", match.group())[0]
        return digits if len(digits) == 4 else f"20{digits}"
    if words.find("edition_old_patterns", text):
        return OLD
    return NEW if words.find("edition_new_patterns", text) else ""


def edition_weights(kept: Sequence[Family], edition: str) -> Mapping[str, float]:
    """Return what the files of each edition that isn't meant count; those that are meant aren't listed."""
    weights: dict[str, float] = {}
    for family in kept:
        years = sorted({year for year, _ in family}, reverse=True)
        named = int(edition) if edition.isdigit() and int(edition) in years else 0
        meant = named or years[1 if edition == OLD else 0]
        weights.update(
            (file, OTHER if named or edition == OLD else UNNAMED) for year, file in family if year != meant
        )
    return weights
