"""The slash commands of the chat: each a small function over the running talk."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ragcli.cli.context import Environment
from ragcli.cli.passages import print_place, print_sources
from ragcli.cli.sessions import print_trace, print_turns, session_rows
from ragcli.datatypes import Json
from ragcli.errors import UsageError
from ragcli.pipeline.contents import find_place
from ragcli.pipeline.conversation import Conversation, forget_fact, new_name, open_conversation
from ragcli.pipeline.engine import TurnOptions
from ragcli.retrieval.filters import matches_file


class Leave(Exception):
    """The person wants to go."""


@dataclass
class Talk:
    """A chat between two lines: the conversation, the options, and the last turn's record."""

    env: Environment
    conversation: Conversation
    options: TurnOptions
    last: Json | None = None

    def __post_init__(self) -> None:
        """Take up the last turn of a session that goes on: /sources and /open are about it."""
        if self.last is None and self.conversation.state.turn:
            turn = self.conversation.sessions.turn(self.conversation.name, self.conversation.state.turn)
            self.last = turn.record if turn else None


def obey(talk: Talk, line: str) -> None:
    """Run one command line, without its slash."""
    name, _, rest = line.partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        talk.env.screen.note("chat.unknown_command", command=f"/{name}" + (f" → /{near[0]}" if near else ""))
        return
    command(talk, rest.strip())


def _help(talk: Talk, _rest: str) -> None:
    talk.env.screen.say(talk.env.screen.messages.text("chat.help"))


def _sources(talk: Talk, _rest: str) -> None:
    citations = talk.last["citations"] if talk.last else []
    if citations:
        print_sources(talk.env.screen, citations)
    else:
        talk.env.screen.note("chat.no_sources")


def _open(talk: Talk, rest: str) -> None:
    citations = talk.last["citations"] if talk.last else []
    chosen = [citation for citation in citations if str(citation["n"]) == rest]
    if not chosen:
        talk.env.screen.note("chat.open_which" if citations else "chat.no_sources")
        return
    print_place(talk.env.screen, find_place(talk.env.base(), chosen[0]["chunk_id"]))


def _trace(talk: Talk, rest: str) -> None:
    number = int(rest) if rest.isdigit() else talk.conversation.state.turn
    turn = talk.conversation.sessions.turn(talk.conversation.name, number)
    if turn is None:
        talk.env.screen.note("chat.no_turn")
    else:
        print_trace(talk.env.screen, turn)


def _rewrite(talk: Talk, rest: str) -> None:
    rest = "hybrid" if rest == "on" else rest
    if rest in ("off", "rules", "llm", "hybrid"):
        talk.options = replace(talk.options, rewrite=rest)  # type: ignore[arg-type]
    elif rest not in ("", "show"):
        raise UsageError(
            "bad_option",
            option="/rewrite",
            value=rest,
            wanted="on | off | rules | llm | hybrid | show",
            command="chat",
        )
    talk.env.screen.note("chat.set", name="rewrite", value=talk.options.rewrite)


def _facts(talk: Talk, _rest: str) -> None:
    facts = talk.conversation.state.facts
    for number, fact in enumerate(facts, 1):
        talk.env.screen.say(f"{number}. {fact.text}")
    if not facts:
        talk.env.screen.note("chat.facts_none")


def _forget(talk: Talk, rest: str) -> None:
    if rest.isdigit() and 0 < int(rest) <= len(talk.conversation.state.facts):
        forget_fact(talk.conversation, int(rest))
    else:
        talk.env.screen.note("chat.forget_which", facts=len(talk.conversation.state.facts))
    _facts(talk, "")


def _slots(talk: Talk, _rest: str) -> None:
    state = talk.conversation.state
    rows = {"topic": state.task.current.topic, **state.task.current.slots}
    rows["focus"] = "、".join(focus.entity.name for focus in state.retrieval.focus)
    for name, value in rows.items():
        talk.env.screen.say(f"{name}: {value}")


def _new(talk: Talk, rest: str) -> None:
    old = talk.conversation
    talk.conversation = open_conversation(old.engine, old.sessions, rest or new_name())
    talk.last = None
    talk.env.screen.note("chat.new", session=talk.conversation.name)


def _load(talk: Talk, rest: str) -> None:
    """Go on with a saved conversation; a name that none has opens nothing."""
    known = [info.session for info in talk.conversation.sessions.overview()]
    if rest not in known:
        near = difflib.get_close_matches(rest, known, n=1)
        talk.env.screen.note(
            "chat.no_session", session=rest or "-", near=f" → /load {near[0]}" if near else ""
        )
        return
    old = talk.conversation
    talk.conversation, talk.last = open_conversation(old.engine, old.sessions, rest), None
    talk.__post_init__()
    talk.env.screen.note("chat.resumed", session=rest, turn=talk.conversation.state.turn + 1)


def _save(talk: Talk, _rest: str) -> None:
    """Say where the conversation is kept: each turn is saved as soon as it is answered."""
    talk.env.screen.note("chat.saved", session=talk.conversation.name)


def _sessions(talk: Talk, _rest: str) -> None:
    columns, rows = session_rows(talk.env.screen, talk.conversation.sessions)
    talk.env.screen.table(columns, rows)


def _export(talk: Talk, _rest: str) -> None:
    print_turns(talk.env.screen, talk.conversation.sessions.turns(talk.conversation.name))


def _k(talk: Talk, rest: str) -> None:
    if rest.isdigit() and int(rest) > 0:
        talk.options = replace(talk.options, k=int(rest))
    elif rest:
        talk.env.screen.note("chat.k_which", value=rest)
    talk.env.screen.note("chat.set", name="k", value=talk.options.k)


def _file(talk: Talk, rest: str) -> None:
    talk.options = replace(talk.options, file_glob=rest)
    files = [document.file for document in talk.conversation.engine.searcher.store.documents()]
    if rest and not any(matches_file(file, rest) for file in files):
        talk.env.screen.note("chat.no_file", glob=rest)
    talk.env.screen.note("chat.set", name="file", value=rest or "*")


def _bad(talk: Talk, rest: str) -> None:
    """Keep the last turn as a bad case, with the right question or the place of the right passage."""
    from ragcli.pipeline.badcases import Right, keep

    conversation = talk.conversation
    if not conversation.state.turn:
        talk.env.screen.note("chat.no_turn")
        return
    is_place = rest.rpartition(":")[2].isdigit() and ":" in rest
    right = Right(passage=rest) if is_place else Right(rewrite=rest)
    turn = conversation.state.turn
    number = keep(talk.env.base(), conversation.sessions, conversation.name, turn, right, time.time())
    talk.env.screen.note("badcase.kept", number=number)
    if not rest:
        talk.env.screen.note("badcase.which")


def _model(talk: Talk, _rest: str) -> None:
    settings = talk.conversation.engine.settings
    talk.env.screen.note("chat.set", name="model", value=settings.generation.model)


def _quit(_talk: Talk, _rest: str) -> None:
    raise Leave


COMMANDS: dict[str, Callable[[Talk, str], None]] = {
    "help": _help,
    "sources": _sources,
    "open": _open,
    "trace": _trace,
    "why": _trace,
    "rewrite": _rewrite,
    "facts": _facts,
    "slots": _slots,
    "forget": _forget,
    "new": _new,
    "load": _load,
    "save": _save,
    "sessions": _sessions,
    "export": _export,
    "bad": _bad,
    "k": _k,
    "file": _file,
    "model": _model,
    "quit": _quit,
    "exit": _quit,
}
