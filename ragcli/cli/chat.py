"""The `chat` command: a REPL on a terminal, plain lines from a pipe, JSON lines for programs."""

from __future__ import annotations

import sys
import time

import typer

from ragcli.cli.ask import REWRITES
from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the command to the tree."""
    text = messages.text

    @app.command("chat", help=text("help.chat"), epilog=text("help.chat_examples"))
    def chat(
        ctx: typer.Context,
        session: str = typer.Option("", "--session", metavar="ID", help=text("help.session")),
        k: int = typer.Option(0, "-k", min=0, help=text("help.k")),
        rewrite: str = typer.Option("", "--rewrite", metavar="|".join(REWRITES), help=text("help.rewrite")),
        timeout: float = typer.Option(-1.0, "--timeout", metavar="SECONDS", help=text("help.timeout")),
        file_glob: str = typer.Option("", "--file", metavar="GLOB", help=text("help.file_glob")),
        no_generate: bool = typer.Option(False, "--no-generate", help=text("help.no_generate")),
        no_states: bool = typer.Option(False, "--no-passage-states", help=text("help.no_passage_states")),
        jsonl: bool = typer.Option(False, "--jsonl", help=text("help.jsonl")),
    ) -> None:
        from ragcli.cli.jsonl import run_jsonl
        from ragcli.cli.repl import Repl
        from ragcli.cli.talk import opened, turn_options

        env: Environment = ctx.obj
        base = env.base()
        options = turn_options(
            base.settings,
            k=k,
            rewrite=rewrite,
            timeout=timeout,
            generate=not no_generate,
            passage_states=not no_states,
            file_glob=file_glob,
        )
        with opened(env, base, session) as conversation:
            if jsonl:
                run_jsonl(env, conversation, options)
            else:
                Repl(env, conversation, options, time.time).run(sys.stdin)
