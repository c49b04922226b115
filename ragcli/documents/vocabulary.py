"""The names that a file itself uses: models and products, defined terms, headings, table rows and columns."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragcli.datatypes import Document, Term, Vocabulary
from ragcli.documents.normalise import squash
from ragcli.errors import UsageError

_MODEL = re.compile(r"(?<![A-Za-z0-9-])[A-Z][A-Za-z]{0,4}-?\d{1,4}[A-Za-z]?(?![A-Za-z0-9-])")
_DEFINED = re.compile(r"以下(?:分别)?简称((?:[“\"「][^”\"」]{1,20}[”\"」][、和及]?)+)")
_QUOTED = re.compile(r"[“\"「]([^”\"」]{1,20})[”\"」]")
_NUMBERING = re.compile(r"^(第.{1,6}?[编卷部篇章回节条]|附录\s?\w?|附件\s?\w?|[一二三四五六七八九十]+、|[（(].{1,3}[）)]|\d+(\.\d+)*[.、]?|Appendix\s\w)[\s　:：]*")
_KIND = re.compile(r"(使用说明书|说明书|用户手册|收费手册|手册|管理办法|规则|规约|通告|报告|问答|指南|User Manual|Manual|Guide)$")
_CELL = re.compile(r"\s*[|｜]\s*|\t+|[ 　]{2,}")


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of the user's: what it stands for, and what belongs to it."""

    canonical: str
    aliases: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AliasTable:
    """The user's own names."""

    names: tuple[Alias, ...] = ()


def mine_terms(document: Document) -> tuple[Term, ...]:
    """Return the names that a document uses, each once a kind."""
    found: dict[tuple[str, str], Term] = {}

    def add(text: str, kind: str) -> None:
        text = text.strip(" 　【】《》")
        if 2 <= len(text) <= 24 and not text.isdigit():
            found.setdefault((text, kind), Term(text, kind))  # type: ignore[arg-type]

    title = document.title.text if document.title else ""
    for match in _MODEL.findall(title):
        add(match, "name")
    add(_KIND.sub("", _NUMBERING.sub("", title)).strip(), "name")
    for text, times in Counter(_MODEL.findall(document.text)).items():
        if times >= 3:
            add(text, "name")
    for definition in _DEFINED.findall(document.text):
        for text in _QUOTED.findall(definition):
            add(text, "defined")
    for heading in document.headings:
        add(_NUMBERING.sub("", heading.text), "heading")
    lines = document.text.split("\n")
    for table in document.tables:
        rows = [_cells(line) for line in lines[table.first_line - 1 : table.last_line]]
        for cell in rows[0]:
            add(cell, "column")
        for row in rows[table.header_lines :]:
            if row:
                add(row[0], "row")
    return tuple(found.values())


def build_vocabulary(per_file: Mapping[str, Sequence[Term]], aliases: AliasTable) -> Vocabulary:
    """Return the names of all files, each with the files that use it, and the user's aliases."""
    merged: dict[tuple[str, str], Term] = {}
    for file, terms in per_file.items():
        for term in terms:
            key = (squash(term.text), term.kind)
            known = merged.get(key, replace(term, files=()))
            spellings = tuple(dict.fromkeys([*known.aliases, *([term.text] if term.text != known.text else [])]))
            merged[key] = replace(known, files=tuple(dict.fromkeys([*known.files, file])), aliases=spellings)
    for name in aliases.names:
        key = (squash(name.canonical), "name")
        known = merged.get(key, Term(name.canonical, "name"))
        merged[key] = replace(known, text=name.canonical, aliases=(*known.aliases, *name.aliases), members=name.members)
    return Vocabulary(tuple(merged.values()))


def read_aliases(toml_text: str) -> AliasTable:
    """Return the table of an `aliases.toml`."""
    try:
        raw = tomllib.loads(toml_text)
    except tomllib.TOMLDecodeError as err:
        raise UsageError("bad_toml", path="aliases.toml", reason=str(err)) from err
    rows = raw.get("name", [])
    return AliasTable(
        tuple(Alias(row["canonical"], tuple(row.get("aliases", ())), tuple(row.get("members", ()))) for row in rows)
    )


def _cells(line: str) -> list[str]:
    cells = [cell for cell in _CELL.split(line.strip().strip("|｜")) if cell.strip()]
    return [] if all(set(cell) <= set("-:+= ") for cell in cells) else cells
