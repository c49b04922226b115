"""The model files: list, pull, add, verify, path."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.datatypes import Json, Progress
from ragcli.errors import ModelUnusable, UsageError

_MB = 2**20


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text
    models = typer.Typer(
        help=text("help.models"),
        epilog=text("help.models_examples"),
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(models, name="models")
    _register_looking(models, messages)
    _register_fetching(models, messages)


def _register_looking(models: typer.Typer, messages: Messages) -> None:
    text = messages.text

    @models.command("list", help=text("help.models_list"), epilog=text("help.models_examples"))
    def models_list(ctx: typer.Context) -> None:
        from ragcli.pipeline.models import list_models

        env: Environment = ctx.obj
        rows = list_models(env.models_dir)
        if env.screen.json:
            env.screen.json_out({"models_dir": str(env.models_dir), "models": rows})
            return
        names = ("name", "profiles", "roles", "size_mb", "licence", "here")
        env.screen.table([text(f"column.{name}") for name in names], [_cells(env, row) for row in rows])

    @models.command("verify", help=text("help.models_verify"), epilog=text("help.models_examples"))
    def models_verify(
        ctx: typer.Context,
        names: list[str] = typer.Argument(None, metavar="[NAME]...", help=text("help.models_names")),
    ) -> None:
        from ragcli.pipeline.models import verify

        env: Environment = ctx.obj
        rows = verify(env.models_dir, names or [])
        if env.screen.json:
            env.screen.json_out({"models": rows})
        else:
            for row in rows:
                env.screen.say(text("models.whole" if row["whole"] else "models.broken", **row))
            if not rows:
                env.screen.note("models.none", path=env.models_dir)
        broken = [str(row["name"]) for row in rows if not row["whole"]]
        if broken:
            raise ModelUnusable("models_broken", names=" ".join(broken))

    @models.command("path", help=text("help.models_path"), epilog=text("help.models_examples"))
    def models_path(
        ctx: typer.Context,
        name: str = typer.Argument(..., metavar="NAME", help=text("help.models_name")),
        role: str = typer.Option(
            "", "--role", metavar="embedding|query|generator", help=text("help.models_role")
        ),
    ) -> None:
        from ragcli.pipeline.models import model_path

        env: Environment = ctx.obj
        if role not in ("", "embedding", "query", "rewriter", "generator"):
            raise UsageError(
                "bad_setting",
                key="--role",
                where="ragcli models path",
                value=role,
                wanted="embedding | query | generator",
            )
        path = model_path(name, role, env.models_dir)
        if env.screen.json:
            env.screen.json_out({"name": name, "path": str(path)})
        else:
            env.screen.say(str(path))


def _register_fetching(models: typer.Typer, messages: Messages) -> None:
    text = messages.text

    @models.command("pull", help=text("help.models_pull"), epilog=text("help.models_pull_examples"))
    def models_pull(
        ctx: typer.Context,
        names: list[str] = typer.Argument(None, metavar="[NAME]...", help=text("help.models_names")),
        profile: str = typer.Option(
            "", "--profile", metavar="default|small|mini-pc", help=text("help.models_profile")
        ),
        from_dir: str = typer.Option("", "--from", metavar="DIR", help=text("help.models_from")),
    ) -> None:
        from ragcli.pipeline import models as corridor

        env: Environment = ctx.obj
        entries = corridor.chosen(names or [], profile)
        folder = Path(from_dir) if from_dir else None
        done = corridor.pull(entries, folder, env.models_dir, env.environ, _watch(env))
        _report(env, [{"name": item.name, "path": str(item.path), "fetched": item.fetched} for item in done])

    @models.command("add", help=text("help.models_add"), epilog=text("help.models_add_examples"))
    def models_add(
        ctx: typer.Context,
        files: list[str] = typer.Argument(..., metavar="FILE...", help=text("help.models_files")),
    ) -> None:
        from ragcli.pipeline import models as corridor

        env: Environment = ctx.obj
        done = corridor.add([Path(name) for name in files], env.models_dir, _watch(env))
        _report(env, [{"name": item.name, "path": str(item.path), "fetched": item.fetched} for item in done])


def _watch(env: Environment) -> Callable[[str], AbstractContextManager[Progress]]:
    """Return what shows a model's progress in megabytes."""
    from contextlib import contextmanager

    @contextmanager
    def watch(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202  typed by what _watch returns
        with env.screen.progress(name, "MB") as progress:
            yield lambda done, total: progress(done // _MB, max(total, done) // _MB)

    return watch


def _report(env: Environment, rows: list[Json]) -> None:
    if env.screen.json:
        env.screen.json_out({"models": rows})
        return
    for row in rows:
        env.screen.note("models.pulled" if row["fetched"] else "models.there", **row)


def _cells(env: Environment, row: Json) -> list[object]:
    here = env.screen.messages.text("models.here" if row["here"] else "models.missing")
    return [
        row["name"],
        " ".join(row["profiles"]),
        " ".join(row["roles"]),
        row["bytes"] // _MB,
        row["licence"] or "-",
        here,
    ]
