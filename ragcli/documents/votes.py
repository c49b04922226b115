"""Which numbered candidates are headings: decided by the whole group, by numbers that run on, by what stands around.

A numbered list inside a section has the same numbers as headings do. What tells them apart: headings have text
between them, aren't sentences, and often have a blank line before them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ragcli.datatypes import Note
from ragcli.documents.families import ARTICLE_UNITS, Candidate
from ragcli.documents.lines import Lines, columns, is_rule, is_sentence, key

Group = list[Candidate]


@dataclass(slots=True)
class Run:
    """Candidates of one group whose numbers run on."""

    items: Group = field(default_factory=list)

    @property
    def last(self) -> int:
        """The number that the next item has to follow."""
        return self.items[-1].number


@dataclass(frozen=True, slots=True)
class Shares:
    """What part of a run's items looks like a list, and what part like headings."""

    size: int
    sentences: float
    commas: float
    adjacent: float
    spaced: float
    length: float


@dataclass(frozen=True, slots=True)
class Bar:
    """What a run must keep to."""

    size: int = 2
    sentences: float = 0.2
    commas: float = 0.34
    adjacent: float = 0.34
    spaced: float = 0.0
    length: float = 60
    start: int = 1


_BARS = {
    "zh_dun": Bar(1, 0.34, 0.5, 0.5),
    "zh_paren": Bar(1, 0.25, 0.34, 0.4, length=40),
    "ar_dot": Bar(),
    "ar_bare": Bar(2, 0.0, 0.2, 0.34, 0.6, 40),
    "ar_paren": Bar(2, 0.1, 0.2, 0.25, 0.3, 30),
    "circled": Bar(2, 0.1, 0.1, 0.1, 0.5, 25),
    "letter": Bar(2, 0.1, 0.2, 0.25, 0.5),
    "roman": Bar(2, 0.2, 0.5, 0.34, 0.3),
    "zh_bare": Bar(2, 0.1, 0.2, 0.3, 0.0, 20, start=2),
    "en_word": Bar(2, 0.2, 1.0, 0.3, 0.5),
    "question": Bar(2, 1.0, 1.0, 0.34),
    "bracket": Bar(1, 0.1, 0.3, 0.5, 0.3, 30),
    "book_mark": Bar(3, 0.0, 0.2, 0.2, 0.8),
    "tag": Bar(3, 0.2, 0.5, 0.3, 0.5),
    "star_tag": Bar(2, 0.3, 0.5, 0.3, 0.7),
    "bullet": Bar(3, 0.1, 0.2, 0.4, 0.8, 24),
    "marked": Bar(2, 0.3, 0.5, 0.5, 0.7),
    "ruled": Bar(2, 0.1, 0.3, 0.3, 0.5, 30),
    "zh_counted": Bar(2, 0.1, 0.2, 0.34, length=30),
    "letter_decimal": Bar(2, 0.1, 0.2, 0.34, length=50),
}
_UNNUMBERED = ("ruled", "bracket", "book_mark", "tag", "star_tag", "bullet", "marked")


def strong(lines: Lines, found: Sequence[Candidate]) -> tuple[Group, list[Note]]:
    """Return the headings with a unit or a keyword (第X章, Chapter X, 附录), doubled and stray ones left out."""
    taken: Group = []
    notes: list[Note] = []
    last: dict[tuple[str, str], Candidate] = {}
    volumes = sum(item.family == "zh_volume" for item in found)
    borders: list[tuple[int, int]] = []
    for item in found:
        if not item.strong or (item.family == "zh_unit" and item.unit in ARTICLE_UNITS):
            continue
        if item.family == "zh_volume" and volumes < 2:
            notes.append(_doubt("doubt_single", lines, item))
            continue
        before = last.get((item.family, item.unit))
        reason = _why_not(lines, item, before, borders)
        if reason:
            notes.append(_doubt(reason, lines, item))
            continue
        last[item.family, item.unit] = item
        while borders and borders[-1][0] >= item.rank:
            borders.pop()
        borders.append((item.rank, item.line))
        taken.append(item)
    return taken, notes


def _why_not(lines: Lines, item: Candidate, before: Candidate | None, borders: list[tuple[int, int]]) -> str:
    if columns(lines.seen[item.line]) > 110 or (not item.separated and "，" in item.title):
        return "doubt_sentence"
    if before is None:
        return ""
    above = any(rank < item.rank and line > before.line for rank, line in borders)
    if item.numbers and item.numbers == before.numbers and not above and _same_title(item, before):
        return "doubt_doubled"
    in_order = item.number in (before.number, before.number + 1) or item.number <= 1 or above
    if not item.separated and not in_order and not lines.blank(item.line - 1):
        return "doubt_order"
    return ""


def _same_title(one: Candidate, other: Candidate) -> bool:
    first, second = key(one.title), key(other.title)
    return first == second or (
        bool(first and second) and (first.startswith(second) or second.startswith(first))
    )


def _doubt(kind: str, lines: Lines, item: Candidate) -> Note:
    return Note(kind, item.line + 1, {"text": lines.seen[item.line][:60]})


def runs(lines: Lines, group: Iterable[Candidate], borders: Sequence[int] = ()) -> list[Run]:
    """Join a group's candidates into runs of numbers; a list inside a section is a run of its own.

    `borders` are lines of headings already taken: a run goes on past one only where nothing nearer fits.
    """
    done: list[Run] = []
    opened: list[Run] = []
    for item in group:
        fitting = [run for run in opened if run.last + 1 == item.number or (run.last + 2 == item.number > 3)]
        run = _best_fit(item, fitting, borders)
        if run:
            while opened[-1] is not run:
                opened.pop()
        else:
            run = Run()
            done.append(run)
            opened.append(run)
            del opened[:-12]  # a list is never nested deeper
        run.items.append(item)
    return done


def _best_fit(item: Candidate, fitting: list[Run], borders: Sequence[int]) -> Run | None:
    here = bisect_left(borders, item.line)
    near = [run for run in fitting if bisect_left(borders, run.items[-1].line) == here] or fitting
    alike = [run for run in near if is_sentence(run.items[-1].title) == is_sentence(item.title)]
    exact = [run for run in alike or near if run.last + 1 == item.number]
    choice = exact or alike or near
    return choice[-1] if choice else None


def shares(lines: Lines, items: Group, near: frozenset[int] = frozenset()) -> Shares:
    """Measure what a run looks like; `near` are heading lines already taken, which count as a blank line."""
    size = len(items)
    adjacent = sum(lines.next_seen(a.line) == b.line for a, b in pairwise(items))
    spaced = sum(
        lines.blank(item.line - 1) or is_rule(lines.seen[item.line - 1]) or item.line - 1 in near
        for item in items
    )
    return Shares(
        size,
        sum(_prose(item) for item in items) / size,
        sum(_commas(item.title) for item in items) / size,
        adjacent / (size - 1) if size > 1 else 0.0,
        spaced / size,
        sum(len(item.title) for item in items) / size,
    )


def _prose(item: Candidate) -> bool:
    return is_sentence(item.title) and not (item.family == "zh_dun" and item.title[-1:] in "：:")


def _commas(title: str) -> bool:
    return len(title) > 14 and ("，" in title or "," in title or ("、" in title[:-1] and len(title) > 30))


def weak(lines: Lines, found: Sequence[Candidate], taken: frozenset[int]) -> tuple[Group, list[Note]]:
    """Return the headings among candidates that could as well be list items, decided run by run."""
    groups: defaultdict[tuple[object, ...], Group] = defaultdict(list)
    for item in found:
        if item.family == "star_tag" and item.line == 0:
            continue  # a help file's own tag and title
        if not item.strong and item.family in _BARS and item.line not in taken:
            groups[_group_of(lines, item)].append(item)
    kept: Group = []
    notes: list[Note] = []
    borders = sorted(taken)
    for group in sorted(groups.values(), key=lambda group: group[0].rank):
        every = [Run(group)] if group[0].family in _UNNUMBERED else runs(lines, group, borders)
        before = len(kept)
        near = frozenset(borders)
        rest = [run for run in every if not _passes(lines, run.items, near)]
        left_out = {id(run) for run in rest}
        kept += [item for run in every if id(run) not in left_out for item in run.items]
        for run in rest:
            if len(kept) > before and _begins_part(lines, run.items, near):
                kept += run.items
            else:
                notes += [_doubt("doubt_list", lines, item) for item in run.items[:3]]
        borders = sorted((*borders, *(item.line for item in kept[before:])))
    return kept, notes


def _group_of(lines: Lines, item: Candidate) -> tuple[object, ...]:
    if item.family == "marked":
        return (item.family,)
    if item.family in (*_UNNUMBERED, "question"):
        return item.group
    return (*item.group, min(lines.indent(item.line) // 2, 6))


def _passes(lines: Lines, items: Group, taken: frozenset[int]) -> bool:
    family = items[0].family
    bar, seen = _BARS[family], shares(lines, items, taken)
    if seen.size < bar.size or items[0].number > max(bar.start, 1):
        return False
    if seen.sentences > bar.sentences or seen.commas > bar.commas or seen.length > bar.length:
        return False
    if seen.adjacent > bar.adjacent or seen.spaced < bar.spaced:
        return False
    if seen.size == 1:
        return _single(lines, items[0], seen)
    return _FURTHER.get(family, _always)(lines, items, seen)


def _single(lines: Lines, item: Candidate, seen: Shares) -> bool:
    """Take a lone item for a heading where it stands apart and text follows it."""
    follows = lines.next_seen(item.line, 3)
    return seen.spaced == 1 and len(item.title) <= 20 and follows >= 0 and bool(item.title)


def _begins_part(lines: Lines, items: Group, near: frozenset[int]) -> bool:
    """Take a lone item right below a heading for one, where others of its group are headings."""
    item = items[0]
    short = len(item.title) <= 20 and not is_sentence(item.title)
    return len(items) == 1 and item.number == 1 and short and bool(item.title) and item.line - 1 in near


def _always(lines: Lines, items: Group, seen: Shares) -> bool:
    return True


def _dotted(lines: Lines, items: Group, seen: Shares) -> bool:
    """1. items: text between them, and either blank lines before them or short titles without commas."""
    if not all(item.title for item in items):
        return False
    return seen.spaced >= 0.5 or (seen.adjacent == 0 and seen.commas == 0 and seen.length <= 15)


def _bare_numeral(lines: Lines, items: Group, seen: Shares) -> bool:
    """Take numerals alone on their lines, or with titles after blank lines."""
    alone = sum(not item.title for item in items)
    if alone == len(items):
        return len(items) >= 3 or seen.spaced >= 0.5
    return alone == 0 and seen.spaced >= 0.5


def _marked(lines: Lines, items: Group, seen: Shares) -> bool:
    marks = sum(text.startswith("#") for text in lines.seen)
    return marks <= len(items) * 2 and not any(lines.seen[item.line + 1 :][:1] == ["#"] for item in items)


_FURTHER: dict[str, Callable[[Lines, Group, Shares], bool]] = {
    "ar_dot": _dotted,
    "zh_bare": _bare_numeral,
    "marked": _marked,
}
