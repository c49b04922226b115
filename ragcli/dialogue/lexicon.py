"""The knowledge base's vocabulary, laid out for looking names up in what people say.

A name is more than its spelling: a numbered model has a stem and siblings (`XX-200`, `XX-300`), a title has
parts that people use for it, and rows of a table that are named alike (东店, 西店) are things and not sides of a
thing. All of it is worked out here once; finding mentions is `linking`'s business.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ragcli.datatypes import Term, Vocabulary
from ragcli.dialogue.editions import Family
from ragcli.dialogue.editions import families as families_of_editions
from ragcli.dialogue.state import Entity
from ragcli.dialogue.wording import Fold, squash
from ragcli.dialogue.words import words_of

_NUMBERED = re.compile(r"^([a-z]{2,}|.*?[^\d.])(\d{2,}|\d+[a-z]|(?<=[a-z]{2})\d)$")
_BRACKETED = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
_CJK = re.compile(r"[\u4e00-\u9fff]+")
_FEW_FILES = 3
_BARE = 4  # a name without its brackets must keep so much not to be a common word
_LONGEST_THING = 10
_MANY_TITLES = 200
_MANY_SPOKEN = 5000  # beyond it a vocabulary has a homophone for everything, and nothing is mended
_SURE = frozenset({"row", "defined"})  # a heading or a column is a thing only where a row says so
_PROMOTED = frozenset({"row", "heading", "defined", "column"})

Places = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The vocabulary, laid out for look-up; keys are folded and without blanks and hyphens."""

    terms: tuple[Term, ...]
    surfaces: Places
    titles: Places
    pieces: Places
    tails: Places
    families: Places
    families_of: Mapping[int, tuple[str, ...]]
    longest: int
    files: int
    fold: Fold
    original: frozenset[int] = frozenset()
    spoken: tuple[str, ...] = ()
    characters: frozenset[str] = frozenset()
    editions: tuple[Family, ...] = ()

    def entity(self, place: int) -> Entity:
        """Return a term as an entity."""
        term = self.terms[place]
        return Entity(term.text, term.kind, term.files)

    def siblings(self, entity: Entity) -> tuple[Entity, ...]:
        """Return the entities of the same stem, table or ending as this one, itself left out."""
        found: dict[str, Entity] = {}
        for place in self.surfaces.get(squash(entity.name, self.fold).text, ()):
            for family in self.families_of.get(place, ()):
                for other in self.families[family]:
                    found.setdefault(self.terms[other].text, self.entity(other))
        found.pop(entity.name, None)
        return tuple(found.values())

    def common(self, entity: Entity) -> bool:
        """Say whether so many files have a term that it names a side of things and no thing."""
        return len(entity.files) > max(_FEW_FILES, self.files // 100)

    def knows(self, text: str) -> bool:
        """Say whether the whole text is a name or a term of the base."""
        return squash(text, self.fold).text in self.surfaces


def build_lexicon(vocabulary: Vocabulary, fold: Fold) -> Lexicon:
    """Lay a vocabulary out for look-up."""
    terms = _things(vocabulary.terms)
    surfaces: dict[str, dict[int, None]] = defaultdict(dict)
    titles: dict[str, dict[int, None]] = defaultdict(dict)
    for place, term in enumerate(terms):
        for surface in (term.text, *_unbracketed(term), *term.aliases):
            key = squash(surface, fold).text
            if key and not key.isdigit() and (term.kind == "name" or len(key) > 1):
                surfaces[key][place] = None
            if term.kind == "name":
                titles[squash(_BRACKETED.sub("", surface), fold).text][place] = None
    tails, families = _kin(terms, surfaces, fold)
    of: dict[int, list[str]] = defaultdict(list)
    for family, members in families.items():
        for place in members:
            of[place].append(family)
    spoken = tuple(dict.fromkeys(run for term in terms for run in _CJK.findall(term.text) if len(run) > 1))
    if len(spoken) > _MANY_SPOKEN:
        spoken = ()
    return Lexicon(
        terms=terms,
        surfaces=_frozen(surfaces),
        titles=_frozen(titles),
        pieces=_pieces(vocabulary.terms, fold),
        tails=_frozen(tails),
        families=families,
        families_of={place: tuple(names) for place, names in of.items()},
        longest=max((len(key) for key in surfaces), default=0),
        files=len({file for term in terms for file in term.files}),
        fold=fold,
        original=frozenset(p for p, term in enumerate(vocabulary.terms) if term.kind == "name"),
        spoken=spoken,
        characters=frozenset(
            word[i : i + n] for word in spoken for n in range(2, 7) for i in range(len(word) - n + 1)
        ),
        editions=families_of_editions(vocabulary.terms),
    )


def _frozen(table: Mapping[str, Mapping[int, None]]) -> Places:
    return {key: tuple(places) for key, places in table.items()}


def _unbracketed(term: Term) -> tuple[str, ...]:
    bare = _BRACKETED.sub("", term.text)
    return (bare,) if term.kind == "name" and bare != term.text and len(bare) >= _BARE else ()


def _things(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Make names of rows and headings of one file that are named alike and measure nothing."""
    alike: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for term in terms:
        key = _likeness(term)
        if key:
            alike[(term.files[0], *key)].add(term.text)
    elsewhere = {(term.text, term.files[0]) for term in terms if term.kind in _SURE and len(term.files) == 1}
    out = []
    for term in terms:
        key = _likeness(term)
        kin = alike[(term.files[0], *key)] if key else set()
        sure = term.kind in _SURE or (key and (term.text, term.files[0]) in elsewhere)
        if len(kin) > 1 and (
            sure or (term.kind == "column" and words_of("zh").ends("class_ends", term.text))
        ):
            term = replace(term, kind="name", aliases=(*term.aliases, *_short(term.text, kin)), members=())
        out.append(term)
    return tuple(out)


def _likeness(term: Term) -> tuple[str, str] | None:
    """Return what a thing shares with its siblings: its kind of term, and its stem or its last character."""
    text = term.text.strip()
    if term.kind not in _PROMOTED or len(term.files) != 1 or not 2 <= len(text) <= _LONGEST_THING:
        return None
    numbered = _NUMBERED.match(text.replace(" ", ""))
    if numbered and _CJK.search(numbered.group(1)) and len(numbered.group(1)) > 1:
        return term.kind, numbered.group(1)
    if not _CJK.search(text[-1:]) or words_of("zh").ends("measure_ends", text) or re.match(r"第\s?\d", text):
        return None
    return term.kind, text[-1]


def _short(text: str, kin: Iterable[str]) -> tuple[str, ...]:
    """Return a thing's name without its class, or without what its siblings end in too, where enough is left."""
    ends = [end for end in words_of("zh").lists["class_ends"] if text.endswith(end)]
    shared = [text[at:] for at in range(1, len(text)) if sum(one.endswith(text[at:]) for one in kin) > 1]
    rests = [text.removesuffix(end).strip() for end in dict.fromkeys((*ends, *shared[:1]))]
    return tuple(rest for rest in rests if len(rest) > 1 and not rest.isdigit())


def _kin(
    terms: tuple[Term, ...], surfaces: Mapping[str, Mapping[int, None]], fold: Fold
) -> tuple[dict[str, dict[int, None]], Places]:
    """Return the names by their numbered tail, and the families of siblings."""
    tails: dict[str, dict[int, None]] = defaultdict(dict)
    families: dict[str, dict[int, None]] = defaultdict(dict)
    for place, term in enumerate(terms):
        key = squash(term.text, fold).text
        numbered = _NUMBERED.match(key)
        if term.kind == "name" and numbered:
            tails[numbered.group(2)][place] = None
            families["stem " + numbered.group(1)][place] = None
        elif (
            term.kind == "name"
            and len(term.files) == 1
            and len(key) <= _LONGEST_THING
            and _CJK.search(key[-1:])
        ):
            families[f"end {key[-1]} {term.files[0]}"][place] = None
        for member in term.members:
            for other in surfaces.get(squash(member, fold).text, ()):
                families[f"members {term.text}"][other] = None
    return tails, {key: tuple(places) for key, places in families.items() if len(places) > 1}


def _pieces(terms: Iterable[Term], fold: Fold) -> Places:
    """Return the parts of titles that people use for them: 图书馆, 咖啡机; two characters only at the start."""
    names = [(place, term) for place, term in enumerate(terms) if term.kind == "name"]
    least = 3 if len(names) <= _MANY_TITLES else 4
    out: dict[str, dict[int, None]] = defaultdict(dict)
    for place, term in names:
        for run in _CJK.findall(fold(_BRACKETED.sub(" ", term.text))):
            for start in range(len(run)):
                for size in range(2 if start == 0 and least == 3 else least, min(8, len(run) - start) + 1):
                    out[run[start : start + size]][place] = None
    return {piece: tuple(places) for piece, places in out.items() if len(places) <= _FEW_FILES}
