"""Which of the things talked about a question means.

Everything here is a ranking of what the state holds; where nothing ranks, the answer is empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.dialogue.gate import near
from ragcli.dialogue.linking import Lexicon, Mention
from ragcli.dialogue.state import DialogueState, Entity, Turn
from ragcli.dialogue.wording import content
from ragcli.dialogue.words import language_of, words_of


@dataclass(frozen=True, slots=True)
class Referents:
    """The entities that a question means, the words that pointed at them, and how they were found."""

    entities: tuple[Entity, ...] = ()
    span: tuple[int, int] | None = None
    how: str = ""
    turn: Turn | None = None


def resolve(text: str, state: DialogueState, lexicon: Lexicon, named: tuple[Mention, ...]) -> Referents:
    """Return what the pointing words of `text` mean: ordinals, both, the other one, else the focus."""
    words = words_of(language_of(text))
    order = in_order(state)
    for name, place in (("first_words", 0), ("second_words", 1), ("third_words", 2), ("last_words", -1)):
        match = words.find(name, text)
        if match and _in_reach(order, place):
            return Referents((order[place],), match.span(), name)
    together = _together(text, order, state, lexicon, bool(named))
    if together:
        return together
    sized = _sized(text, state, lexicon)
    if sized:
        return sized
    match = words.find("other_words", text)
    if match:
        other = _other(state, lexicon)
        if other:
            return Referents((other,), match.span(), "other")
    person = _person(text, state)
    several = _several(state, lexicon)
    if several and not person and not words.find("pronouns", text):
        return Referents(several, None, "several")
    best = person or fitting(state, named)
    return Referents(_with_companions(best, state, lexicon), None, "focus") if best else Referents()


def _together(
    text: str, order: tuple[Entity, ...], state: DialogueState, lexicon: Lexicon, named: bool
) -> Referents | None:
    """Return several things where a question asks which of them, compares them, or asks of each."""
    words = words_of(language_of(text))
    focus = near(state)
    if words.find("which_words", text) and focus and lexicon.siblings(focus[0]):
        return Referents((focus[0], *lexicon.siblings(focus[0]))[:4], None, "which")
    if words.language == "zh" and words.find("compare_words", text) and len(order) >= 2 and not named:
        return Referents(order[-2:], None, "compare")
    match = words.find("both_words", text)
    if match and len(order) >= 2 and not words.starts("units", text[match.end() :]):
        return Referents(order[-3:] if len(order) == 3 else order[-2:], match.span(), "both")
    kin = _kin_in_focus(focus, lexicon)
    if words.find("each_words", text) and len(kin) > 1:
        return Referents(kin, None, "several")
    return None


def _several(state: DialogueState, lexicon: Lexicon) -> tuple[Entity, ...]:
    """Return the siblings that the last turn was about together: what follows is asked of each."""
    last = state.last
    if last is None or len(last.entities) < 2:
        return ()
    kin = {other.name for other in lexicon.siblings(last.entities[0])}
    return last.entities if all(entity.name in kin for entity in last.entities[1:]) else ()


def _kin_in_focus(focus: tuple[Entity, ...], lexicon: Lexicon) -> tuple[Entity, ...]:
    """Return the thing talked about last and its siblings that were talked about, too, oldest first."""
    kin = {other.name for other in lexicon.siblings(focus[0])} if focus else set()
    return tuple(reversed([one for one in focus if one == focus[0] or one.name in kin]))


def _with_companions(best: Entity, state: DialogueState, lexicon: Lexicon) -> tuple[Entity, ...]:
    """Return a thing with what was named together with it in one document: the house and its shop."""
    focus = {focus.entity.name: focus for focus in state.retrieval.focus}
    turn = focus[best.name].turn if best.name in focus else 0
    kin = {other.name for other in lexicon.siblings(best)}
    beside = [
        one.entity
        for one in state.retrieval.focus
        if one.turn == turn and one.by == "user" and one.entity.name not in kin and one.entity != best
        and set(one.entity.files) & set(best.files)
    ]  # fmt: skip
    return (best, *beside[:1])


def _in_reach(order: tuple[Entity, ...], place: int) -> bool:
    return len(order) >= 2 and -len(order) <= place < len(order)


def in_order(state: DialogueState) -> tuple[Entity, ...]:
    """Return the alternatives in the order in which they were named.

    The last turn that named several, else the last two entities of one kind over several turns.
    """
    for turn in reversed(state.context.turns[-4:]):
        if len(turn.entities) >= 2:
            return turn.entities
    focus = near(state)
    if not focus:
        return ()
    alike = [entity for entity in focus if entity.kind == focus[0].kind]
    return tuple(reversed(alike[:2]))


def _sized(text: str, state: DialogueState, lexicon: Lexicon) -> Referents | None:
    for thing in near(state):
        found = sized(text, (thing, *lexicon.siblings(thing)))
        if found:
            return found
    return None


def sized(text: str, family: Sequence[Entity]) -> Referents | None:
    """Return the bigger or smaller of numbered things (大的, the smaller one) where a text asks for that."""
    words = words_of(language_of(text))
    ordered = sorted(family, key=_number)
    if len(ordered) < 2 or len({_number(one) for one in ordered}) < len(ordered):
        return None
    for name, place in (("smaller_words", 0), ("bigger_words", -1)):
        match = words.find(name, text)
        if match:
            return Referents((ordered[place],), match.span(), name)
    return None


def _number(entity: Entity) -> float:
    found = re.findall(r"\d+", entity.name)
    return float(found[-1]) if found else 0.0


def _other(state: DialogueState, lexicon: Lexicon) -> Entity | None:
    focus = near(state)
    if not focus:
        return None
    kin = lexicon.siblings(focus[0])
    said = [entity for entity in focus[1:] if entity.name in {one.name for one in kin}]
    if said:
        return said[0]
    return kin[0] if len(kin) == 1 else (focus[1] if len(focus) > 1 else None)


def _person(text: str, state: DialogueState) -> Entity | None:
    """Return whom 他 or 她 means: somebody whom the last answer named, rather than the thing asked about."""
    words = words_of(language_of(text))
    if not words.find("persons", text):
        return None
    focus = state.retrieval.focus
    named = [f.entity for f in focus[:2] if f.by == "assistant" and f.turn == state.turn]
    maybe = [entity for entity in (*named, *(f.entity for f in focus)) if _may_be_a_person(entity)]
    return maybe[0] if maybe else None


def _may_be_a_person(entity: Entity) -> bool:
    """Say whether a thing may be meant by 他 or she, as far as its name tells: a work, a model or a place isn't."""
    name, _, called = entity.name.partition("（")
    words = words_of(language_of(name))
    if called:
        return not words.find("works", called)
    if entity.kind == "quoted" or re.search(r"\d", name):
        return False
    return not words.ends("things", name)


def fitting(state: DialogueState, named: tuple[Mention, ...]) -> Entity | None:
    """Return the newest entity in focus whose files hold what is asked about, else the newest."""
    focus = near(state)
    asked = [set(mention.entity.files) for mention in named if mention.entity.files]
    for entity in focus:
        if entity.files and asked and all(set(entity.files) & files for files in asked):
            return entity
    return focus[0] if focus else None


def earlier(text: str, state: DialogueState) -> Turn | None:
    """Return the earlier turn that a return describes best: 刚才说出水快的那台, 一开始问的那个."""
    turns = [turn for turn in state.context.turns if turn.kind not in ("smalltalk", "about_base")]
    if not turns:
        return None
    words = words_of(language_of(text))
    if words.find("returns_first", text):
        return turns[0]
    asked = _pieces("".join(content(text)))
    scored = [(len(asked & _pieces(turn.query + turn.standalone)), i) for i, turn in enumerate(turns)]
    best = max(scored)
    if best[0] >= 2:
        return turns[best[1]]
    current = {entity.name for entity in turns[-1].entities}
    for turn in reversed(turns[:-1]):
        if turn.entities and not current & {entity.name for entity in turn.entities}:
            return turn
    return turns[-2] if len(turns) > 1 else turns[-1]


def _pieces(text: str) -> set[str]:
    if language_of(text) == "en":
        return {word.lower() for word in content(text)}
    return {text[i : i + 2] for i in range(len(text) - 1)}
