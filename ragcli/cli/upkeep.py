"""The commands that look after a base and a machine: status, check, vacuum, doctor."""

from __future__ import annotations

import time

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.datatypes import Json
from ragcli.errors import CheckFailed


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text

    @app.command("status", help=text("help.status"), epilog=text("help.status_examples"))
    def status(ctx: typer.Context) -> None:
        from ragcli.pipeline import upkeep

        env: Environment = ctx.obj
        result = upkeep.status(env.base())
        if env.screen.json:
            env.screen.json_out(result)
        else:
            print_status(env, result)

    @app.command("check", help=text("help.check"), epilog=text("help.check_examples"))
    def check(
        ctx: typer.Context, repair: bool = typer.Option(False, "--repair", help=text("help.check_repair"))
    ) -> None:
        from ragcli.pipeline import upkeep

        env: Environment = ctx.obj
        result = upkeep.check(env.base(), time.monotonic, repair=repair)
        if env.screen.json:
            facts = {"chunks": result.chunks, "vectors": result.vectors, "revision": result.revision}
            env.screen.json_out({**facts, "repaired": list(result.repaired)})
            return
        for what in result.repaired:
            env.screen.note("check.repaired", what=what)
        env.screen.note("check.fine", chunks=result.chunks, vectors=result.vectors, revision=result.revision)

    @app.command("vacuum", help=text("help.vacuum"), epilog=text("help.vacuum_examples"))
    def vacuum(ctx: typer.Context) -> None:
        from ragcli.pipeline import upkeep

        env: Environment = ctx.obj
        result = upkeep.vacuum(env.base())
        if env.screen.json:
            env.screen.json_out(result)
        else:
            env.screen.note("vacuum.done", **result)

    @app.command("doctor", help=text("help.doctor"), epilog=text("help.doctor_examples"))
    def doctor(ctx: typer.Context) -> None:
        from ragcli.pipeline.doctor import diagnose

        env: Environment = ctx.obj
        rows: list[Json] = []
        for finding in diagnose(env.base_folder, env.settings(), env.environ, time.monotonic):
            found, remedy = env.screen.messages.error(finding.error) if finding.error else (finding.found, "")
            rows.append({"what": finding.what, "ok": finding.fine, "found": found, "remedy": remedy})
        bad = [row["what"] for row in rows if not row["ok"]]
        if env.screen.json:
            env.screen.json_out({"ok": not bad, "checks": rows})
        else:
            print_findings(env, rows)
        if bad:
            raise CheckFailed("doctor_found", what=", ".join(bad))


def print_status(env: Environment, result: Json) -> None:
    """Print counts, a line a part."""
    text, screen = env.screen.messages.text, env.screen
    screen.say(text("status.base", path=result["path"]))
    screen.say(text("status.files", files=result["files"]))
    screen.say(text("status.chunks", chunks=result["chunks"]))
    screen.say(text("status.vectors", **result["vectors"]))
    index = result["index"]
    if index:
        screen.say(text("status.index", **{**index, "stale": text("status.stale") if index["stale"] else ""}))
    else:
        screen.say(text("status.no_index"))
    screen.say(text("status.sessions", sessions=result["sessions"]))
    if result["prompts"]["files"]:
        files = ", ".join(result["prompts"]["files"])
        screen.say(text("status.prompts", examples=result["prompts"]["examples"], files=files))
    warm = result["warm"]
    screen.say(text("status.warm", passages=warm["passages"], of=warm["of"], gb=f"{warm['bytes'] / 1e9:.2f}"))


def print_findings(env: Environment, rows: list[Json]) -> None:
    """Print a line a check, with the mending command under a bad one."""
    text = env.screen.messages.text
    for row in rows:
        mark = "✓" if row["ok"] else "✗"
        env.screen.say(f"{mark} {text('doctor.' + row['what'])}: {row['found']}")
        if row["remedy"]:
            env.screen.say(f"    → {row['remedy']}")
    if all(row["ok"] for row in rows):
        env.screen.say(text("doctor.fine"))
    env.screen.note("doctor.more")
