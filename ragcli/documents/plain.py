"""Titles without a number: underlined, known words alone on a line, spaced out, in capitals, standing apart.

Each way needs evidence from the whole text; the last ones are asked only where no other headings are found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from ragcli.documents.contents import entry_key
from ragcli.documents.families import keywords
from ragcli.documents.lines import Lines, columns, is_rule, is_sentence, key

_SPACED = re.compile(r"[\u4e00-\u9fff](?:[ \u3000]{1,3}[\u4e00-\u9fff]){1,20}")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,'’&/()-]{2,58}")
_PUNCTUATED = re.compile(r"[，。；！？、,;:：!?…“”\"|=\t]|  ")
_RANKS = {"=": 27, "#": 27, "*": 28, "-": 28, "_": 29, "~": 29, "^": 30, "+": 30, "─": 28, "═": 27, "━": 27}
_FEW = 3


@dataclass(frozen=True, slots=True)
class Plain:
    """A title without a number, and where its kind stands among the others (lower stands above)."""

    line: int
    rank: int
    kind: str


Free = Callable[[int], bool]


def underlined(lines: Lines, free: Free) -> list[Plain]:
    """Return lines of words with a rule of about their width right below."""
    found = []
    for below, text in enumerate(lines.seen):
        if len(text) < 3 or text[0].isalnum() or below == 0 or not is_rule(text):
            continue
        line = below - 1
        title = lines.seen[line]
        if not title or len(title) > 70 or not free(line) or is_rule(title) or is_sentence(title):
            continue
        if not (lines.blank(line - 1) or is_rule(lines.seen[line - 1])):
            continue
        if 0.35 * columns(title) - 1 <= columns(text) <= 2.2 * columns(title) + 4:
            found.append(Plain(line, _RANKS.get(text[0], 28), "underlined"))
    return found


def words_alone(lines: Lines, free: Free, numbered: bool) -> list[Plain]:
    """Return lines that are nothing but a word that titles a chapter (前言, 注意事项, Overview)."""
    own, between = keywords()["own"], keywords()["between"]
    firsts = {word[0] for word in (*own, *between)}
    found = []
    for line, text in enumerate(lines.seen):
        if not 1 <= len(text) <= 40 or text[0].lower() not in firsts or not free(line):
            continue
        word = key(text.strip("：:")) if len(text) < 25 else ""
        if word not in own and word not in between:
            continue
        apart = lines.blank(line - 1) or is_rule(lines.seen[line - 1])
        if (word in own and (numbered or apart)) or (
            apart and lines.blank(line + 1) and len(lines) > line + 1
        ):
            found.append(Plain(line, -1 if word in own else -2, "word"))
    return found


def spaced_out(lines: Lines, free: Free) -> list[Plain]:
    """Return lines whose characters are set apart by blanks, where the text isn't written so throughout."""
    found = [
        Plain(line, 86, "spaced")
        for line, text in enumerate(lines.seen)
        if 3 <= len(text) <= 60
        and text[1] in " \u3000"
        and lines.blank(line - 1)
        and lines.blank(line + 1)
        and free(line)
        and _SPACED.fullmatch(text)
    ]
    if len(found) < 2:
        return []
    long_ones = sum(len(text) > 60 and text.count(" ") > 0.4 * len(text) for text in lines.seen)
    return found if long_ones < len(found) else []


def capitals(lines: Lines, free: Free) -> list[Plain]:
    """Return lines in capitals at the margin, where what follows them is set in or after a blank line."""
    found = []
    for line, text in enumerate(lines.seen):
        if (
            not 3 <= len(text) <= 60
            or not text[0].isupper()
            or not _CAPITALS.fullmatch(text)
            or not free(line)
        ):
            continue
        following = lines.next_seen(line)
        if following < 0 or not lines.blank(line - 1) or lines.raw[line][:1].isspace():
            continue
        below = lines.seen[following]
        if lines.indent(following) >= 2 or (len(below) > 40 and not below.isupper()):
            found.append(Plain(line, 31, "capitals"))
    return found if len(found) >= _FEW else []


def standing_apart(lines: Lines, free: Free) -> list[Plain]:
    """Return short lines after a blank one that aren't sentences, where much longer text follows each.

    Those with a blank line below them too stand above those that the text follows at once.
    """
    lengths = [len(text) for text in lines.seen if text]
    if len(lengths) < 8:
        return []
    limit = min(16, median(lengths) * 0.6)
    above, close = [], []
    for line, text in enumerate(lines.seen):
        if not 2 <= len(text) <= limit or not lines.blank(line - 1) or not free(line):
            continue
        following = lines.next_seen(line, 4)
        if following < 0 or _PUNCTUATED.search(text) or text[-1] == "." or not _is_title_like(text):
            continue
        below = lines.seen[following]
        if len(below) <= 16 and below[0] in "—－-（(" and lines.next_seen(following, 3) >= 0:
            below = lines.seen[lines.next_seen(following, 3)]  # a subtitle or an author
        if len(below) < max(12, 1.6 * len(text)) and not (is_sentence(below) and len(below) > len(text)):
            continue
        if lines.blank(line + 1):
            above.append(Plain(line, 27, "apart"))
        else:
            close.append(Plain(line, 28, "apart"))
    found = [kind for kind in (above, close) if len(kind) >= _FEW]
    total = sum(map(len, found))
    if not found or total * 3 > len(lengths):
        return []
    return sorted((item for kind in found for item in kind), key=lambda item: item.line)


def _is_title_like(text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    return letters >= 0.6 * len(text) and not text[0].islower() and not is_sentence(text)


def centred(lines: Lines, free: Free, width: int) -> list[Plain]:
    """Return lines set in the middle of hard-wrapped text, between blank lines."""
    found = []
    for line, raw in enumerate(lines.raw):
        text = lines.seen[line]
        if not 3 <= len(text) <= 60 or raw[:8].strip() or not free(line):
            continue
        if not (lines.blank(line - 1) and lines.blank(line + 1)) or is_sentence(text) or "  " in text:
            continue
        left = lines.indent(line)
        right = width - left - columns(text)
        if left >= 8 and abs(left - right) <= 6 and text[0].isalnum():
            found.append(Plain(line, 31, "centred"))
    return found if len(found) >= _FEW else []


def listed(lines: Lines, contents: Sequence[int], free: Free) -> list[Plain]:
    """Return the lines that a table of contents without numbers names, of the depth that they have there."""
    if not contents:
        return []
    entries = [(entry_key(lines.seen[line]), _depth(lines, line)) for line in contents]
    entries = [(word, depth) for word, depth in entries if len(word) > 1]
    places: defaultdict[str, list[int]] = defaultdict(list)
    wanted = {word for word, _ in entries}
    for line in range(contents[-1] + 1, len(lines)):
        text = lines.seen[line]
        if text and len(text) <= 80 and lines.blank(line - 1) and key(text) in wanted and free(line):
            places[key(text)].append(line)
    chosen = _in_order([places[word][:6] for word, _ in entries])
    if len(chosen) < _FEW or len(chosen) < 0.6 * len(entries):
        return []
    depths = sorted({entries[n][1] for n in chosen})
    return [Plain(line, 15 + min(depths.index(entries[n][1]), 8), "listed") for n, line in chosen.items()]


def _depth(lines: Lines, line: int) -> int:
    return lines.indent(line)


def _in_order(places: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the longest choice of one place an entry, entries and places both ascending."""
    tails: list[int] = []
    ends: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for entry, lines in enumerate(places):
        for line in reversed(lines):
            at = bisect_left(tails, line)
            before[entry, line] = ends[at - 1] if at else None
            tails[at : at + 1] = [line]
            ends[at : at + 1] = [(entry, line)]
    chosen: dict[int, int] = {}
    place = ends[-1] if ends else None
    while place:
        chosen[place[0]] = place[1]
        place = before[place]
    return dict(sorted(chosen.items()))


def text_width(lines: Lines) -> int:
    """Return the width that a hard-wrapped text is set to, or 0 where lines are as long as paragraphs."""
    widths = sorted(columns(raw) for raw in lines.raw if len(raw) > 40)
    if len(widths) < 20:
        return 0
    width = widths[int(len(widths) * 0.9)]
    return width if 50 <= width <= 110 and widths[-1] < 2.5 * width else 0


def titles_below(lines: Lines, numbered: Sequence[int], free: Free) -> dict[int, int]:
    """Return, for headings that are a number alone, the line that holds their title."""
    found: dict[int, int] = {}
    for line in numbered:
        title = lines.next_seen(line, 3)
        if title < 0 or not free(title) or not lines.blank(title + 1):
            continue
        text = lines.seen[title]
        if len(text) <= (30 if not text.isascii() else 50) and not is_sentence(text) and not is_rule(text):
            found[line] = title
    return found if len(found) * 2 >= len(numbered) else {}
