"""The commands that make and fill a knowledge base: init, ingest, embed, index, sync, outline, files, show."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.cli.outline import print_dry_run, print_outline
from ragcli.cli.views import outline_json, report_json, trouble_json
from ragcli.errors import AllSourcesFailed, SomeSourcesFailed
from ragcli.pipeline.report import FilesReport, RunReport


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text

    @app.command("init", help=text("help.init"), epilog=text("help.init_examples"))
    def init(
        ctx: typer.Context, folder: str = typer.Argument("", metavar="[DIR]", help=text("help.init_dir"))
    ) -> None:
        from ragcli.pipeline.base import make_base

        env: Environment = ctx.obj
        place = Path(folder) if folder else env.base_folder
        made = make_base(place)
        if env.screen.json:
            env.screen.json_out({"path": str(place), "made": made})
        else:
            env.screen.note("init.made" if made else "init.there", path=place)

    @app.command("ingest", help=text("help.ingest"), epilog=text("help.ingest_examples"))
    def ingest(
        ctx: typer.Context,
        paths: list[str] = typer.Argument(..., metavar="PATH...", help=text("help.paths")),
        encoding: str = typer.Option("", "--encoding", help=text("help.encoding")),
        dry_run: bool = typer.Option(False, "--dry-run", "-n", help=text("help.dry_run")),
        prune: bool = typer.Option(False, "--prune", help=text("help.prune")),
        jobs: int = typer.Option(1, "--jobs", "-j", min=1, help=text("help.jobs")),
        wait: float = typer.Option(0.0, "--wait", min=0, help=text("help.wait")),
    ) -> None:
        from ragcli.pipeline import runs

        env: Environment = ctx.obj
        if dry_run:
            print_dry_run(env, runs.dry_run(env.settings(), env.models_dir, paths, encoding))
            return
        with env.screen.progress(text("progress.reading"), text("progress.files")) as progress:
            intake = runs.Intake(tuple(paths), encoding, prune, jobs, stdin_of(paths))
            report = runs.ingest_run(env.base(), intake, wait, time.monotonic, progress)
        finish(env, report)

    @app.command("embed", help=text("help.embed"), epilog=text("help.embed_examples"))
    def embed(
        ctx: typer.Context,
        batch_size: int = typer.Option(0, "--batch-size", min=0, help=text("help.batch_size")),
        retry_failed: bool = typer.Option(False, "--retry-failed", help=text("help.retry_failed")),
        wait: float = typer.Option(0.0, "--wait", min=0, help=text("help.wait")),
    ) -> None:
        from ragcli.pipeline import runs

        env: Environment = ctx.obj
        with env.screen.progress(text("progress.embedding"), text("progress.chunks")) as progress:
            report = runs.embed_run(env.base(), batch_size, retry_failed, wait, time.monotonic, progress)
        finish(env, report)

    @app.command("index", help=text("help.index"), epilog=text("help.index_examples"))
    def index(
        ctx: typer.Context,
        kind: str = typer.Option("", "--kind", metavar="auto|flat|hnsw|ivf", help=text("help.kind")),
        wait: float = typer.Option(0.0, "--wait", min=0, help=text("help.wait")),
    ) -> None:
        from ragcli.pipeline import runs

        env: Environment = ctx.obj
        finish(env, runs.index_run(env.base(), kind, wait, time.monotonic))

    @app.command("sync", help=text("help.sync"), epilog=text("help.sync_examples"))
    def sync(
        ctx: typer.Context,
        paths: list[str] = typer.Argument(..., metavar="PATH...", help=text("help.paths")),
        encoding: str = typer.Option("", "--encoding", help=text("help.encoding")),
        prune: bool = typer.Option(False, "--prune", help=text("help.prune")),
        wait: float = typer.Option(0.0, "--wait", min=0, help=text("help.wait")),
    ) -> None:
        from ragcli.pipeline import runs

        env: Environment = ctx.obj
        with env.screen.progress(text("progress.syncing")) as progress:
            intake = runs.Intake(tuple(paths), encoding, prune, stdin=stdin_of(paths))
            report = runs.sync_run(env.base(), intake, wait, time.monotonic, progress)
        finish(env, report)

    @app.command("outline", help=text("help.outline"), epilog=text("help.outline_examples"))
    def outline(
        ctx: typer.Context,
        file: str = typer.Argument(..., metavar="FILE", help=text("help.outline_file")),
        encoding: str = typer.Option("", "--encoding", help=text("help.encoding")),
    ) -> None:
        from ragcli.pipeline import runs

        env: Environment = ctx.obj
        document = runs.read_one(env.settings(), env.models_dir, file, encoding)
        if env.screen.json:
            env.screen.json_out(outline_json(Path(file).name, document, messages))
        else:
            print_outline(env.screen, file, document)
        if any(note.warning for note in document.notes):
            raise SomeSourcesFailed("some_sources", number=1)

    _register_files(app, messages)


def _register_files(app: typer.Typer, messages: Messages) -> None:
    text = messages.text
    files = typer.Typer(help=text("help.files"), rich_markup_mode=None, no_args_is_help=True)
    app.add_typer(files, name="files")

    @files.command("list", help=text("help.files_list"), epilog=text("help.files_list_examples"))
    def files_list(ctx: typer.Context) -> None:
        from ragcli.pipeline.contents import list_files

        env: Environment = ctx.obj
        rows = list_files(env.base())
        if env.screen.json:
            env.screen.json_out({"files": rows})
        else:
            names = ("file", "chunks", "lines", "encoding", "title", "root")
            env.screen.table(
                [text(f"column.{name}") for name in names], [[row[name] for name in names] for row in rows]
            )

    @files.command("rm", help=text("help.files_rm"), epilog=text("help.files_rm_examples"))
    def files_rm(
        ctx: typer.Context,
        names: list[str] = typer.Argument(..., metavar="FILE...", help=text("help.files_rm_names")),
    ) -> None:
        from ragcli.pipeline.contents import remove_files

        env: Environment = ctx.obj
        report = remove_files(env.base(), names, time.monotonic)
        finish(env, report)

    @app.command("show", help=text("help.show"), epilog=text("help.show_examples"))
    def show(
        ctx: typer.Context,
        what: str = typer.Argument(..., metavar="CHUNK|FILE:LINE", help=text("help.show_what")),
    ) -> None:
        from ragcli.cli.passages import print_place
        from ragcli.pipeline.contents import find_place

        env: Environment = ctx.obj
        place = find_place(env.base(), what)
        if env.screen.json:
            env.screen.json_out(place)
        else:
            print_place(env.screen, place)


def stdin_of(paths: list[str]) -> bytes:
    """Return what stdin holds where a path is `-`."""
    return sys.stdin.buffer.read() if "-" in paths else b""


def finish(env: Environment, report: RunReport) -> None:
    """Print a run's report, and leave with 3 or 7 where sources were skipped or failed."""
    screen = env.screen
    if screen.json:
        screen.json_out(report_json(report, screen.messages))
    else:
        print_report(env, report)
    failed = (
        [item for item in report.files.skipped if item.failed] + list(report.files.failed)
        if report.files
        else []
    )
    warned = list(report.files.warned) if report.files else []
    if report.files and failed and not report.files.read:
        raise AllSourcesFailed("all_sources", number=len(failed))
    if failed or warned or (report.vectors and report.vectors.failed):
        broken = report.vectors.failed if report.vectors else 0
        raise SomeSourcesFailed("some_sources", number=len({item.file for item in failed + warned}) + broken)


def print_report(env: Environment, report: RunReport) -> None:
    """Print what a run did, a line a part, and every file that was left out with its reason."""
    screen = env.screen
    if report.files:
        _print_left_out(env, report.files)
        screen.note(
            "report.files", added=report.files.added, updated=report.files.updated, unchanged=report.files.unchanged,
            removed=report.files.removed, skipped=len(report.files.skipped), failed=len(report.files.failed),
        )  # fmt: skip
    if report.chunks:
        screen.note(
            "report.chunks",
            added=report.chunks.added,
            removed=report.chunks.removed,
            total=report.chunks.total,
        )
    if report.vectors:
        screen.note(
            "report.vectors",
            computed=report.vectors.computed,
            cached=report.vectors.cached,
            failed=report.vectors.failed,
        )
    if report.index:
        key = "report.index_same" if report.index.unchanged else "report.index"
        screen.note(key, kind=report.index.kind, revision=report.index.revision, total=report.index.total)
    screen.note("report.seconds", seconds=f"{report.seconds:.1f}")


def _print_left_out(env: Environment, files: FilesReport) -> None:
    for name in files.removed_names:
        env.screen.note("report.removed", file=name)
    for item in (*files.skipped, *files.failed, *files.warned):
        row = trouble_json(item, env.screen.messages)
        key = "report.warned" if item in files.warned else "report.left_out"
        if item.failed:
            env.screen.warn(key, file=row["file"], reason=row["reason"])
        else:
            env.screen.note(key, file=row["file"], reason=row["reason"])
