"""Replay a conversation that somebody hands in into a state, as if it had been held here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from ragcli.dialogue.events import apply
from ragcli.dialogue.linking import Lexicon
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.state import DialogueState, empty_state
from ragcli.dialogue.understand import understand
from ragcli.dialogue.wording import Fold


def replay(
    history: Sequence[Mapping[str, str]],
    lexicon: Lexicon,
    *,
    fold: Fold,
    today: date,
    state: DialogueState | None = None,
) -> DialogueState:
    """Return the state after a history of {"user", "assistant"} pairs; "user" may be empty."""
    state = state or empty_state()
    for pair in history:
        user, assistant = pair.get("user") or "", pair.get("assistant") or ""
        reading = understand(state, user, lexicon, mode="rules", model=None, fold=fold, today=today)
        if not user.strip():
            reading = replace(reading, entities=(), content=reading.content[:0])
            assistant = f"{user} {assistant}"
        event = turn_done(state, reading, lexicon, action="answer", answer=assistant)
        state = apply(state, event)
    return state
