"""The `eval` command: score cases, compare two runs, and show the figures as a table, JSON or a report file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragcli import config
from ragcli.cli.context import Environment
from ragcli.cli.eval_table import print_figures
from ragcli.cli.messages import Messages
from ragcli.datatypes import Json
from ragcli.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from ragcli.evaluation.cases import Problem
    from ragcli.pipeline.evaluate_cases import Prepared, Wanted
    from ragcli.pipeline.evaluate_run import EvalOptions

_REPORTS = (".html", ".md")


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the command to the tree."""
    text = messages.text

    @app.command("eval", help=text("help.eval"), epilog=text("help.eval_examples"))
    def evaluate(
        ctx: typer.Context,
        cases: str = typer.Argument("", metavar="[CASES]", help=text("help.eval_cases")),
        docs: str = typer.Option("", "--docs", metavar="DIR", help=text("help.eval_docs")),
        rewrite: str = typer.Option(
            "", "--rewrite", metavar="off|rules|llm|hybrid", help=text("help.rewrite")
        ),
        answers: str = typer.Option("0", "--answers", metavar="N|all", help=text("help.eval_answers")),
        limit: int = typer.Option(0, "--limit", min=0, metavar="N", help=text("help.eval_limit")),
        seed: int = typer.Option(1, "--seed", help=text("help.eval_seed")),
        ablate: bool = typer.Option(False, "--ablate", help=text("help.eval_ablate")),
        with_model: bool = typer.Option(False, "--with-model", help=text("help.eval_with_model")),
        only: str = typer.Option("", "--only", metavar="NAME,…", help=text("help.eval_only")),
        badcases: bool = typer.Option(False, "--badcases", help=text("help.eval_badcases")),
        compare: str = typer.Option("", "--compare", metavar="OLD.json", help=text("help.eval_compare")),
        report: str = typer.Option("", "--report", metavar="FILE.html|.md", help=text("help.eval_report")),
        timeout: float = typer.Option(-1.0, "--timeout", metavar="SECONDS", help=text("help.timeout")),
    ) -> None:
        env: Environment = ctx.obj
        if bool(cases) == badcases:
            raise UsageError("cases_or_badcases")
        if report and not report.endswith(_REPORTS):
            raise UsageError(
                "bad_option", option="--report", value=report, wanted="*.html | *.md", command="eval"
            )
        from ragcli.cli.talk import turn_options
        from ragcli.pipeline.evaluate_cases import Wanted
        from ragcli.pipeline.evaluate_report import old_report
        from ragcli.pipeline.evaluate_run import EvalOptions

        old = old_report(Path(compare)) if compare else None
        ready = _prepared(env, Wanted(cases, docs, limit))
        turn = turn_options(ready.base.settings, rewrite=rewrite, timeout=timeout)
        names = tuple(name.strip() for name in only.split(",") if name.strip())
        options = EvalOptions(turn, _number_of(answers), seed, ablate, with_model, names)
        _shown(env, _measured(env, ready, options), old, report)


def _number_of(answers: str) -> int:
    if answers == "all":
        return -1
    if not answers.isdigit():
        raise UsageError("bad_option", option="--answers", value=answers, wanted="N | all", command="eval")
    return int(answers)


def cache_dir(env: Environment) -> Path:
    """Return where bases made for measuring and unfinished runs are kept."""
    return config.xdg("XDG_CACHE_HOME", ".cache", env.environ) / "ragcli" / "eval"


def _prepared(env: Environment, wanted: Wanted) -> Prepared:
    """Read the cases and open the base that holds what they are about; say what is wrong before anything runs."""
    from ragcli.pipeline.evaluate_cases import Home, prepare

    chosen = env.base() if (env.base_folder / config.BASE_FILE).is_file() else None
    home = Home(
        cache_dir(env),
        lambda folder: config.load_settings(folder, env.environ),
        env.models_dir,
        time.monotonic,
    )
    with env.screen.progress(env.screen.messages.text("progress.syncing")) as progress:
        ready = prepare(wanted, chosen, home, progress)
    _stop_at(env, ready.problems)
    if ready.cases.form != "rewriting":
        env.screen.note("eval.base_made" if ready.made else "eval.base", path=ready.base.folder)
    return ready


def _stop_at(env: Environment, problems: Sequence[Problem]) -> None:
    """Print every problem by file and line, and stop where there is one."""
    messages = env.screen.messages
    places = []
    for problem in problems:
        line = f":{problem.line}" if problem.line else ""
        places.append((f"{problem.file}{line}", messages.note(problem.kind, **problem.fields)))
        env.screen.warn("eval.problem", place=places[-1][0], reason=places[-1][1])
    if places:
        raise UsageError("bad_cases", number=len(places), place=places[0][0], reason=places[0][1])


def _measured(env: Environment, ready: Prepared, options: EvalOptions) -> Json:
    from ragcli.pipeline.evaluate_run import Measurement, measure

    text = env.screen.messages.text
    with env.screen.progress(text("eval.measuring"), text("eval.turns")) as progress:
        return measure(
            Measurement(
                ready.cases, ready.base, options, cache_dir(env), progress, time.time, date.today(), ready.same,
                env.screen.verbose,
            )
        )  # fmt: skip


def _shown(env: Environment, result: Json, old: Json | None, report: str) -> None:
    from ragcli.pipeline.evaluate_report import compared_with, write_report

    if result.get("base", {}).get("stale"):
        env.screen.warn("search.stale")
    if old is not None:
        result["comparison"] = compared_with(old, result)
    if report:
        write_report(result, Path(report), env.screen.messages.language)
        env.screen.note("eval.written", path=report)
    if env.screen.json:
        env.screen.json_out(result)
    else:
        print_figures(env.screen, result)
    worse = result.get("comparison", {}).get("worse", [])
    if worse:
        raise CheckFailed("eval_worse", what=", ".join(worse))
