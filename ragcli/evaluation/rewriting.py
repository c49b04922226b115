"""Was the question made complete? The rewrite beside a person's, by characters and by what it names.

A token is a character of Chinese, or a word or number of Latin letters and digits. What a rewrite restores are the
tokens that the reference has and the question lacks.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcli.datatypes import Json
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import by_case, share
from ragcli.evaluation.statistics import interval

_TOKEN = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?|[^\W_]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CODE = re.compile(r"[A-Za-z]+-?\d[A-Za-z0-9-]*|\d+(?:\.\d+)?|《[^》]+》")
_LATIN_NAME = re.compile(r"(?<!^)\b[A-Z][a-z]+\b")

Names = Callable[[str], frozenset[str]]


def no_names(_text: str) -> frozenset[str]:
    """Name nothing: what is used where there is no base whose names could be known."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class Known:
    """What the base's vocabulary finds in a text: the things that it names, and what is asked about them."""

    things: Names = no_names
    asked: Names = no_names


def folded(text: str) -> str:
    """Return a question as its wording is compared: one width and case, no blanks, no marks.

    >>> folded("DH-60 的水箱，多大？")
    'dh60的水箱多大'
    """
    wide = unicodedata.normalize("NFKC", text).lower()
    return "".join(char for char in wide if char.isalnum())


def tokens(text: str) -> list[str]:
    """Return the tokens of a text."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())


def rouge_l(text: str, reference: str) -> float:
    """Return the F1 of the longest common subsequence of characters (ROUGE-L, Lin 2004).

    >>> rouge_l("水箱多大", "水箱多大"), rouge_l("甲", "乙")
    (1.0, 0.0)
    """
    one, other = folded(text), folded(reference)
    if not one or not other:
        return 0.0
    row = [0] * (len(other) + 1)
    for char in one:
        last = 0
        for place, wanted in enumerate(other, 1):
            above = row[place]
            row[place] = last + 1 if char == wanted else max(above, row[place - 1])
            last = above
    common = row[-1]
    return 2 * common / (len(one) + len(other))


def restored(query: str, text: str, reference: str) -> tuple[int, int, int]:
    """Return how many tokens were to be restored, how many of them the text has, and how many it added."""
    asked = Counter(tokens(query))
    missing, added = Counter(tokens(reference)) - asked, Counter(tokens(text)) - asked
    return missing.total(), (missing & added).total(), added.total()


def invented(outcome: Outcome, said: str, known: Known) -> list[str]:
    """Return the names, codes and numbers of a rewrite that neither the conversation nor the base holds."""
    text = outcome.searched
    found: list[str] = [*_CODE.findall(text), *_LATIN_NAME.findall(text)]
    heard = folded(said)
    things = {folded(name) for name in known.things(text) | known.asked(text)}
    return [
        name for name in found if folded(name) not in heard and not any(folded(name) in one for one in things)
    ]


def rewriting(outcomes: Sequence[Outcome], known: Known, seed: int) -> Json:
    """Return how the rewrites agree with the references; turns without one, or left open by it, don't count."""
    judged = [outcome for outcome in outcomes if outcome.turn.rewrite and outcome.turn.expect != "clarify"]
    complete = [outcome for outcome in judged if outcome.turn.complete]
    leaning = [outcome for outcome in judged if outcome.turn.dependent]
    changed = [folded(outcome.searched) != folded(outcome.turn.query) for outcome in complete]
    foreign = _invented(outcomes, known)
    return {
        "all": _figures(judged, known, seed),
        "dependent": _figures(leaning, known, seed),
        "over_rewriting": {"turns": len(complete), "share": share(sum(changed), len(changed))},
        "invented": {
            "turns": len(outcomes),
            "share": share(len(foreign), len(outcomes)),
            "names": foreign[:20],
        },
    }


def unchanged(outcomes: Sequence[Outcome]) -> float:
    """Return the share of a person's complete questions that were searched exactly as they stand."""
    return share(sum(row.record.get("rewritten") == [row.turn.rewrite] for row in outcomes), len(outcomes))


def _figures(rows: Sequence[Outcome], known: Known, seed: int) -> Json:
    exact = [folded(row.searched) == folded(row.turn.rewrite) for row in rows]
    likeness = [rouge_l(row.searched, row.turn.rewrite) for row in rows]
    wanted, kept, added = (sum(n) for n in zip(*_restored(rows), strict=True)) if rows else (0, 0, 0)
    return {
        "turns": len(rows),
        "exact": share(sum(exact), len(rows)),
        "rouge_l": share(sum(likeness), len(rows)),
        "restored_recall": share(kept, wanted),
        "restored_precision": share(kept, added),
        "same_things": _agreement(rows, known.things),
        "same_numbers": _agreement(rows, lambda text: frozenset(_NUMBER.findall(text))),
        "same_asked": _agreement(rows, known.asked),
        "interval": {
            "exact": list(interval(by_case(rows, exact), seed)),
            "rouge_l": list(interval(by_case(rows, likeness), seed)),
        },
    }


def _restored(rows: Sequence[Outcome]) -> list[tuple[int, int, int]]:
    return [restored(row.turn.query, row.searched, row.turn.rewrite) for row in rows]


def _agreement(rows: Sequence[Outcome], names: Names) -> float | None:
    """Return the share of turns whose reference names something and whose rewrite names all of it; None of none."""
    pairs = [(names(row.turn.rewrite), names(row.searched)) for row in rows]
    named = [(wanted, found) for wanted, found in pairs if wanted]
    return share(sum(wanted <= found for wanted, found in named), len(named)) if named else None


def _invented(outcomes: Sequence[Outcome], known: Known) -> list[Json]:
    found = []
    said: dict[str, str] = {}
    for outcome in outcomes:
        place = f"{outcome.case.group}/{outcome.case.name}"
        given = " ".join(text for pair in outcome.turn.history or () for text in pair)
        said[place] = f"{said.get(place, '')} {given} {outcome.turn.query}"
        names = invented(outcome, said[place], known)
        if names:
            found.append({"turn": outcome.key, "names": names, "rewritten": outcome.searched})
        said[place] += f" {outcome.record.get('answer') or ''}"
    return found
