"""`chat --jsonl`: one turn a line in, one JSON line a turn out, in order, flushed at once.

A turn that fails is a line with an error, and the run goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from ragcli.cli.context import Environment
from ragcli.datatypes import Json
from ragcli.errors import NoUsableAnswer, RagcliError, UsageError
from ragcli.pipeline.conversation import Conversation, answer_with_history, open_conversation
from ragcli.pipeline.engine import TurnOptions


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as it was sent."""

    query: str
    session: str = ""
    turn: int | None = None
    history: list[dict[str, str]] | None = None


def run_jsonl(env: Environment, first: Conversation, options: TurnOptions) -> None:
    """Answer every line of stdin; exit 15 only if every turn failed."""
    held = {first.name: first}
    done = failed = 0
    for number, raw in enumerate(_lines(), 1):
        done += 1
        line = Line("", first.name)
        try:
            line = parse_line(raw, number)
            record = _answer(env, first, held, line, options)
        except RagcliError as err:
            failed += 1
            record = _error(env, line, err)
        env.screen.json_out(record)
        talk = held.get(line.session or first.name)
        if talk and options.generate and line.history is None:
            talk.read_ahead()
    if done and failed == done:
        raise NoUsableAnswer("all_turns_failed", number=done)


def parse_line(raw: str, number: int) -> Line:
    """Return a line's turn: a bare question, or an object with `query`."""
    if not raw.startswith("{"):
        return Line(raw)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as err:
        raise UsageError("bad_turn_line", line=number, reason=str(err)) from err
    if not isinstance(value.get("query"), str):
        raise UsageError("bad_turn_line", line=number, reason='"query"')
    turn, session = value.get("turn"), value.get("session", "")
    if turn is not None and (not isinstance(turn, int) or isinstance(turn, bool)):
        raise UsageError("bad_turn_line", line=number, reason='"turn"')
    if not isinstance(session, str):
        raise UsageError("bad_turn_line", line=number, reason='"session"')
    return Line(value["query"], session, turn, _history(value.get("history"), number))


def _history(value: Any, number: int) -> list[dict[str, str]] | None:
    if value is None:
        return None
    fine = isinstance(value, list) and all(
        isinstance(pair, dict) and all(isinstance(pair.get(side, ""), str) for side in ("user", "assistant"))
        for pair in value
    )
    if not fine:
        raise UsageError("bad_turn_line", line=number, reason='"history"')
    return value  # type: ignore[no-any-return]


def _lines() -> Iterator[str]:
    for raw in iter(sys.stdin.readline, ""):
        if raw.strip():
            yield raw.strip()


def _answer(
    env: Environment, first: Conversation, held: dict[str, Conversation], line: Line, options: TurnOptions
) -> Json:
    name = line.session or first.name
    if line.history is not None:
        return answer_with_history(first.engine, line.query, line.history, options, name)
    if name not in held:
        held[name] = open_conversation(first.engine, first.sessions, name)
    return held[name].ask(line.query, options, time.time, number=line.turn)


def _error(env: Environment, line: Line, err: RagcliError) -> Json:
    message, remedy = env.screen.messages.error(err)
    body = {"code": err.exit_code, "kind": err.kind, "message": message, "remedy": remedy}
    return {"session": line.session, "turn": line.turn, "error": body}
