"""Answer, ask back, or say that the files don't tell: decided after retrieval, from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.datatypes import Hit
from ragcli.dialogue.choices import about, open_choices
from ragcli.dialogue.gate import near
from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.reading import DEFAULTS, Reading, RewriteOptions
from ragcli.dialogue.spoken import phrases, which_of
from ragcli.dialogue.state import Choice, DialogueState, Entity, Pending
from ragcli.dialogue.words import language_of

_LONG_CODE = 5


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a turn after the search."""

    action: str  # answer | clarify | not_found | smalltalk
    question: str = ""
    choices: tuple[Choice, ...] = ()
    pending: Pending | None = None
    why: str = ""

    @property
    def left_open(self) -> str:
        """What an answer for each of several choices leaves open; nothing where it is settled or asked."""
        return about(self.choices) if self.action == "answer" and self.choices else ""


def decide(
    reading: Reading,
    hits: Sequence[Hit],
    state: DialogueState,
    lexicon: Lexicon,
    options: RewriteOptions = DEFAULTS,
) -> Decision:
    """Decide on a turn from its reading and its hits (best first)."""
    say = phrases(language_of(reading.query))
    if reading.smalltalk:
        return Decision("smalltalk", say[reading.verdict.kind])
    if reading.clarify:
        return asking(reading, state, reading.clarify.choices, "two things were talked about")
    if not hits:
        return Decision("not_found", why="no hits")
    choices = _left_open(reading, hits, state, lexicon)
    if len(choices) < 2:
        return Decision("answer")
    if state.clarified.count(about(choices)) != options.clarify_after - 1:
        return Decision("answer", choices=choices, why="answer for each, labelled")
    return asking(reading, state, choices, "the question fits several things that differ")


def _left_open(
    reading: Reading, hits: Sequence[Hit], state: DialogueState, lexicon: Lexicon
) -> tuple[Choice, ...]:
    """Return the choices of a question that names nothing, in a conversation that settles nothing."""
    if reading.verdict.kind != "complete":
        return ()
    if any(
        (entity.kind != "topic" and len(entity.files) == 1 and not _whole(entity, lexicon)) or _part(entity)
        for entity in reading.entities
    ):
        return ()
    choices = open_choices(reading.query, hits, lexicon)
    editions = {file for family in lexicon.editions for _, file in family}
    if all(choice.entity.files and editions.issuperset(choice.entity.files) for choice in choices):
        return ()
    named = any(entity.kind != "topic" and len(entity.files) == 1 for entity in reading.entities)
    if named and len({file for choice in choices for file in choice.entity.files}) > 1:
        return ()  # a document is named: others have nothing to do with it
    settled = {entity.name for entity in near(state)} | set(state.profile.values())
    return () if any(choice.entity.name in settled for choice in choices) else choices


def _part(entity: Entity) -> bool:
    """Say whether an entity is a long code: V500-07 is one part, where E2 may be each machine's."""
    return entity.kind == "code" and len(entity.name) >= _LONG_CODE


def _whole(entity: Entity, lexicon: Lexicon) -> bool:
    """Say whether an entity stands for a document as a whole and has no siblings: it settles no row of it."""
    return not lexicon.siblings(entity)


def asking(reading: Reading, state: DialogueState, choices: tuple[Choice, ...], why: str) -> Decision:
    """Return the decision to ask back, with the question that waits for the reply."""
    language = language_of(reading.query)
    question = which_of([choice.label for choice in choices], language)
    pending = Pending(reading.query, reading.standalone, question, choices, about(choices), state.turn + 1)
    return Decision("clarify", question, choices, pending, why)
