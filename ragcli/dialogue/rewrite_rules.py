"""Make a dependent question whole by rule: put in what it points at, carry on what it leaves out.

Two wordings come out where they differ: the resolved one names the thing, the topical one also carries the
questions of the chain; searching both is surer than choosing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ragcli.dialogue.exchange import CELLS, names_of, replaced
from ragcli.dialogue.gate import GateVerdict, near, pointer
from ragcli.dialogue.linking import Lexicon, Mention, mentions
from ragcli.dialogue.phrases import (
    blanked,
    blanked_names,
    linked,
    phrase,
    shortened,
    subject_of,
)
from ragcli.dialogue.referents import Referents, earlier, resolve
from ragcli.dialogue.state import DialogueState, Entity, Turn
from ragcli.dialogue.wording import ENDS, asks, content, joined, strip_fillers, without_preface
from ragcli.dialogue.words import Words, language_of, words_of

_DROPPED = frozenset(
    (
        "那",
        "那么",
        "换成",
        "如果换成",
        "还有",
        "另外",
        "然后",
        "and",
        "but",
        "what about",
        "how about",
        "then",
        "or",
    )
)
_FRAGMENT = 6
_OWN = 5
_WHOLE = 4
_BARE = re.compile(
    r"^(?:是|换成|那)|(?:的|那个|那台|那款|那种|(?:又|也)?(?:是|要)(?:多少|什么|怎样)|又?(?:怎么样|如何))$"
)
_EXCLUDED = re.compile(r"[,，]\s*(?:not (?:the )?[\w-]+|不是[^,，。]+)[.。]?$")
_SEVERAL = frozenset({"both", "compare", "which", "several"})


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the rules made of a question; `content` are the phrases of the chain that it belongs to.

    `separate` says that the queries ask of several things, one each. `sentence` is the question as a person
    would ask it whole, where a query is only a row of words; `leans` says that it still needs the one before it.
    """

    queries: tuple[str, ...]
    reason: str
    entities: tuple[Entity, ...]
    content: tuple[str, ...]
    relation: str = "same"
    separate: bool = False
    sentence: str = ""
    leans: bool = False


@dataclass(frozen=True, slots=True)
class _Parts:
    """A dependent question taken apart."""

    text: str
    named: tuple[Mention, ...]
    anchors: tuple[Mention, ...]
    words: Words

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(dict.fromkeys(mention.entity for mention in self.anchors))

    @property
    def spans(self) -> list[tuple[int, int]]:
        return [(mention.start, mention.end) for mention in self.anchors]


def rewrite(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict) -> Ruled:
    """Return the standalone queries for a question that the gate found dependent."""
    text = without_preface(strip_fillers(query).strip(ENDS))
    words = words_of(language_of(query))
    if verdict.kind == "return":
        return _returned(text, state, lexicon, words)
    if verdict.kind == "correction":
        text = re.sub("^.*(?:而是|[,，]\\s*是)", "", after_correction(text, words)) or text
    text = _EXCLUDED.sub("", text)
    parts = _parts(_headless(text, words), state, lexicon, words)
    if verdict.kind == "correction" and parts.anchors:
        meant = parts.text[parts.anchors[0].start :]  # 不对，我家那台是 330: what stands before takes back
        return _switched(_parts(meant, state, lexicon, words), state, lexicon)
    pointing = pointer(parts.text, parts.named)
    if parts.anchors and pointing and pointing.start() < parts.anchors[0].start and state.retrieval.focus:
        return _carried(parts, resolve(parts.text, state, lexicon, parts.named), state, lexicon)
    if parts.anchors:
        return _switched(parts, state, lexicon)
    ruled = _carried(parts, resolve(parts.text, state, lexicon, parts.named), state, lexicon)
    if verdict.kind == "correction" and ruled.reason != "exchange":
        return _other_side(parts.text, state, ruled)
    return ruled


def _other_side(text: str, state: DialogueState, ruled: Ruled) -> Ruled:
    """Correct what was asked of a thing: X 的预借上限, 不对，我问的是报销时限."""
    head, of, _ = (state.last.standalone if state.last else "").rpartition("的")
    if not of:
        return ruled
    whole = f"{head}的{text}"
    names = [entity.name for entity in ruled.entities if entity.name not in whole]
    return replace(ruled, queries=(joined([*names, whole]),), content=(whole,))


def _parts(text: str, state: DialogueState, lexicon: Lexicon, words: Words) -> _Parts:
    named = mentions(text, lexicon, near(state))
    return _Parts(text, named, tuple(mention for mention in named if mention.anchors), words)


def after_correction(text: str, words: Words) -> str:
    """Return what was meant: 330 of 不是，我说的是 330."""
    match = words.find("corrections", text)
    return text[match.end() :].strip(ENDS) if match else text


def _headless(text: str, words: Words) -> str:
    """Take off 那, 那么, 换成, and: they say that the question goes on."""
    lead = words.starts("continuations", text if words.language == "zh" else text.lower())
    counted = words.language == "zh" and lead == "那" and words.starts("measure_words", text[1:])
    rest = text[len(lead) :].lstrip(ENDS) if lead.lower() in _DROPPED and not counted else text
    return rest or text


def _switched(parts: _Parts, state: DialogueState, lexicon: Lexicon) -> Ruled:
    """Ask the same of another thing: 那 800 呢, or 500 也能这样."""
    entities = parts.entities
    own = content(blanked(parts.text, parts.spans))
    names = " ".join(entity.name for entity in entities)
    carried = _carry(state)
    if not own:
        swapped = _swapped(state.last, entities, lexicon)
        return Ruled(_distinct((swapped or names,)), "switch", entities, carried)
    said = phrase(parts.text, parts.spans)
    if len("".join(own)) >= _FRAGMENT or _asks_known(parts, entities):
        return Ruled((linked(parts.text, parts.named),), "switch", entities, (said,))
    queries = _distinct((joined([names, *carried, said]),))
    sentence = linked(parts.text, parts.named)
    return Ruled(queries, "switch", entities, _grown(carried, said), sentence=sentence, leans=bool(carried))


def _swapped(last: Turn | None, entities: tuple[Entity, ...], lexicon: Lexicon) -> str:
    """Put the new things in the old one's place in the last whole question, or before it where none was."""
    if not last:
        return ""
    names = " ".join(entity.name for entity in entities)
    kin = {other.name for entity in entities for other in (entity, *lexicon.siblings(entity))}
    old = [
        one.name
        for one in last.entities
        if one.name in last.standalone and (one.name in kin or _apart(one, entities))
    ]
    if not old:
        return f"{names} {last.standalone}"
    text = last.standalone.replace(old[0], names)
    for other in old[1:]:
        text = text.replace(other, "")
    return text


def _apart(old: Entity, entities: tuple[Entity, ...]) -> bool:
    """Say whether a thing and the new ones are documents of their own, and so take each other's place."""
    if old.kind == "topic" or not old.files:
        return old.kind == "quoted"
    return all(entity.kind == "name" and not set(entity.files) & set(old.files) for entity in entities)


def _carried(parts: _Parts, referents: Referents, state: DialogueState, lexicon: Lexicon) -> Ruled:
    """Ask something else of the same thing: 它多久换一次, 保养周期呢, 为什么."""
    text, words = parts.text, parts.words
    names = " ".join(entity.name for entity in referents.entities)
    span = referents.span or _pointing(text, words)
    own = content(blanked(text, [span] if span else []))
    one_of = bool(span) and text[: span[0] if span else 0].endswith(
        "的"
    )  # 出厂设的那级: of what was talked about
    carried = () if _asks_known(parts, referents.entities) and not one_of else _carry(state)
    if not own and referents.span and state.last:
        swapped = _swapped(state.last, referents.entities, lexicon)
        return Ruled(_distinct((swapped,)), referents.how, referents.entities, carried)
    if state.last and own and (not asks(text) or _BARE.search(text)):
        exchanged = _exchanged(parts, " ".join(own), referents, state, lexicon)
        if exchanged:
            return exchanged
    said = phrase(text, [span] if span else [])
    if len(referents.entities) > 1 and referents.how in _SEVERAL:
        return _for_each(referents, carried, own, said)
    topical = joined([names, *carried, said])
    resolved = _also_points(_point(text, names, span, words), names, state, words) if names else ""
    sentence = resolved or text
    queries: tuple[str, ...] = (topical if carried else resolved or topical,)
    entities = (*_cell_named(parts), *referents.entities) if not asks(text) else referents.entities
    if resolved and (words.language == "en" or len("".join(own)) >= _OWN):
        queries = (resolved, topical)
    how, leans = referents.how or "topic", bool(carried) and len("".join(own)) < _WHOLE
    return Ruled(_distinct(queries), how, entities, _grown(carried, said), sentence=sentence, leans=leans)


def _exchanged(
    parts: _Parts, part: str, referents: Referents, state: DialogueState, lexicon: Lexicon
) -> Ruled | None:
    """Put a fragment in its counterpart's place in the last whole question and in the chain."""
    last = state.last
    span = referents.span or _pointing(parts.text, parts.words)
    said = _BARE.sub("", phrase(parts.text, [span] if span else [])).strip()
    if last is None or not said:
        return None
    old = replaced(said, part, parts.text, last, lexicon)
    if not old:
        return None
    new = said if len(said) <= len(part) + 4 else part
    chain = tuple(one.replace(old, new) for one in _carry(state))
    added = tuple(one for one in _cell_named(parts) if one.name == said)
    kept = (replace(one, name=one.name.replace(old, new)) for one in referents.entities)
    entities = tuple(dict.fromkeys(kept))
    return Ruled((last.standalone.replace(old, new),), "exchange", (*added, *entities), chain)


def _cell_named(parts: _Parts) -> tuple[Entity, ...]:
    """Return the row or column that a fragment names, as a thing to go on about."""
    zh = words_of("zh")
    cells = [
        m.entity
        for m in parts.named
        if m.entity.kind in CELLS
        and len(m.entity.files) == 1
        and not zh.ends("measure_ends", m.surface)
        and not zh.find("relational", m.surface)
    ]
    return tuple(Entity(cell.name, "name", cell.files) for cell in cells[:1])


def _asks_known(parts: _Parts, entities: tuple[Entity, ...]) -> bool:
    """Say whether the question names a side of the thing by a term of the thing's own document."""
    files = {file for entity in entities for file in entity.files}
    if not files or (parts.words.language == "zh" and not asks(parts.text)):
        return False
    return any(files & set(m.entity.files) for m in parts.named if not m.anchors)


def _for_each(referents: Referents, carried: tuple[str, ...], own: tuple[str, ...], said: str) -> Ruled:
    """Ask of each thing on its own: a passage about one rarely tells of the other."""
    before = () if len("".join(own)) > 1 else carried
    queries = tuple(joined([entity.name, *before, said]) for entity in referents.entities)
    mark = "、" if language_of(said) == "zh" else ", "
    sentence = joined([mark.join(entity.name for entity in referents.entities), *before, said])
    return Ruled(
        _distinct(queries), referents.how, referents.entities, _grown(carried[:1], said), separate=True, sentence=sentence,
    )  # fmt: skip


def _pointing(text: str, words: Words) -> tuple[int, int] | None:
    for name in ("pronouns", "demonstratives"):
        match = words.find(name, text)
        if match and match.group().lower() not in ("so", "such"):
            return match.span()
    return None


def _point(text: str, names: str, span: tuple[int, int] | None, words: Words) -> str:
    """Put names in the place of the pointing word, or before a question without one."""
    if span and text[: span[0]].endswith("的"):
        span = None  # 最贵的那支: one of what was talked about, and not the thing itself
    if span:
        gap = " " if words.language == "zh" and names.isascii() else ""
        if names[-1:] == text[span[1] : span[1] + 1] and not names.isascii():
            span = (span[0], span[1] + 1)  # 那种证 is 少儿证, and not 少儿证证
        return (text[: span[0]] + f"{gap}{names}{gap}" + text[span[1] :]).strip()
    left_out = words.ends("ellipsis_ends", text) if words.language == "zh" else ""
    text = text.removesuffix(left_out)
    return f"{names} {text}" if words.language == "zh" else f"{text} {names}"


def _also_points(text: str, names: str, state: DialogueState, words: Words) -> str:
    """Put what was asked about last in the place of a second pointing word: 那种证能申请这个吗."""
    span = _pointing(text.replace(names, " " * len(names)), words)
    if words.language != "zh" or span is None or state.last is None:
        return text
    asked = subject_of(blanked_names(state.last.standalone, names_of(state.last)))
    return text[: span[0]] + asked + text[span[1] :] if asked else text


def _carry(state: DialogueState) -> tuple[str, ...]:
    """Return what the chain leaves to be understood: how it began, and the question before this one."""
    chain = tuple(shortened(said) for said in state.task.current.content)
    return chain if len(chain) <= 2 else (chain[0], chain[-1])


def _grown(carried: tuple[str, ...], said: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*carried, said))) if said else carried


def _returned(text: str, state: DialogueState, lexicon: Lexicon, words: Words) -> Ruled:
    """Go back to something said before: by name, or by what was said of it."""
    match = words.find("returns", text)
    rest = (text[: match.start()] + text[match.end() :]).strip(ENDS) if match else text
    parts = _parts(rest, state, lexicon, words)
    said = phrase(rest, parts.spans)
    if parts.anchors:
        return Ruled(_distinct((linked(rest, parts.named),)), "return", parts.entities, (said,), "return")
    own = [mention.entity for mention in parts.named if not lexicon.common(mention.entity)]
    if own and rest.startswith(parts.named[0].surface):
        return Ruled(_distinct((rest,)), "return", (replace(own[0], kind="name"),), (said,), "return")
    told = next((one for one in near(state) if rest.startswith(one.name) and len(rest) > len(one.name)), None)
    if told:
        return Ruled((rest,), "return", (told,), (said,), "return")
    turn = earlier(rest, state)
    if not turn:
        return Ruled((rest,), "return", (), (said,), "return")
    span = _pointing(rest, words)
    names = " ".join(entity.name for entity in turn.entities[:1])
    said = phrase(rest, [span] if span else [])
    carried = turn.content[:1]
    queries = (joined([names, *carried, said]),)
    return Ruled(_distinct(queries), "return", turn.entities[:1], _grown(carried, said), "return")


def _distinct(queries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query.strip(ENDS) for query in queries if query.strip(ENDS)))
