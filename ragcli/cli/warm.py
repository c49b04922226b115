"""The `warm` command: read passages ahead of time, at night or while nobody asks."""

from __future__ import annotations

import time

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the command to the tree."""
    text = messages.text

    @app.command("warm", help=text("help.warm"), epilog=text("help.warm_examples"))
    def warm(
        ctx: typer.Context,
        minutes: float = typer.Option(0.0, "--minutes", min=0, help=text("help.warm_minutes")),
        gb: float = typer.Option(0.0, "--gb", min=0, help=text("help.warm_gb")),
        file_glob: str = typer.Option("", "--file", metavar="GLOB", help=text("help.file_glob")),
    ) -> None:
        from ragcli.pipeline.warm import WarmLimits, warm_base

        env: Environment = ctx.obj
        with env.screen.progress(text("progress.warming"), text("progress.passages")) as progress:
            limits = WarmLimits(minutes, gb, file_glob)
            result = warm_base(env.base(), limits, time.monotonic, progress, verbose=env.screen.verbose)
        if env.screen.json:
            env.screen.json_out(result)
            return
        env.screen.note("warm.done", **{**result, "gb": f"{result['bytes'] / 1e9:.2f}"})
        if result["stopped"]:
            env.screen.note(f"warm.stopped_{result['stopped']}")
