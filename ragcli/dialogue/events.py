"""What can happen to a conversation, and the one pure function that makes the next state of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from ragcli.dialogue.state import (
    FOCUS_DEPTH,
    STACK_DEPTH,
    ContextLayer,
    DialogueState,
    Entity,
    Fact,
    Focus,
    Pending,
    RetrievalLayer,
    Task,
    TaskLayer,
    Turn,
)

DORMANT_TURNS = 20


@dataclass(frozen=True, slots=True)
class TurnDone:
    """A turn was answered, asked back or refused; everything that the state keeps of it."""

    turn: Turn
    task: Task
    relation: str = "same"  # same | new | return
    hit_ids: tuple[int, ...] = ()
    cited_ids: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    rejected: tuple[int, ...] = ()
    named_after: tuple[Entity, ...] = ()
    named_beside: tuple[Entity, ...] = ()
    focus_hits: tuple[Entity, ...] = ()
    pending: Pending | None = None
    left_open: str = ""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileSet:
    """A standing preference was set; an empty value takes it away."""

    name: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class FactForgotten:
    """A fact was taken back: its place in `state.facts`, from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """The context layer was made shorter."""

    context: ContextLayer


Event = TurnDone | ProfileSet | FactForgotten | Compressed


@singledispatch
def _next(event: Event, state: DialogueState) -> DialogueState:
    raise TypeError(f"not an event of a dialogue: {type(event).__name__}")


def apply(state: DialogueState, event: Event) -> DialogueState:
    """Return the state after an event; the given one is unchanged."""
    return _next(event, state)


@_next.register
def _turn_done(event: TurnDone, state: DialogueState) -> DialogueState:
    number = state.turn + 1
    turn = replace(event.turn, number=number, hits=event.hit_ids)
    open_now = event.pending.about if event.pending else event.left_open
    asked = (open_now,) if open_now else ()
    quiet = turn.kind in ("smalltalk", "about_base")
    return replace(
        state,
        turn=number,
        task=state.task if quiet else _tasks(state.task, event, number),
        retrieval=_retrieval(state.retrieval, event, number),
        facts=(*state.facts, *(replace(fact, turn=number) for fact in event.facts)),
        context=replace(state.context, turns=(*state.context.turns, turn)),
        pending=replace(event.pending, turn=number) if event.pending else (state.pending if quiet else None),
        clarified=(*state.clarified, *asked)[-4:],
    )


def _tasks(layer: TaskLayer, event: TurnDone, number: int) -> TaskLayer:
    task = replace(event.task, last_turn=number)
    stack, dormant = layer.stack, layer.dormant
    if event.relation in ("new", "return") and layer.current.topic:
        stack = (layer.current, *(old for old in stack if old.topic != task.topic))
        dormant = (*stack[STACK_DEPTH:], *dormant)
        stack = stack[:STACK_DEPTH]
    if event.relation == "return":
        dormant = tuple(old for old in dormant if old.topic != task.topic)
    dormant = tuple(old for old in dormant if number - old.last_turn <= DORMANT_TURNS)
    return TaskLayer(task, stack, dormant)


def _retrieval(layer: RetrievalLayer, event: TurnDone, number: int) -> RetrievalLayer:
    focus = layer.focus
    for entity in reversed(event.focus_hits):
        if not event.turn.entities:
            focus = push(focus, Focus(entity, number, "hits"))
    current = event.turn.entities or tuple(old.entity for old in focus[:1])
    for entity in event.named_beside:
        focus = push(focus, Focus(entity, number, "assistant"))
    for entity in reversed(current):
        focus = push(focus, Focus(entity, number, "user"))
    for entity in event.named_after:
        focus = push(focus, Focus(entity, number, "assistant"))
    return RetrievalLayer(
        seen=_union(layer.seen, event.hit_ids),
        hits=event.hit_ids or layer.hits,
        cited=_union(layer.cited, event.cited_ids),
        rejected=_union(layer.rejected, event.rejected),
        focus=focus,
        files=event.files or layer.files,
    )


def push(stack: tuple[Focus, ...], focus: Focus) -> tuple[Focus, ...]:
    """Return the stack with an entity on top, named once, no deeper than it may be."""
    rest = tuple(old for old in stack if old.entity.name != focus.entity.name)
    return (focus, *rest)[:FOCUS_DEPTH]


def _union(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*old, *new)))


@_next.register
def _profile_set(event: ProfileSet, state: DialogueState) -> DialogueState:
    kept = {name: value for name, value in state.profile.items() if name != event.name}
    return replace(state, profile=kept | ({event.name: event.value} if event.value else {}))


@_next.register
def _fact_forgotten(event: FactForgotten, state: DialogueState) -> DialogueState:
    return replace(state, facts=tuple(fact for i, fact in enumerate(state.facts) if i != event.index))


@_next.register
def _compressed(event: Compressed, state: DialogueState) -> DialogueState:
    return replace(state, context=event.context)
