"""The names that one document uses: products, defined terms, headings, units, parts, rows and columns of tables.

Found by form and place, without a dictionary; nothing is asked of a model.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ragcli.datatypes import Document, Table, Term
from ragcli.documents.families import by_first_character

_MODEL = re.compile(
    r"(?<![A-Za-z0-9.-])[A-Z]{1,6}[A-Za-z]?(?:[-－‐]| ?)\d{1,5}[A-Za-z]{0,3}(?![A-Za-z0-9]|\.\d|-[A-Za-z0-9])"
)
_WIDE = str.maketrans({0xFF01 + n: 0x21 + n for n in range(94)})
_QUOTED = r"[“\"「『‘]([^”\"」』’“「]{2,20})[”\"」』’]"
_LEADS = re.compile(r"(?:以下|上述|[（(])?(?:分别|均|统)?$")
_FURTHER = re.compile(_QUOTED)
_CELL = re.compile(r"\s*[|│┃║]\s*|\t+|[ \u3000]{2,}")
_COUNTED = re.compile(
    r"(?:^|[、，：:。；])\s*([\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9 -]{1,11}?) ?[1-9]\d? ?([MEASURES])(?![\u4e00-\u9fff])"
)
_MOST = 400  # of each kind in one document


@cache
def words() -> Mapping[str, Any]:
    """Return how texts name things, as it stands in the data file."""
    return tomllib.loads(files("ragcli.documents").joinpath("data/naming.toml").read_text("utf-8"))


def titles(document: Document) -> Iterator[Term]:
    """Yield what the document is about, by its title, with the title's shorter form."""
    if not document.title:
        return
    text = re.sub(r"\s+", " ", document.title.text).strip(" 《》<>*=")
    short = text
    for ending in (*words()["zh"]["document"], *words()["en"]["document"]):
        if short.lower().endswith(ending) and len(short) > len(ending) + 1:
            short = short[: -len(ending)].rstrip(" ：:,，-—关于的之")
            break
    if 2 <= len(text) <= 90:
        yield Term(text, "name", (short,) if short != text and len(short) > 1 else ())


def models(document: Document) -> Iterator[Term]:
    """Yield model numbers: letters and digits that come often, or in the title or a heading."""
    text = (
        document.text.translate(_WIDE)
        if any("\uff21" <= char <= "\uff3a" for char in document.text[:100000])
        else document.text
    )
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for match in _MODEL.finditer(text):
        name = match.group()
        prefix = re.match("[A-Za-z]+", name)
        if prefix and prefix.group().upper() in words()["not_names"]["prefixes"]:
            continue
        key = re.sub(r"[\s－‐-]", "", name).upper()
        counts[key] += 1
        if key not in spelled or ("-" in name and "-" not in spelled[key]):
            spelled[key] = name
    heads = " ".join(heading.text for heading in document.headings) + (
        document.title.text if document.title else ""
    )
    heads = re.sub(r"[\s－‐-]", "", heads.translate(_WIDE)).upper()
    rows = {
        re.sub(r"[\s－‐-]", "", cell).upper()
        for table in document.tables
        for cell in first_cells(document, table)
    }
    for key, times in counts.most_common(_MOST):
        if key in heads or (times >= 3 and key not in rows):
            yield Term(spelled[key], "name")


def defined(document: Document) -> Iterator[Term]:
    """Yield the terms that the text defines: 以下简称“…”, “…”指, (the “…”)."""
    called, means = words()["zh"]["called"], words()["zh"]["means"]
    short = re.compile(rf"([^\s，。；：、“”（）()]{{2,20}})?[（(，]?(?:{called})[:：]?\s?{_QUOTED}")
    for match in short.finditer(document.text):
        name, long = match[2], _LEADS.sub("", match[1] or "")
        if name[0] not in "本该此":
            yield Term(name, "defined", (long,) if 2 <= len(long) <= 16 and long != name else ())
        for further in _FURTHER.finditer(document.text, match.end(), match.end() + 80):
            if document.text[match.end() : further.start()].strip("、和及“”") == "":
                yield Term(further[1], "defined")
    for match in re.finditer(
        rf"{_QUOTED}(?:{means})|(?:hereinafter|referred to as|\(the) {_QUOTED}", document.text
    ):
        yield Term(match[1] or match[2], "defined")


def headings(document: Document) -> Iterator[Term]:
    """Yield the titles of the headings, without their numbers."""
    for heading in document.headings[: _MOST * 5]:
        title = without_number(heading.text)
        if 2 <= len(title) <= 40:
            yield Term(title, "heading")


def without_number(text: str) -> str:
    """Return a heading's title without its number and brackets.

    >>> [without_number(x) for x in ("第一章 总则", "1.2 接线", "（一）收费", "【总则】", "Chapter IV: Storage")]
    ['总则', '接线', '收费', '总则', 'Storage']
    """
    plain = text.strip()
    for family in by_first_character().get(plain[:1], ()):
        match = family.pattern.fullmatch(plain)
        if match:
            found = match.groupdict()
            return (found.get("t") or found.get("t2") or "").strip() or plain
    return plain


def first_cells(document: Document, table: Table) -> list[str]:
    """Return what stands in the first column of a table, header aside."""
    return [cells[0] for cells in rows_of(document, table)[1:] if cells]


def rows_of(document: Document, table: Table) -> list[list[str]]:
    """Return a table's cells; rules and frames aside. The first row names the columns."""
    lines = document.text.split("\n")[table.first_line - 1 : table.last_line]
    found = []
    for line in lines:
        cells = [cell.strip() for cell in _CELL.split(line.strip(" \t|│┃║"))]
        if any(char.isalnum() for cell in cells for char in cell):
            found.append(cells)
    return found


def tables(document: Document) -> Iterator[Term]:
    """Yield the names of columns and rows; the first column's name has its rows as members."""
    lines = document.text.split("\n")
    for table in document.tables[:_MOST]:
        part = Document("\n".join(lines[table.first_line - 1 : table.last_line]), "", None, (), (), (), ())
        rows = rows_of(part, Table(1, table.last_line - table.first_line + 1, table.header_lines))
        if not rows or not table.header_lines:
            continue
        names = list(dict.fromkeys(cell[0] for cell in rows[1:] if cell and _is_name(cell[0])))[:_MOST]
        for number, column in enumerate(rows[0]):
            if _is_name(column):
                yield Term(column, "column", members=tuple(names) if number == 0 else ())
        yield from (Term(name, "row") for name in names)


def _is_name(text: str) -> bool:
    return 2 <= len(text) <= 24 and any(char.isalpha() for char in text) and text[-1] not in "。；，"


def units(document: Document) -> Iterator[Term]:
    """Yield the units that stand behind numbers in this text."""
    names = sorted(words()["units"]["names"], key=len, reverse=True)
    pattern = re.compile(r"\d ?(" + "|".join(map(re.escape, names)) + r")(?![A-Za-z])")
    counts = Counter(match[1] for match in pattern.finditer(document.text))
    yield from (Term(name, "unit") for name, times in counts.items() if times >= 2)


def parts(document: Document) -> Iterator[Term]:
    """Yield the parts that are listed with their number under a heading about parts."""
    pattern = re.compile(_COUNTED.pattern.replace("MEASURES", words()["zh"]["measures"]))
    for chunk in document.chunks:
        if chunk.heading_path and any(word in chunk.heading_path[-1] for word in words()["zh"]["listing"]):
            for match in pattern.finditer(chunk.body):
                name = re.sub(r"^(?:包装内有|随机附件包括|包括|另有|含)", "", match[1]).strip()
                if len(name) > 1:
                    yield Term(name, "part")
