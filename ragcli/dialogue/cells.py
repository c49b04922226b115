"""The rows or columns of a table that a question leaves open.

A question that names a column and no row may mean each row; one that names a row, each column; one that names
a kind of thing, each thing whose name holds it. What any cell of a row says decides for that row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.datatypes import Hit
from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.state import Choice, Entity
from ragcli.dialogue.wording import content, squash
from ragcli.dialogue.words import language_of, words_of

MOST = 6
_CELL = re.compile(r"\s*\|\s*|\t+|\s{2,}")
_RULE_LINE = re.compile(r"^[\s|+:=-]*$")
_BRACKETED = re.compile(r"[(（][^()（）]*[)）]")
_ABBREVIATION = 3
_MARKED = 6
_LONGEST_NAME = 24
_MOST_OF_ITS_OWN = 3
_NUMBERED = re.compile(r"[\d一二三四五六七八九十]+[一-龥]")
_COUNTED = re.compile(r"[一二两三四五六七八九十百千万半每][一-龥]|个[月年]")
_CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table's column names, its rows, and what stands over it."""

    over: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def cells_in(query: str, hit: Hit, lexicon: Lexicon, *, first: bool) -> tuple[Choice, ...]:
    """Return the rows or columns of a table that the question leaves open; empty where it is settled.

    `first` says that the table is the best passage: then a question for a value that names neither row nor
    column is about its rows, too.
    """
    grid = _grid(hit)
    if grid is None:
        return ()
    value = bool(words_of(language_of(query)).find("value_words", query))
    alike = _named_alike(query, grid, lexicon) if value else ()
    if alike or not _holds_values(query, grid):
        return alike
    over = pieces_of(grid.over)
    asked = pieces_of(query)
    columns = [cell for cell in grid.header[1:] if asked & pieces_of(cell)]
    rest = asked - over - pieces_of(" ".join(grid.header))
    key = squash(query, lexicon.fold).text
    rows = [row for row in grid.rows if rest & pieces_of(" ".join(row)) or _said(row[0], key, lexicon)]
    if value and len(rows) == 1 and not columns and _own_label(rows[0], asked):
        return _things(grid.header[1:], lexicon)
    few = len(grid.rows) <= MOST
    if few and not rows and len(rest) <= _MOST_OF_ITS_OWN and (columns or (first and value)):
        return _things([row[0] for row in grid.rows], lexicon)
    return ()


def _holds_values(query: str, grid: _Grid) -> bool:
    """Say whether a table holds values of the kind that is asked for: a price list tells no date."""
    words = words_of(language_of(query))
    cells = " ".join(cell for row in grid.rows for cell in row[1:]) + " ".join(grid.header)
    for name in ("dates", "durations"):
        if words.find(f"{name}_asked_patterns", query) and not words.find(f"{name}_told_patterns", cells):
            return False
    return True


def _grid(hit: Hit) -> _Grid | None:
    chunk = hit.stored.chunk
    if chunk.kind != "table":
        return None
    lines = [line.strip() for line in chunk.text.split("\n") if line.strip() and not _RULE_LINE.match(line)]
    cells = [tuple(_CELL.split(line.strip("|").strip())) for line in lines]
    top = next((n for n, row in enumerate(cells) if len(row) > 1), len(cells))
    header, rows = cells[top : top + 1], [row for row in cells[top + 1 :] if row[0] and len(row) > 1]
    if not header or len(rows) < 2:
        return None
    over = " ".join((hit.stored.title, *chunk.heading_path, *(" ".join(row) for row in cells[:top])))
    return _Grid(over, header[0], tuple(rows))


def _said(label: str, key: str, lexicon: Lexicon) -> bool:
    said = squash(label, lexicon.fold).text
    return bool(said) and said in key


def _own_label(row: tuple[str, ...], asked: set[str]) -> bool:
    return bool(asked & pieces_of(row[0]))


def _things(cells: Sequence[str], lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the cells as choices where the vocabulary knows at least half of them and none is a measure."""
    labels = [_BRACKETED.sub("", cell).strip() for cell in cells]
    zh = words_of("zh")
    known = [cell for cell in labels if any(m.surface == cell for m in mentions(cell, lexicon))]
    measures = [cell for cell in labels if zh.ends("measure_ends", cell)]
    alike = len({label[-1:] for label in labels}) == 1
    if alike and all(_NUMBERED.match(label) for label in labels):
        measures = []  # 一年级, 七年级
    if (
        not 2 <= len(set(labels)) == len(labels) <= MOST
        or measures
        or not (alike or len(known) * 2 >= len(labels))
    ):
        return ()
    return tuple(Choice(cell, Entity(cell, "name")) for cell in labels)


def _named_alike(query: str, grid: _Grid, lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the things of a table whose names hold the one word that the question names them by."""
    key = squash(query, lexicon.fold).text
    said = set(re.findall(r"[a-z]+|\d+", key))
    if any(
        _CJK.search(cell) and len(cell) > 1 and _said(cell, key, lexicon) for row in grid.rows for cell in row
    ):
        return ()
    for word in (run[:size] for run in content(query) for size in range(len(run), 1, -1) if _CJK.search(run)):
        if any(word in name for name in (*grid.header, grid.over)):
            continue
        for column in zip(*grid.rows, strict=False):
            found = [cell for cell in dict.fromkeys(column) if _holds(cell, word, lexicon)]
            marked = [
                cell
                for cell in found
                if said & set(re.findall(r"[a-z]+|\d+", squash(cell, lexicon.fold).text))
            ]
            if 2 <= len(found) <= MOST and not marked:
                return tuple(Choice(cell, Entity(cell, "name")) for cell in found)
    return ()


def _holds(cell: str, word: str, lexicon: Lexicon) -> bool:
    """Say whether a name is called by a word: it holds it, or the word is its abbreviation (电镜, 电子显微镜)."""
    name, said = squash(cell, lexicon.fold).text, squash(word, lexicon.fold).text
    if len(name) > _LONGEST_NAME or not _CJK.search(name):
        return False
    if said in name:
        return name != said and len(name) <= len(said) + _MARKED
    bare = re.sub(r"[a-z\d]+$", "", name)
    if language_of(word) == "en" or len(said) < _ABBREVIATION or bare[:1] + bare[-1:] != said[:1] + said[-1:]:
        return False
    rest = iter(name)
    return all(char in rest for char in said)


def pieces_of(text: str) -> set[str]:
    """Return what two texts have in common where they speak of one thing: pairs of characters, or words."""
    if language_of(text) == "en":
        return {word.lower().rstrip("s") for word in content(text)}
    runs = (re.sub(r"[^\u4e00-\u9fffA-Za-z0-9]+", "", run) for run in content(text))
    return {run[i : i + 2] for run in runs for i in range(len(run) - 1) if not _COUNTED.match(run[i : i + 2])}
