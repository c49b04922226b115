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
    gathered: _Gathered = {}
    for term in found:
        if squash(term.text):
            _gather(gathered, term)
    return tuple(entry.term() for entry in gathered.values())[:_MOST]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name in the making: its first spelling, and the other texts in order of appearance, each once."""

    first: Term
    aliases: dict[str, None]
    files: dict[str, None]
    members: dict[str, None]

    def term(self) -> Term:
        return replace(
            self.first, aliases=tuple(self.aliases), files=tuple(self.files), members=tuple(self.members)
        )


_Gathered = dict[tuple[str, str], _Entry]


def _gather(into: _Gathered, term: Term) -> None:
    """Put a name to the one of the same kind that is spelled alike."""
    entry = into.setdefault((squash(term.text) or term.text, term.kind), _Entry(term, {}, {}, {}))
    entry.aliases.update(
        dict.fromkeys(alias for alias in (term.text, *term.aliases) if alias != entry.first.text)
    )
    entry.files.update(dict.fromkeys(term.files))
    entry.members.update(dict.fromkeys(term.members))


def build_vocabulary(per_file: Mapping[str, Sequence[Term]], aliases: AliasTable) -> Vocabulary:
    """Join the names of all files, and put the user's aliases to the names that they belong to."""
    gathered: _Gathered = {}
    for file, terms in sorted(per_file.items()):
        for term in terms:
            _gather(gathered, replace(term, files=(file,)))
    if aliases.names:
        _add_aliases(gathered, aliases.names)
    return Vocabulary(tuple(entry.term() for entry in gathered.values()))


def _add_aliases(gathered: _Gathered, names: Sequence[Alias]) -> None:
    """Give each name its aliases; one that no document holds yet is new, and a class has its things as members."""
    spelled = [
        (entry, {squash(text) for text in (entry.first.text, *entry.aliases)}) for entry in gathered.values()
    ]
    kinds: dict[str, list[str]] = {}
    for text, kind in gathered:
        kinds.setdefault(text, []).append(kind)
    for alias in names:
        name = squash(alias.canonical)
        if not kinds.get(name):
            files = {
                file: None
                for entry, texts in spelled
                if any(name in text for text in texts)
                for file in entry.files
            }
            gathered[name, "name"] = _Entry(Term(alias.canonical, "name"), {}, files, {})
            kinds[name] = ["name"]
        for kind in ["name"] if "name" in kinds[name] else kinds[name]:
            gathered[name, kind].aliases.update(dict.fromkeys(alias.aliases))
        for owner in filter(None, (alias.is_a, alias.part_of)):
            whole = gathered.setdefault((squash(owner), "name"), _Entry(Term(owner, "name"), {}, {}, {}))
            kinds.setdefault(squash(owner), []).append("name")
            whole.members[alias.canonical] = None


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
