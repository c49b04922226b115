"""Make the context layer shorter, and only that: what was said long ago becomes a summary.

Softly from 70 % of the layer's budget on, hard from 90 % down to the last turns; never fewer than four turns
at once. What must not be lost is checked by code, and a compression that lost any of it is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragcli.dialogue.events import Compressed, apply
from ragcli.dialogue.phrases import shortened
from ragcli.dialogue.state import ContextLayer, DialogueState, Turn

SOFT, HARD = 0.7, 0.9
AT_ONCE = 4
KEPT_SOFT, KEPT_HARD = 6, 3
_ENTITIES = 12
_SUMMARY_SHARE = 0.3

CountTokens = Callable[[str], int]
Summarise = Callable[[str, Sequence[Turn], Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after trying to compress, whether it was done, and why or why not."""

    state: DialogueState
    done: bool
    why: str


def tokens_of(context: ContextLayer, count: CountTokens) -> int:
    """Return how many tokens the context layer takes in a prompt."""
    return count(context.summary) + sum(count(turn.query) + count(turn.answer) for turn in context.turns)


def pressure(state: DialogueState, budget: int, count: CountTokens) -> str:
    """Return none, soft or hard: how full the context layer's budget of tokens is."""
    share = tokens_of(state.context, count) / max(1, budget)
    return "hard" if share >= HARD else "soft" if share >= SOFT else "none"


def compress(
    state: DialogueState, budget: int, count: CountTokens, summarise: Summarise | None = None
) -> Outcome:
    """Return the state with old turns summarised where the budget asks for it.

    `summarise` gets the summary so far, the turns that go and the words that must stay in it; without one,
    or where its text loses one of them, the summary is made by rule.
    """
    level = pressure(state, budget, count)
    if level == "none":
        return Outcome(state, False, "there is room")
    kept = KEPT_HARD if level == "hard" else KEPT_SOFT
    turns = state.context.turns
    gone = len(turns) - kept
    if gone < AT_ONCE:
        return Outcome(state, False, f"only {max(0, gone)} turns could go")
    room = int(budget * _SUMMARY_SHARE)
    summary, why = _summary(state.context.summary, turns[:gone], room, count, summarise)
    after = apply(state, Compressed(ContextLayer(turns[gone:], summary)))
    lost = loss(state, after)
    if lost:
        return Outcome(state, False, f"rolled back: {lost} changed")
    return Outcome(after, True, why or level)


def _summary(
    before: str, gone: Sequence[Turn], room: int, count: CountTokens, summarise: Summarise | None
) -> tuple[str, str]:
    wanted = protected(gone)
    if summarise:
        text = summarise(before, gone, wanted).strip()
        missing = [word for word in wanted if word not in text]
        if text and not missing and count(text) <= room:
            return text, ""
        return by_rule(
            before, gone, room, count
        ), f"the model's summary lost {', '.join(missing[:3]) or 'its bounds'}"
    return by_rule(before, gone, room, count), ""


def protected(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Return the names that a summary of these turns must hold, the newest that many."""
    names = [entity.name for turn in turns for entity in turn.entities]
    return tuple(dict.fromkeys(reversed(names)))[:_ENTITIES]


def by_rule(before: str, turns: Sequence[Turn], room: int, count: CountTokens) -> str:
    """Return a summary made without a model: a line a turn, newest last, the oldest dropped for want of room."""
    lines = [line for line in before.split("\n") if line]
    for turn in turns:
        if turn.kind in ("smalltalk", "about_base"):
            continue
        asked = shortened(turn.standalone or turn.query)
        told = turn.answer.split("\n")[0].split("。")[0][:40] if turn.action in ("answer", "correct") else ""
        lines.append(f"{asked} → {told}" if told else asked)
    while len(lines) > 1 and count("\n".join(lines)) > room:
        lines.pop(0)
    return "\n".join(lines)


def loss(before: DialogueState, after: DialogueState) -> str:
    """Return what a compression changed that it may not change: anything but the context layer."""
    layers = {
        "the facts": before.facts != after.facts,
        "the slots": before.task != after.task,
        "the seen set": before.retrieval != after.retrieval,
        "the profile": before.profile != after.profile,
        "the pending question": before.pending != after.pending,
        "the turn number": before.turn != after.turn,
        "the last turns": after.context.turns != before.context.turns[-len(after.context.turns) :],
    }
    return next((name for name, changed in layers.items() if changed), "")


def resumed(summary: str, state: DialogueState) -> DialogueState:
    """Return a state that knows the summary of an earlier session of the same name."""
    return replace(state, context=replace(state.context, summary=summary))
