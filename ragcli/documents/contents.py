"""Where a printed table of contents stands: its lines copy headings and aren't any.

It is known by its title (目录, Contents), by dot leaders and page numbers, or by a run of heading lines without
text between them that all come again further down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ragcli.documents.families import Candidate, keywords
from ragcli.documents.lines import Lines, is_rule, is_sentence, key

_LEADER = re.compile(
    r".*\S\s*(?:\.{4,}|…{2,}|·{4,}|(?:\s[.·]){4,}|-{4,}|_{4,}|\t|\s{4,})\s*\d{1,4}|.*(?:\.{5,}|…{3,}|(?:\s\.){5,})\s*\S{0,6}"
)
_PAGE = re.compile(r"[\s.…·-]*\d{1,4}$")
_BULLET = re.compile(r"^[*•·\-|]\s*")
_SHORTEST = 3


def contents_lines(lines: Lines, found: Sequence[Candidate]) -> frozenset[int]:
    """Return the lines that belong to a table of contents."""
    by_line = {candidate.line: candidate for candidate in found}
    taken: set[int] = set()
    for line in range(len(lines)):
        text = lines.seen[line]
        if 2 <= len(text) <= 24 and line not in taken and _is_title(text):
            block = _below(lines, line, by_line)
            if len(block) >= 2:
                taken.update((line, *block))
    taken |= _with_leaders(lines)
    taken |= _repeated(lines, found, taken)
    return frozenset(taken)


def _is_title(text: str) -> bool:
    if text[0] not in "目总章cCtTiI【[（(*":
        return False
    return key(text).strip("【】[]()（）*:：") in keywords()["contents"]


def entry_key(text: str) -> str:
    """Return what an entry of a table of contents names, without its bullet and page."""
    return key(_PAGE.sub("", _BULLET.sub("", text)))


def _below(lines: Lines, title: int, by_line: Mapping[int, Candidate]) -> list[int]:
    """Return the entries under a contents title, up to where the first of them comes again as a heading."""
    block: list[int] = []
    first_key, first_number = "", None
    line = title
    while (line := lines.next_seen(line, 6)) >= 0 and len(block) < 100_000:
        text = lines.seen[line]
        if is_rule(text):
            break
        leader = _LEADER.fullmatch(text) is not None
        candidate = by_line.get(line)
        bulleted = _BULLET.match(text) is not None
        longest = 60 if candidate or bulleted else 45
        prose = text[-1] in "。；，" if bulleted or candidate else is_sentence(text)
        if not leader and (len(text) > longest + 20 * bulleted or prose):
            break
        if block and _comes_again(text, candidate, first_key, first_number):
            return block
        first_key = first_key or entry_key(text)
        if candidate and first_number is None:
            first_number = (candidate.group, candidate.numbers, entry_key(text))
        block.append(line)
    return _only_entries(lines, block, by_line)


def _comes_again(
    text: str, candidate: Candidate | None, first_key: str, first: tuple[object, tuple[int, ...], str] | None
) -> bool:
    if entry_key(text) == first_key:
        return True
    return bool(candidate and first and first[1] and entry_key(text) == first[2])


def _only_entries(lines: Lines, block: list[int], by_line: Mapping[int, Candidate]) -> list[int]:
    """Keep what surely is contents where the first entry didn't come again: up to the first blank line."""
    leaders = [line for line in block if _LEADER.fullmatch(lines.seen[line])]
    if leaders:
        return [line for line in block if line <= leaders[-1]]
    kept: list[int] = []
    for line in block:
        if kept and lines.blank(line - 1) and line - 1 not in kept and len(kept) >= 2:
            break
        kept.append(line)
    return kept if len(kept) >= _SHORTEST and sum(line in by_line for line in kept) * 2 >= len(kept) else []


def _with_leaders(lines: Lines) -> set[int]:
    """Return runs of three or more lines that end in dot leaders and a page."""
    if "...." not in lines.text and "……" not in lines.text and " . . " not in lines.text:
        return set()
    marked = [n for n, text in enumerate(lines.seen) if _dots(text) and _LEADER.fullmatch(text)]
    taken: set[int] = set()
    run: list[int] = []
    for line in [*marked, len(lines) + 99]:
        if run and line - run[-1] > 6:
            if len(run) >= _SHORTEST:
                taken.update(run)
            run = []
        run.append(line)
    return taken


def _dots(text: str) -> bool:
    return len(text) < 120 and ("...." in text or "……" in text or " . . " in text)


def _repeated(lines: Lines, found: Sequence[Candidate], taken: set[int]) -> set[int]:
    """Return runs of candidates without text between them that come again below, most of them in order."""
    last: dict[str, int] = {}
    for item in found:
        last[key(lines.seen[item.line])] = item.line
    contents: set[int] = set()
    run: list[Candidate] = []
    ends: tuple[Candidate | None, ...] = (*found, None)
    inside: set[str] = set()
    for candidate in ends:
        word = key(lines.seen[candidate.line]) if candidate else ""
        if candidate and run and word not in inside and _adjacent(lines, run[-1].line, candidate.line):
            run.append(candidate)
            inside.add(word)
            continue
        if len(run) >= _SHORTEST and run[0].line not in taken:
            again = sum(last[key(lines.seen[item.line])] > run[-1].line for item in run)
            if again >= 0.6 * len(run):
                contents.update(item.line for item in run)
        run, inside = ([candidate], {word}) if candidate else ([], set())
    return contents


def _adjacent(lines: Lines, before: int, after: int) -> bool:
    return after - before == 1 or (after - before <= 3 and lines.next_seen(before, 4) == after)
