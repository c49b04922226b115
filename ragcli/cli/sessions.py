"""Saved conversations, standing preferences, and the trace of a turn."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.cli.passages import print_sources
from ragcli.cli.render import Screen
from ragcli.datatypes import Json
from ragcli.errors import UsageError
from ragcli.pipeline.base import conversations
from ragcli.storage.sessions import SavedTurn, Sessions


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text
    sessions = typer.Typer(
        help=text("help.sessions"),
        epilog=text("help.sessions_examples"),
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(sessions, name="sessions")
    name = typer.Argument(..., metavar="ID", help=text("help.session_name"))

    @sessions.command("list", help=text("help.sessions_list"), epilog=text("help.sessions_examples"))
    def sessions_list(ctx: typer.Context) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            if env.screen.json:
                rows = [
                    {"session": i.session, "turns": i.turns, "at": i.at, "first": i.first}
                    for i in saved.overview()
                ]
                env.screen.json_out({"sessions": rows})
            else:
                env.screen.table(*session_rows(env.screen, saved))

    @sessions.command("show", help=text("help.sessions_show"), epilog=text("help.sessions_examples"))
    def sessions_show(ctx: typer.Context, session: str = name) -> None:
        _show(ctx.obj, session)

    @sessions.command("export", help=text("help.sessions_export"), epilog=text("help.sessions_examples"))
    def sessions_export(ctx: typer.Context, session: str = name) -> None:
        _show(ctx.obj, session)

    @sessions.command("rm", help=text("help.sessions_rm"), epilog=text("help.sessions_examples"))
    def sessions_rm(ctx: typer.Context, session: str = name) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            if not saved.remove(session):
                raise UsageError("no_such_session", session=session)

    _register_profile(app, messages)

    @app.command("trace", help=text("help.trace"), epilog=text("help.trace_examples"))
    def trace(
        ctx: typer.Context,
        session: str = typer.Argument("", metavar="[SESSION", help=text("help.trace_session")),
        turn: int = typer.Argument(0, metavar="[TURN]]", help=text("help.trace_turn")),
    ) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            chosen = find_turn(saved, session, turn)
        if env.screen.json:
            env.screen.json_out(
                {
                    "session": chosen.session,
                    "turn": chosen.turn,
                    "record": chosen.record,
                    "trace": chosen.trace,
                }
            )
        else:
            print_trace(env.screen, chosen)


def _register_profile(app: typer.Typer, messages: Messages) -> None:
    text = messages.text
    profile = typer.Typer(
        help=text("help.profile"),
        epilog=text("help.profile_examples"),
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(profile, name="profile")
    key = typer.Argument(..., metavar="KEY", help=text("help.profile_key"))

    @profile.command("list", help=text("help.profile_list"), epilog=text("help.profile_examples"))
    def profile_list(ctx: typer.Context) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            values = saved.profile()
        if env.screen.json:
            env.screen.json_out({"profile": values})
        else:
            env.screen.table([text("column.key"), text("column.value")], list(values.items()))

    @profile.command("set", help=text("help.profile_set"), epilog=text("help.profile_examples"))
    def profile_set(
        ctx: typer.Context, name: str = key, value: str = typer.Argument(..., help=text("help.profile_value"))
    ) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            saved.set_profile(name, value)

    @profile.command("unset", help=text("help.profile_unset"), epilog=text("help.profile_examples"))
    def profile_unset(ctx: typer.Context, name: str = key) -> None:
        env: Environment = ctx.obj
        with conversations(env.base()) as saved:
            saved.set_profile(name, None)


def _show(env: Environment, session: str) -> None:
    with conversations(env.base()) as saved:
        turns = saved.turns(session)
    if not turns:
        raise UsageError("no_such_session", session=session)
    if env.screen.json:
        env.screen.json_out({"session": session, "turns": [turn.record for turn in turns]})
    else:
        print_turns(env.screen, turns)


def session_rows(screen: Screen, saved: Sessions) -> tuple[list[str], list[list[object]]]:
    """Return the saved sessions as a table."""
    columns = [screen.messages.text(f"column.{name}") for name in ("session", "turns", "last", "first")]
    rows: list[list[object]] = [
        [info.session, info.turns, datetime.fromtimestamp(info.at).strftime("%Y-%m-%d %H:%M"), info.first]
        for info in saved.overview()
    ]
    return columns, rows


def print_turns(screen: Screen, turns: Iterable[SavedTurn]) -> None:
    """Print a conversation as Markdown: the user's own words, how they were read, the answer, the sources."""
    for turn in turns:
        record = turn.record
        screen.say(f"## {turn.turn}. {record['query']}")
        if record["rewritten"] != [record["query"]]:
            screen.say(
                "*" + screen.messages.text("answer.rewrite", queries=" ｜ ".join(record["rewritten"])) + "*"
            )
        screen.say(f"\n{record['answer']}\n")
        print_sources(screen, record["citations"])
        screen.say()


def find_turn(saved: Sessions, session: str, number: int) -> SavedTurn:
    """Return a turn by session and number; the last one where they aren't given."""
    if not session:
        overview = saved.overview()
        if not overview:
            raise UsageError("no_such_session", session="-")
        session = overview[0].session
    turn = saved.turn(session, number) if number else saved.last_turn(session)[0]
    if turn is None:
        kind = "no_such_turn" if saved.turns(session) else "no_such_session"
        raise UsageError(kind, session=session, turn=number)
    return turn


def print_trace(screen: Screen, turn: SavedTurn) -> None:
    """Print a turn as a person reads it, from the question to the times."""
    text, record, trace = screen.messages.text, turn.record, turn.trace
    screen.say(text("trace.question", query=record["query"]))
    if trace:
        _print_steps(screen, trace)
    screen.say(text("trace.queries", queries=" ｜ ".join(record["rewritten"])))
    for hit in record["hits"][:5]:
        path = " › ".join(hit["heading_path"])
        screen.say(
            text(
                "trace.hit",
                rank=hit["rank"],
                score=f"{hit['score']:.2f}",
                file=hit["file"],
                line=hit["line_start"],
                path=path,
            )
        )
    why = trace.get("decision", {}).get("why", "") if trace else ""
    screen.say(text("trace.decision", action=record["action"], why=why))
    screen.say(text("trace.answer", answer=record["answer"]))
    times = "  ".join(f"{name} {value:.0f} ms" for name, value in record["timings_ms"].items())
    screen.say(text("trace.times", times=times))
    screen.note("trace.more")


def _print_steps(screen: Screen, trace: Json) -> None:
    text = screen.messages.text
    gate = trace["gate"]
    screen.say(text("trace.gate", verdict=f"{gate['kind']} ({'; '.join(gate['reasons'])})"))
    state = ", ".join(f"{name}: {value}" for name, value in trace["state"].items() if value)
    screen.say(text("trace.state", state=state or "-"))
    for item in trace["candidates"]:
        mark = "✓" if item["taken"] else "✗"
        screen.say(text("trace.candidate", mark=mark, way=item["way"], text=item["text"], why=item["why"]))
