"""Headings numbered 1, 1.1, 1.1.1: one system over the whole text, each number a lawful successor of the last.

Dates, versions, addresses and quantities have the same form; they don't continue the count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from ragcli.datatypes import Note
from ragcli.documents.families import Candidate
from ragcli.documents.lines import Lines, is_sentence

_TOP = ("ar_bare", "ar_dot")


def decimal_headings(
    lines: Lines, found: Sequence[Candidate], strong_lines: Sequence[int]
) -> tuple[list[Candidate], list[Note]]:
    """Return the headings of the decimal system, chapters with a single number included."""
    deep = [item for item in found if item.family == "decimal" and _may_be(lines, item)]
    if not deep:
        return [], []
    listed = _list_lines(found)
    tops = [
        item
        for item in found
        if item.family in _TOP and item.title and not _prose(item.title) and item.line not in listed
    ]
    parents = _parents(lines, tops, deep)
    items = sorted([*deep, *parents], key=lambda item: item.line)
    kept: list[Candidate] = []
    notes: list[Note] = []
    last: Candidate | None = None
    for item in items:
        if last and item.numbers == last.numbers and item.title == last.title:
            notes.append(Note("doubt_doubled", item.line + 1, {"text": lines.seen[item.line][:60]}))
        elif _follows(lines, last, item, strong_lines):
            kept.append(item)
            last = item
        else:
            notes.append(Note("doubt_order", item.line + 1, {"text": lines.seen[item.line][:60]}))
    if len(kept) < 2 and not (kept and lines.blank(kept[0].line - 1)):
        return [], notes
    return kept, notes


def _list_lines(found: Sequence[Candidate]) -> set[int]:
    """Return the lines of single numbers that stand right above or below the next number: steps, not chapters."""
    numbers = {(item.line, item.family): item.number for item in found if item.family in _TOP}
    return {
        line
        for (line, family), number in numbers.items()
        if numbers.get((line - 1, family)) == number - 1 or numbers.get((line + 1, family)) == number + 1
    }


def _may_be(lines: Lines, item: Candidate) -> bool:
    """Say whether a number may count a heading: with a title, or alone with a title on the next line."""
    if item.title:
        return not _prose(item.title)
    below = lines.seen[item.line + 1 : item.line + 2]
    return lines.blank(item.line - 1) and bool(below) and below[0][:1].isalpha() and not is_sentence(below[0])


def _prose(title: str) -> bool:
    return is_sentence(title) or len(title) > 70


def _parents(lines: Lines, tops: list[Candidate], deep: list[Candidate]) -> list[Candidate]:
    """Return the single numbers that belong to the system: those in the style of the ones right above x.1."""
    firsts = [item for item in deep if len(item.numbers) == 2 and item.numbers[1] <= 1]
    above: dict[tuple[int, str, bool], Candidate] = {}
    styles: Counter[tuple[str, bool]] = Counter()
    at = 0
    latest: dict[tuple[int, str, bool], Candidate] = {}
    for first in firsts:
        while at < len(tops) and tops[at].line < first.line:
            latest[tops[at].number, tops[at].family, tops[at].centred] = tops[at]
            at += 1
        for family in _TOP:
            for centred in (False, True):
                if parent := latest.get((first.numbers[0], family, centred)):
                    styles[family, centred] += 2 if lines.next_seen(parent.line, 3) == first.line else 1
                    above[first.line, family, centred] = parent
    if not styles:
        return []
    style = styles.most_common(1)[0][0]
    wanted = [parent for place, parent in above.items() if place[1:] == style]
    numbers, places = {item.number for item in wanted}, {item.line for item in wanted}
    own = [item for item in tops if (item.family, item.centred) == style]
    return [item for item in own if item.number not in numbers or item.line in places]


def _follows(lines: Lines, last: Candidate | None, item: Candidate, strong_lines: Sequence[int]) -> bool:
    numbers = item.numbers
    if last is None:
        return all(part <= 1 for part in numbers[1:]) and (numbers[0] <= 1 or len(numbers) > 1)
    if _succeeds(last.numbers, numbers):
        return True
    # A count may begin anew under a new chapter or appendix.
    between = bisect_left(strong_lines, last.line) < bisect_left(strong_lines, item.line)
    return between and all(part <= 1 for part in numbers[-1:])


def _succeeds(last: tuple[int, ...], now: tuple[int, ...]) -> bool:
    """Say whether `now` may come after `last`.

    >>> [_succeeds((1, 2), now) for now in ((1, 3), (1, 2, 1), (2,), (2, 1), (3, 1), (1, 2), (192, 168))]
    [True, True, True, True, False, False, False]
    """
    same = 0
    while same < min(len(last), len(now)) and last[same] == now[same]:
        same += 1
    if same == len(now):
        return False
    if same == len(last):
        return len(now) <= len(last) + 2 and all(part <= 1 for part in now[same:])
    step = now[same] - last[same]
    return 1 <= step <= (1 if same == 0 else 2) and all(part <= 1 for part in now[same + 1 :])
