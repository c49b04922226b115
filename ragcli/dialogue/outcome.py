"""Turn what happened in a turn into the event that the state keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcli.datatypes import Hit
from ragcli.dialogue.events import TurnDone
from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.reading import Reading
from ragcli.dialogue.state import DialogueState, Entity, Pending, Task, Turn


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
    files = tuple(dict.fromkeys(hit.stored.file for hit in hits[:3]))
    return TurnDone(
        turn=turn,
        task=_task(state, reading, action),
        relation=reading.relation,
        hit_ids=tuple(hit.stored.chunk.chunk_id for hit in hits),
        cited_ids=tuple(cited_ids),
        files=files,
        rejected=reading.wishes.rejected,
        named_after=named_by_answer(answer, state, reading, lexicon)
        if action in ("answer", "correct")
        else (),
        pending=pending,
    )


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
    answer: str, state: DialogueState, reading: Reading, lexicon: Lexicon
) -> tuple[Entity, ...]:
    """Return the one thing that an answer brings up new; of several, none takes over."""
    known = {entity.name for entity in reading.entities}
    new = [m.entity for m in mentions(answer, lexicon) if m.anchors and m.entity.name not in known]
    unique = tuple(dict.fromkeys(new))
    return unique if len(unique) == 1 else ()


def without_answer(event: TurnDone) -> TurnDone:
    """Return the event without the answer's text, for states that must stay small."""
    return replace(event, turn=replace(event.turn, answer=""))
