"""The `badcase` commands: keep a turn that went wrong, list what was kept, drop it, export it."""

from __future__ import annotations

import time
from datetime import datetime

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.cli.sessions import find_turn
from ragcli.datatypes import Json


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text
    badcase = typer.Typer(
        help=text("help.badcase"),
        epilog=text("help.badcase_examples"),
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(badcase, name="badcase")

    @badcase.command("add", help=text("help.badcase_add"), epilog=text("help.badcase_examples"))
    def add(
        ctx: typer.Context,
        session: str = typer.Argument("", metavar="[SESSION", help=text("help.trace_session")),
        turn: int = typer.Argument(0, metavar="[TURN]]", help=text("help.trace_turn")),
        rewrite: str = typer.Option("", "--rewrite", help=text("help.badcase_rewrite")),
        answer: str = typer.Option("", "--answer", help=text("help.badcase_answer")),
        passage: str = typer.Option("", "--passage", metavar="FILE:LINE", help=text("help.badcase_passage")),
        expect: str = typer.Option("", "--expect", help=text("help.badcase_expect")),
        note: str = typer.Option("", "--note", help=text("help.badcase_note")),
    ) -> None:
        from ragcli.pipeline.badcases import Right, keep
        from ragcli.pipeline.base import conversations

        env: Environment = ctx.obj
        base = env.base()
        with conversations(base) as saved:
            chosen = find_turn(saved, session, turn)
            right = Right(rewrite, answer, passage, expect, note)
            number = keep(base, saved, chosen.session, chosen.turn, right, time.time())
        if env.screen.json:
            env.screen.json_out({"case": number, "session": chosen.session, "turn": chosen.turn})
        else:
            env.screen.note("badcase.kept", number=number)

    @badcase.command("list", help=text("help.badcase_list"), epilog=text("help.badcase_examples"))
    def list_cases(ctx: typer.Context) -> None:
        from ragcli.pipeline.badcases import listed

        env: Environment = ctx.obj
        rows = listed(env.base())
        if env.screen.json:
            env.screen.json_out({"badcases": rows})
        elif rows:
            names = ("case", "last", "question", "action", "right")
            env.screen.table([text(f"column.{name}") for name in names], [_row(row) for row in rows])
        else:
            env.screen.note("badcase.none")

    @badcase.command("rm", help=text("help.badcase_rm"), epilog=text("help.badcase_examples"))
    def rm(
        ctx: typer.Context, number: int = typer.Argument(..., metavar="N", help=text("help.badcase_number"))
    ) -> None:
        from ragcli.pipeline.badcases import removed

        env: Environment = ctx.obj
        removed(env.base(), number)

    @badcase.command("export", help=text("help.badcase_export"), epilog=text("help.badcase_examples"))
    def export_cases(
        ctx: typer.Context,
        form: str = typer.Option(..., "--as", metavar="cases|fewshot|train", help=text("help.badcase_as")),
    ) -> None:
        from ragcli.pipeline.badcases import export

        env: Environment = ctx.obj
        lines, left_out = export(env.base(), form)
        env.screen.say(lines, end="")
        if left_out:
            env.screen.warn("badcase.left_out", number=left_out)


def _row(row: Json) -> list[object]:
    right = "; ".join(f"{name}: {value}" for name, value in row["right"].items())
    when = datetime.fromtimestamp(row["at"]).strftime("%Y-%m-%d %H:%M")
    return [row["case"], when, row["query"], row["action"], right]
