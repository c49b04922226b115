"""Find the knowledge base's own names in what people say, and the siblings that a name can be taken for.

A mention is a place in the text; it links to one canonical entity, or to several where the name alone
doesn't decide. Names are compared folded and without blanks and hyphens: `js500` is `JS-500`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragcli.dialogue.lexicon import Lexicon, build_lexicon
from ragcli.dialogue.state import Entity
from ragcli.dialogue.wording import quotations, squash

_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9-]*\d)(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z]{1,6}-?\d[A-Za-z0-9-]*"
)
_UNITS = "元块角分天日号月年岁点小时秒周次级层栋幢楼平米米升克度人个杯本册张页条档位期寸瓦伏安兆折倍支台%％℃"
_BEFORE_NUMBER = re.compile(r"[A-Za-z\d.]$")
_AFTER_NUMBER = re.compile(rf"^(?:[A-Za-z\d:/]|\.\d|\s*[{_UNITS}])")
_ALONE = re.compile(r"(?:the |那)?\s*\d+\s*(?:的|呢|号|one)?[?？]?")
_COUNTED = re.compile(r"[\d一二两三四五六七八九十百千万几半]个?$")
_UNIT = 2
_LONGEST_QUOTED = 40
_LONGEST_PIECE = 8
_BRACKETED = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
__all__ = ["ANCHORS", "Lexicon", "Mention", "build_lexicon", "mentions"]

ANCHORS = frozenset({"name", "quoted", "code", "topic"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the text, and what it may name (the first is the likeliest)."""

    start: int
    end: int
    surface: str
    entities: tuple[Entity, ...]

    @property
    def entity(self) -> Entity:
        """The likeliest entity."""
        return self.entities[0]

    @property
    def anchors(self) -> bool:
        """Whether the mention says which thing is meant, not just which side of it."""
        return self.entity.kind in ANCHORS


def mentions(text: str, lexicon: Lexicon, near: tuple[Entity, ...] = ()) -> tuple[Mention, ...]:
    """Return what the text names, in order, not overlapping.

    `near` are the entities that the conversation is about, newest first: they decide between equals and
    let a bare number stand for a sibling.
    """
    known = _known(text, lexicon, near)
    things = [mention for mention in known if mention.anchors] + _titled(text, lexicon)
    found = [
        *_quoted(text, lexicon, near),
        *sorted(things, key=lambda mention: mention.start - mention.end),
        *_codes(text, lexicon),
        *_numbers(text, lexicon, near),
        *(mention for mention in known if not mention.anchors),
    ]
    taken: list[Mention] = []
    for mention in found:
        if not any(mention.start < other.end and other.start < mention.end for other in taken):
            taken.append(mention)
    return tuple(sorted(taken, key=lambda mention: mention.start))


def _known(text: str, lexicon: Lexicon, near: tuple[Entity, ...]) -> list[Mention]:
    squashed = squash(text, lexicon.fold)
    out: list[Mention] = []
    at = 0
    while at < len(squashed.text):
        length = next(
            (
                size
                for size in range(min(lexicon.longest, len(squashed.text) - at), 0, -1)
                if squashed.text[at : at + size] in lexicon.surfaces
                and _whole(text, squashed.origin, at, size)
            ),
            0,
        )
        if not length or (length <= _UNIT and _COUNTED.search(squashed.text[:at])):
            at += 1
            continue
        places = lexicon.surfaces[squashed.text[at : at + length]]
        start, end = squashed.origin[at], squashed.origin[at + length - 1] + 1
        entities = _ranked((lexicon.entity(place) for place in places), near)
        out.append(Mention(start, end, text[start:end], entities))
        at += length
    return sorted(out, key=lambda mention: mention.start - mention.end)


def _titled(text: str, lexicon: Lexicon) -> list[Mention]:
    """Find parts of titles that stand for their documents: 图书馆, 咖啡机."""
    squashed = squash(text, lexicon.fold)
    out: list[Mention] = []
    at = 0
    while at < len(squashed.text):
        most = min(_LONGEST_PIECE, len(squashed.text) - at)
        size = next((n for n in range(most, 1, -1) if squashed.text[at : at + n] in lexicon.pieces), 0)
        if size and _COUNTED.search(squashed.text[:at]):
            size = 0  # 两小时: a measure, and no part of 小时包
        if size:
            piece = squashed.text[at : at + size]
            files = tuple(dict.fromkeys(f for p in lexicon.pieces[piece] for f in lexicon.terms[p].files))
            start, end = squashed.origin[at], squashed.origin[at + size - 1] + 1
            out.append(Mention(start, end, text[start:end], (Entity(text[start:end], "name", files),)))
        at += size or 1
    return _merged(text, out)


def _merged(text: str, found: list[Mention]) -> list[Mention]:
    """Make one of neighbouring parts of one title: 晨露 and 咖啡机."""
    out: list[Mention] = []
    for mention in found:
        last = out[-1] if out else None
        if (
            last
            and not text[last.end : mention.start].strip()
            and set(mention.entity.files) & set(last.entity.files)
        ):
            files = tuple(file for file in last.entity.files if file in mention.entity.files)
            surface = text[last.start : mention.end]
            out[-1] = Mention(last.start, mention.end, surface, (Entity(surface, "name", files),))
        else:
            out.append(mention)
    return out


def _whole(text: str, origin: tuple[int, ...], at: int, size: int) -> bool:
    """Say whether a match isn't cut out of a longer Latin word or number."""
    start, end = origin[at], origin[at + size - 1] + 1
    for inner, outer in ((text[start], text[start - 1 : start]), (text[end - 1], text[end : end + 1])):
        if inner.isascii() and inner.isalnum() and outer.isascii() and outer.isalnum():
            both_digits = inner.isdigit() and outer.isdigit()
            both_letters = inner.isalpha() and outer.isalpha()
            if both_digits or both_letters or (outer.isalpha() and inner.isdigit()):
                return False
    return True


def _same_end(one: str, other: str) -> int:
    """Return how many last characters two names share: 单馆年卡 is nearer to 通用年卡 than 单馆季卡."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _ranked(entities: Iterable[Entity], near: tuple[Entity, ...]) -> tuple[Entity, ...]:
    names = [entity.name for entity in near]
    files = {file for entity in near[:1] for file in entity.files}

    def rank(entity: Entity) -> tuple[int, int, int, int]:
        named = names.index(entity.name) if entity.name in names else len(names)
        shared = _same_end(entity.name, names[0]) if names else 0
        return (named, -shared, not files & set(entity.files), entity.kind not in ANCHORS)

    return tuple(sorted(entities, key=rank))


def _quoted(text: str, lexicon: Lexicon, near: tuple[Entity, ...]) -> list[Mention]:
    out = []
    for start, end in quotations(text):
        name = text[start + 1 : end - 1].strip()
        places = lexicon.titles.get(squash(_BRACKETED.sub("", name), lexicon.fold).text, ())
        known = _ranked((lexicon.entity(place) for place in places), near)
        short = end - start <= _LONGEST_QUOTED and (text[start] == "《" or len(name.split()) <= 4)
        if known or short:
            out.append(Mention(start, end, text[start:end], known or (Entity(name, "quoted"),)))
    return out


def _codes(text: str, lexicon: Lexicon) -> list[Mention]:
    """Take codes and model numbers as names even where the base doesn't know them: E07, V500-07."""
    out = []
    for match in _CODE.finditer(text):
        places = lexicon.surfaces.get(squash(match.group(), lexicon.fold).text, ())
        files = tuple(dict.fromkeys(file for place in places for file in lexicon.terms[place].files))
        out.append(Mention(*match.span(), match.group(), (Entity(match.group(), "code", files),)))
    return out


def _numbers(text: str, lexicon: Lexicon, near: tuple[Entity, ...]) -> list[Mention]:
    """Read a bare number as a sibling of what was talked about, or as the only name with that number."""
    out = []
    names = {entity.name for entity in near}
    alone = _ALONE.fullmatch(text.strip())
    for match in re.finditer(r"\d+" if alone else r"\d{2,}|\d+[A-Za-z](?![A-Za-z])", text):
        if _BEFORE_NUMBER.search(text[: match.start()]) or _AFTER_NUMBER.match(text[match.end() :]):
            continue
        places = lexicon.tails.get(lexicon.fold(match.group()), ())
        entities = [lexicon.entity(place) for place in places]
        kin = [e for e in entities if _kin(e, near, names, lexicon)]
        if kin or len(entities) == 1:
            out.append(Mention(*match.span(), match.group(), tuple(kin or entities)))
    return out


def _kin(entity: Entity, near: tuple[Entity, ...], names: set[str], lexicon: Lexicon) -> bool:
    beside = {file for one in near for file in one.files}
    related = {entity.name, *(sibling.name for sibling in lexicon.siblings(entity))}
    return bool(names & related) or bool(beside & set(entity.files))
