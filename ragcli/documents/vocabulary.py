"""The knowledge base's own vocabulary: what its documents name, with the user's aliases.

It is the white list of rewrites and the lexicon of the focus stack. Names are mined a document at a time, so that a
changed file changes only its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ragcli.datatypes import Document, Term, Vocabulary
from ragcli.documents import names
from ragcli.documents.normalise import squash
from ragcli.errors import UsageError

_MOST = 2000


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of the user's: the canonical one, what else it is called, and what it belongs to."""

    canonical: str
    aliases: tuple[str, ...] = ()
    is_a: str = ""
    part_of: str = ""


@dataclass(frozen=True, slots=True)
class AliasTable:
    """The user's names; `ambiguous` maps an alias to the several names that it was given to."""

    names: tuple[Alias, ...] = ()
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def mine_terms(document: Document) -> tuple[Term, ...]:
    """Return the names that a document uses, each once for its kind, in order of appearance of the kinds."""
    found = chain(
        names.titles(document),
        names.models(document),
        names.defined(document),
        names.headings(document),
        names.tables(document),
        names.parts(document),
        names.units(document),
    )
    return tuple(_merged((term for term in found if squash(term.text)), {}).values())[:_MOST]


def _merged(terms: Any, into: dict[tuple[str, str], Term]) -> dict[tuple[str, str], Term]:
    for term in terms:
        key = (squash(term.text) or term.text, term.kind)
        known = into.get(key)
        if known is None:
            into[key] = term
            continue
        into[key] = replace(
            known,
            aliases=_union(
                known.aliases, tuple(alias for alias in (term.text, *term.aliases) if alias != known.text)
            ),
            files=_union(known.files, term.files),
            members=_union(known.members, term.members),
        )
    return into


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def build_vocabulary(per_file: Mapping[str, Sequence[Term]], aliases: AliasTable) -> Vocabulary:
    """Join the names of all files, and put the user's aliases to the names that they belong to."""
    merged: dict[tuple[str, str], Term] = {}
    for file, terms in sorted(per_file.items()):
        _merged((replace(term, files=(file,)) for term in terms), merged)
    for alias in aliases.names:
        _add_alias(merged, alias)
    return Vocabulary(tuple(merged.values()))


def _add_alias(merged: dict[tuple[str, str], Term], alias: Alias) -> None:
    """Give a name its aliases; a name that no document holds yet is new, and a class has its things as members."""
    keys = [key for key in merged if key[0] == squash(alias.canonical)]
    named = [key for key in keys if key[1] == "name"] or keys
    if not named:
        files = tuple(
            dict.fromkeys(
                file
                for term in merged.values()
                if any(squash(alias.canonical) in squash(text) for text in (term.text, *term.aliases))
                for file in term.files
            )
        )
        merged[squash(alias.canonical), "name"] = Term(alias.canonical, "name", alias.aliases, files)
    for key in named:
        merged[key] = replace(merged[key], aliases=_union(merged[key].aliases, alias.aliases))
    for owner in (alias.is_a, alias.part_of):
        if owner:
            key = (squash(owner), "name")
            whole = merged.get(key, Term(owner, "name"))
            merged[key] = replace(whole, members=_union(whole.members, (alias.canonical,)))


def read_aliases(toml_text: str) -> AliasTable:
    """Read the user's table of names: [[name]] with canonical, aliases, and optionally is_a and part_of.

    >>> table = read_aliases('[[name]]\\ncanonical = "DH-60"\\naliases = ["大机"]')
    >>> table.names[0].aliases
    ('大机',)

    Raises:
        UsageError: `bad_aliases`, with the entry's number and what is wrong.

    """
    try:
        data = tomllib.loads(toml_text)
    except tomllib.TOMLDecodeError as err:
        raise UsageError("bad_aliases", number=0, reason=str(err)) from err
    unknown = set(data) - {"name"}
    if unknown or not isinstance(data.get("name", []), list):
        raise UsageError("bad_aliases", number=0, reason=", ".join(sorted(unknown)) or "name")
    entries = tuple(_alias(number, row) for number, row in enumerate(data.get("name", []), 1))
    owners: dict[str, list[str]] = {}
    for entry in entries:
        for alias in dict.fromkeys(map(squash, entry.aliases)):
            owners.setdefault(alias, []).append(entry.canonical)
    several = {alias: tuple(dict.fromkeys(names)) for alias, names in owners.items()}
    spelled = {squash(alias): alias for entry in entries for alias in entry.aliases}
    return AliasTable(entries, {spelled[key]: who for key, who in several.items() if len(who) > 1})


def _alias(number: int, row: Any) -> Alias:
    if not isinstance(row, dict):
        raise UsageError("bad_aliases", number=number, reason="canonical, aliases")
    wrong = set(row) - {"canonical", "aliases", "is_a", "part_of"}
    texts = [row.get("canonical"), row.get("is_a", ""), row.get("part_of", "")]
    listed = row.get("aliases", [])
    if wrong or not all(isinstance(text, str) for text in texts) or not texts[0]:
        raise UsageError("bad_aliases", number=number, reason=", ".join(sorted(wrong)) or "canonical")
    if not isinstance(listed, list) or not all(isinstance(alias, str) and alias.strip() for alias in listed):
        raise UsageError("bad_aliases", number=number, reason="aliases")
    return Alias(str(texts[0]), tuple(listed), str(texts[1]), str(texts[2]))
