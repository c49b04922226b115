"""Which lines are headings, of which level, and why some that look like one are not.

The room's own corridor for headings: candidates, table of contents, votes, titles without numbers, levels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.datatypes import Article, Heading, HeadingRule, Note
from ragcli.documents import plain, votes
from ragcli.documents.contents import contents_lines
from ragcli.documents.decimals import decimal_headings
from ragcli.documents.families import ARTICLE_UNITS, Candidate, candidates
from ragcli.documents.lines import Lines, is_rule, is_sentence

_QUESTION = re.compile(r"(?:问|答|[QA])\s*[:：]")
_BLANKS = re.compile(r"\s+")
# A count of these may run inside titles that have no number themselves.
_INNER = ("zh_bare", "roman", "en_word", "ar_paren", "circled", "letter")
_MOST_NOTES = 60
_VOLUMES = 19  # ranks below this are volumes, above it chapters


@dataclass(frozen=True, slots=True)
class Found:
    """What headings a text has: `paths` maps a heading's line (from 1) to its entry in a path."""

    headings: tuple[Heading, ...]
    articles: tuple[Article, ...]
    entries: dict[int, str]
    contents: frozenset[int]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """An accepted heading before levels are given."""

    line: int
    rank: int
    entry: str


def find_headings(lines: Lines, taken: frozenset[int], rules: Sequence[HeadingRule] = ()) -> Found:
    """Find the headings; `taken` are lines that can't be any: table rows and page furniture."""
    every = [item for item in candidates(lines) if item.line not in taken]
    contents = contents_lines(lines, every)
    open_ones = [item for item in every if item.line not in contents]
    closed = taken | contents
    articles, article_heads, notes = _articles(lines, open_ones)
    strong, doubts = votes.strong(lines, open_ones)
    numbered = [*strong, *article_heads]
    strong_lines = sorted(item.line for item in numbered)
    decimals, more = decimal_headings(lines, open_ones, strong_lines)
    tops = [item for item in decimals if item.family != "decimal"]
    used = frozenset(item.line for item in (*numbered, *decimals))
    weak, rest = votes.weak(lines, open_ones, used)
    own_numbers = sum(item.line in contents for item in every) * 3 > len(contents)
    guided = (
        [] if numbered or own_numbers else plain.listed(lines, sorted(contents), lambda n: n not in closed)
    )
    if guided:
        weak, decimals, tops = [], [], []
    marks = [_mark(lines, item) for item in (*numbered, *weak)]
    marks += [_Mark(item.line, item.rank, _entry(lines, item.line)) for item in guided]
    marks += [
        _Mark(item.line, 51 if item in tops else item.rank, _entry(lines, item.line)) for item in decimals
    ]
    blocked = closed | {item.line for item in marks} | {article.line - 1 for article in articles}
    # Weaker ways come last: they are asked only where no outer headings were found.
    outer = bool(numbered or decimals) or any(item.family not in _INNER for item in weak)
    if not guided:
        marks += _unnumbered(lines, blocked, bool(numbered), outer)
    marks, joined = _with_titles_below(lines, marks, [*numbered, *weak, *decimals], closed)
    marks = _without_title_line(lines, marks)
    headings, entries = _levels(lines, marks, rules, joined)
    kept = {heading.line for heading in headings}
    all_notes = [note for note in (*notes, *doubts, *more, *rest) if note.line not in kept][:_MOST_NOTES]
    articles = [article for article in articles if article.line not in kept or article.line - 1 in used]
    return Found(headings, tuple(articles), entries, contents, tuple(sorted(all_notes, key=lambda n: n.line)))


def _entry(lines: Lines, line: int) -> str:
    return _BLANKS.sub(" ", lines.seen[line])[:80]


def _mark(lines: Lines, item: Candidate) -> _Mark:
    return _Mark(item.line, item.rank, _entry(lines, item.line))


def _articles(lines: Lines, found: Sequence[Candidate]) -> tuple[list[Article], list[Candidate], list[Note]]:
    """Tell articles with their text on the line (第三条 …) from article headings; both are listed as articles."""
    group = [item for item in found if item.family == "zh_unit" and item.unit in ARTICLE_UNITS]
    with_text = [item for item in group if item.title]
    prose = sum(is_sentence(item.title) or len(item.title) > 25 for item in with_text)
    glued = prose * 2 >= len(with_text)
    articles: list[Article] = []
    heads: list[Candidate] = []
    notes: list[Note] = []
    last = 0
    for item in group:
        in_order = item.number in (last, last + 1) or item.number == 1 or item.number == last + 2
        if not (item.separated or in_order) or (item.title and item.number > last + 50 and last):
            notes.append(Note("doubt_order", item.line + 1, {"text": lines.seen[item.line][:60]}))
            continue
        last = item.number
        head = lines.seen[item.line]
        number = head[: len(head) - len(item.title)] if item.title else head
        articles.append(Article(item.line + 1, _BLANKS.sub("", number).rstrip("：:、.．—-·")))
        if not item.title or not glued:
            heads.append(item)
    if len(articles) == 1 and not heads and not group[0].separated:
        return [], [], notes  # a sentence that begins with 第X条
    if heads and not glued:
        articles = [
            article
            for article in articles
            if article.line - 1 in {item.line for item in heads if not item.title}
        ]
    return articles, heads, notes


def _unnumbered(lines: Lines, blocked: frozenset[int], numbered: bool, some: bool) -> list[_Mark]:
    """Return the titles without numbers; the weaker ways only where nothing else was found."""
    first = _first_line(lines)

    def free_below(line: int) -> bool:
        return line not in blocked and line != first

    anywhere = free_below if not numbered and not some else (lambda line: line not in blocked)
    found = [*plain.underlined(lines, free_below), *plain.words_alone(lines, anywhere, numbered)]
    found += plain.spaced_out(lines, free_below)
    if not some and not [item for item in found if item.kind != "word"]:
        width = plain.text_width(lines)
        found += plain.capitals(lines, lambda line: line not in blocked) or (
            plain.centred(lines, free_below, width) if width else []
        )
        if not found:
            found += plain.standing_apart(lines, free_below)
    unique = {item.line: item for item in reversed(found)}
    return [_Mark(line, item.rank, _entry(lines, line)) for line, item in unique.items()]


def _with_titles_below(
    lines: Lines, marks: list[_Mark], numbered: Sequence[Candidate], closed: frozenset[int]
) -> tuple[list[_Mark], dict[int, int]]:
    """Join a title on a line of its own to the number above it."""
    bare = [
        item.line
        for item in numbered
        if not item.title and item.unit not in ARTICLE_UNITS and item.family != "zh_special"
    ]
    lines_of_marks = {mark.line for mark in marks if mark.rank not in (-1, -2, 27, 28, 31, 86)}
    below = plain.titles_below(lines, bare, lambda line: line not in closed and line not in lines_of_marks)
    titles = set(below.values())
    joined = [
        _Mark(mark.line, mark.rank, f"{mark.entry} {_entry(lines, below[mark.line])}")
        if mark.line in below
        else mark
        for mark in marks
        if mark.line not in titles
    ]
    return joined, below


def _without_title_line(lines: Lines, marks: list[_Mark]) -> list[_Mark]:
    """Drop what is marked on the first line where it is the title of the whole: a tag or a bracket of its own."""
    first = _first_line(lines)
    return [mark for mark in marks if mark.line != first or mark.rank not in (22, 24, 26)]


def _levels(
    lines: Lines, marks: list[_Mark], rules: Sequence[HeadingRule], joined: dict[int, int]
) -> tuple[tuple[Heading, ...], dict[int, str]]:
    """Give each heading its level: one a rank, in the order of the ranks that this text uses."""
    own = _by_rules(lines, rules)
    marks = sorted((mark for mark in marks if mark.line not in own), key=lambda mark: mark.line)
    ranks = sorted({mark.rank for mark in marks if mark.rank >= 0})
    chapter = next((rank for rank in ranks if rank >= _VOLUMES), ranks[0] if ranks else 20)
    top = ranks[0] if ranks else 20
    if not ranks:
        ranks = [20]
    level = {rank: n + 1 for n, rank in enumerate(ranks)} | {
        -1: ranks.index(top) + 1,
        -2: ranks.index(chapter) + 1,
    }
    deepest = max((rule_level for rule_level in own.values()), default=0)
    headings = [Heading(mark.line + 1, level[mark.rank] + deepest, lines.seen[mark.line]) for mark in marks]
    headings += [Heading(line + 1, rule_level, lines.seen[line]) for line, rule_level in own.items()]
    entries = {mark.line + 1: mark.entry for mark in marks} | {line + 1: _entry(lines, line) for line in own}
    return tuple(sorted(headings, key=lambda heading: heading.line)), entries


def _by_rules(lines: Lines, rules: Sequence[HeadingRule]) -> dict[int, int]:
    found: dict[int, int] = {}
    for rule in rules:
        pattern = re.compile(rule.pattern)
        for line, text in enumerate(lines.seen):
            if text and len(text) <= 200 and line not in found and pattern.search(text):
                found[line] = rule.level
    return found


def _first_line(lines: Lines) -> int:
    """Return the first line with something to see that is no rule, or -1."""
    line = lines.next_seen(-1, len(lines))
    while line >= 0 and is_rule(lines.seen[line]):
        line = lines.next_seen(line, 4)
    return line


def find_title(lines: Lines, found: Found, taken: frozenset[int]) -> Heading | None:
    """Return the document's title: its first line, where that is a title and no heading."""
    line = _first_line(lines)
    if line < 0 or line + 1 in {heading.line for heading in found.headings}:
        return None
    text = lines.seen[line]
    if (
        line in taken
        or line in found.contents
        or len(text) > 100
        or is_sentence(text)
        or not any(map(str.isalpha, text))
    ):
        return None
    if (
        _QUESTION.match(text)
        or any(article.line == line + 1 for article in found.articles)
        or lines.next_seen(line, len(lines)) < 0
    ):
        return None
    return Heading(line + 1, 0, text)
