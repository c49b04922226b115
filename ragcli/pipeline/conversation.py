"""A saved conversation: numbered turns, each kept with the state after it, so that it can go on after any kill."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragcli.datatypes import Json
from ragcli.dialogue.compress import compress
from ragcli.dialogue.history import replay
from ragcli.dialogue.reading import Reading
from ragcli.dialogue.snapshot import from_json, to_json
from ragcli.dialogue.state import DialogueState, empty_state
from ragcli.documents.normalise import fold
from ragcli.errors import UsageError
from ragcli.generation.wording import language_of
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.reply import OnText, told
from ragcli.pipeline.turn import TurnResult, take_turn
from ragcli.storage.sessions import SavedTurn, Sessions

_LONGEST_NAME = 100
# Tokens of the prompt that earlier turns may take before they are summarised.
_HISTORY = 1200


def new_name() -> str:
    """Return a name for a conversation that nobody named."""
    return uuid.uuid4().hex[:12]


def checked_name(name: str) -> str:
    """Return the name of a session, or say why it can't be one."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError("bad_session_name", session=name[:_LONGEST_NAME])
    return name


@dataclass
class Conversation:
    """One session with the state that it has come to."""

    engine: Engine
    sessions: Sessions
    name: str
    state: DialogueState
    damaged: int = 0

    def ask(
        self,
        query: str,
        options: TurnOptions,
        clock: Callable[[], float],
        *,
        number: int | None = None,
        on_rewrite: Callable[[Reading], None] | None = None,
        on_text: OnText | None = None,
    ) -> Json:
        """Take a turn and keep it; a number that was answered already gives the same answer again."""
        if not query.strip():
            raise UsageError("empty_question")
        expected = self.state.turn + 1
        if number is not None and number != expected:
            return self._repeated(number, expected)
        result = take_turn(
            self.engine, self.state, query, options, self.name, on_rewrite=on_rewrite, on_text=on_text
        )
        self._keep(result, query, clock())
        return result.record

    def read_ahead(self) -> None:
        """Let the model read this conversation before the next question comes: that one then waits for less."""
        history = told(self.state)
        if history:
            self.engine.read_ahead(history, self.state.context.summary, language_of(history[-1][0]))

    def _repeated(self, number: int, expected: int) -> Json:
        saved = self.sessions.turn(self.name, number) if 0 < number < expected else None
        if saved is None:
            raise UsageError("turn_out_of_order", session=self.name, turn=number, expected=expected)
        return saved.record

    def _keep(self, result: TurnResult, query: str, at: float) -> None:
        # After the answer, so that nobody waits for it; a character is never less than a token here.
        state = compress(result.state, _HISTORY, len).state
        turn = SavedTurn(self.name, state.turn, at, query, result.record, result.trace, to_json(state))
        self.sessions.save_turn(turn)
        self.state = state


def open_conversation(engine: Engine, sessions: Sessions, name: str) -> Conversation:
    """Return a session where it stopped, or a new one; damaged turns at its end are set aside."""
    last, damaged = sessions.last_turn(checked_name(name))
    if last is None:
        return Conversation(engine, sessions, name, empty_state(sessions.profile()), damaged)
    if damaged:
        sessions.drop_turns_after(name, last.turn)
    state = replace(from_json(last.state), profile=sessions.profile())
    return Conversation(engine, sessions, name, state, damaged)


def answer_with_history(
    engine: Engine, query: str, history: Sequence[Mapping[str, str]], options: TurnOptions, session: str
) -> Json:
    """Answer a question after a given history, which stands in for the session; nothing is kept."""
    if not query.strip():
        raise UsageError("empty_question")
    state = empty_state()
    if options.rewrite != "off":
        state = replay(history, engine.lexicon, fold=fold, today=engine.today)
    return take_turn(engine, state, query, options, session).record


def forget_fact(conversation: Conversation, number: int) -> None:
    """Drop the n-th confirmed fact, counted from 1, and keep that at once: a session resumed doesn't know it either."""
    state = conversation.state
    if not 0 < number <= len(state.facts):
        return
    conversation.state = replace(state, facts=state.facts[: number - 1] + state.facts[number:])
    saved = conversation.sessions.turn(conversation.name, state.turn)
    if saved:
        conversation.sessions.save_turn(replace(saved, state=to_json(conversation.state)))
