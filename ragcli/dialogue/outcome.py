"""Turn what happened in a turn into the event that the state keeps of it."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.datatypes import Hit
from ragcli.dialogue.correct import decides
from ragcli.dialogue.events import TurnDone
from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.reading import Reading
from ragcli.dialogue.state import DialogueState, Entity, Fact, Pending, Task, Turn
from ragcli.dialogue.words import language_of, words_of

_ANSWERED = ("answer", "correct")


def turn_done(
    state: DialogueState,
    reading: Reading,
    lexicon: Lexicon,
    *,
    action: str,
    answer: str = "",
    hits: Sequence[Hit] = (),
    cited_ids: Sequence[int] = (),
    pending: Pending | None = None,
    left_open: str = "",
) -> TurnDone:
    """Return the event of a finished turn, to be given to `events.apply`."""
    turn = Turn(
        number=state.turn + 1,
        query=reading.query,
        standalone=reading.standalone,
        action=action,
        answer=answer,
        entities=reading.entities,
        content=reading.content,
        kind=reading.verdict.kind,
    )
    told_from = frozenset(hit.stored.file for hit in hits)
    named = named_by_answer(answer, reading, lexicon, told_from) if action in _ANSWERED else ((), ())
    taking_over, beside = named
    files = tuple(dict.fromkeys(hit.stored.file for hit in hits[:3]))
    return TurnDone(
        turn=turn,
        task=_task(state, reading, action),
        relation=reading.relation,
        hit_ids=tuple(hit.stored.chunk.chunk_id for hit in hits),
        cited_ids=tuple(cited_ids),
        files=files,
        rejected=reading.wishes.rejected,
        named_after=taking_over,
        named_beside=beside,
        pending=pending,
        left_open=left_open,
        facts=_facts(state, reading),
    )


def _facts(state: DialogueState, reading: Reading) -> tuple[Fact, ...]:
    """Return what the user settled in this turn, in the user's own words."""
    kind, said = reading.verdict.kind, reading.query.strip()
    if kind == "correction":
        return (Fact("corrected", said, 0),)
    if kind == "reply" and state.pending:
        return (Fact("affirmed", f"{state.pending.query} → {said}", 0),)
    return (Fact("decided", said, 0),) if decides(said) else ()


def _task(state: DialogueState, reading: Reading, action: str) -> Task:
    old = state.task.current
    chain = not reading.verdict.complete and bool(old.topic)
    return Task(
        topic=old.topic if chain else reading.standalone,
        content=reading.content,
        entities=reading.entities or (old.entities if chain else ()),
        slots=dict(old.slots) | dict(reading.slots) if chain else dict(reading.slots),
        stage="clarifying" if action == "clarify" else "asking",
    )


def named_by_answer(
    answer: str, reading: Reading, lexicon: Lexicon, told_from: frozenset[str] = frozenset()
) -> tuple[tuple[Entity, ...], tuple[Entity, ...]]:
    """Return what an answer hands the conversation over to, and what else it names.

    A name of files that the answer wasn't made from is a word that happens to be one: 家庭 in 供家庭饮用 is no
    card of the library's. One new thing that is brought up as a thing (附近还有…, 推荐…) takes over; one that is only a value of
    what was asked, or one of several, is just remembered below it.
    """
    known = {entity.name for entity in reading.entities}
    found = [
        m
        for m in mentions(answer, lexicon, reading.entities)
        if m.entity.kind in ("name", "quoted")
        and (not told_from or not m.entity.files or told_from & set(m.entity.files))
    ]
    new = tuple(dict.fromkeys(m.entity for m in found if m.entity.name not in known))
    words = words_of(language_of(answer or reading.query))
    if len(new) != 1:
        return (), new[:2]
    asked = not reading.entities or words.find("introductions", reading.query)
    return (new, ()) if asked or words.find("introductions", answer) else ((), new)
