"""When a reading was wrong or can't be made: the next one after a denial, or a question back."""

from __future__ import annotations

from dataclasses import replace

from ragcli.dialogue.choices import about
from ragcli.dialogue.gate import GateVerdict, near, pointer
from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.linking import mentions
from ragcli.dialogue.reading import Candidate, Clarify, Reading, Wishes
from ragcli.dialogue.spoken import which_of
from ragcli.dialogue.state import Choice, DialogueState, Entity, Turn
from ragcli.dialogue.words import language_of, words_of

_REJECTED = 5
_ONE = frozenset(("它", "他", "她", "it", "its", "this", "that", "he", "she", "这个", "那个", "该"))


def denied(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict) -> Reading:
    """Go back to the turn that was denied: its passages are rejected and the next reading is tried."""
    last = state.last
    if last is None:
        return Reading(query, (query,), "none", "correction", verdict)
    wishes = Wishes(rejected=last.hits[:_REJECTED], raw_weight=0.0)
    reading = Reading(
        query, (last.standalone,), "rules", "correction", verdict, last.entities, last.content, wishes=wishes
    )
    others = _others(last, state, lexicon)
    if last.kind == "denial" or (not others and last.kind != "complete"):
        return replace(reading, clarify=offering(near(state)[:4], language_of(query)))
    if last.kind == "complete" or not last.entities:
        return reading
    swapped = last.standalone.replace(last.entities[0].name, others[0].name)
    tried = Candidate(last.standalone, "rules", False, "the user denied it")
    taken = Candidate(swapped, "rules", True, "the next reading")
    return replace(reading, queries=(swapped,), entities=others[:1], candidates=(tried, taken))


def _others(last: Turn, state: DialogueState, lexicon: Lexicon) -> tuple[Entity, ...]:
    tried = {entity.name for entity in last.entities}
    kin = lexicon.siblings(last.entities[0]) if last.entities else ()
    return tuple(entity for entity in (*near(state), *kin) if entity.name not in tried)


def unclear(query: str, state: DialogueState, lexicon: Lexicon, reading: Reading) -> Clarify | None:
    """Return the question to ask where one pointing word may mean each of several things of the last turn."""
    last = state.last
    if last is None or len(last.entities) < 2 or reading.verdict.kind != "dependent":
        return None
    if reading.resolved_by not in ("focus", "topic"):
        return None
    named = mentions(query, lexicon, near(state))
    pointing = pointer(query, named)
    kin = {other.name for other in lexicon.siblings(last.entities[0])}
    alike = [last.entities[0], *(entity for entity in last.entities[1:] if entity.name in kin)]
    if pointing is None or pointing.group().lower() not in _ONE or len(alike) < 2:
        return None
    made = offering(tuple(alike), language_of(query))
    return None if made.about in state.clarified else made


def offering(entities: tuple[Entity, ...], language: str) -> Clarify:
    """Return the question that names these things."""
    choices = tuple(Choice(entity.name, entity) for entity in entities)
    return Clarify(which_of([choice.label for choice in choices], language), choices, about(choices))


def decides(query: str) -> bool:
    """Say whether the user states what is the case or to be done: kept as a fact."""
    return bool(words_of(language_of(query)).find("decisions", query))
