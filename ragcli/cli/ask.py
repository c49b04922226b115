"""One-shot commands: search and ask."""

from __future__ import annotations

import sys
import time

import typer

from ragcli.cli.context import Environment
from ragcli.cli.messages import Messages
from ragcli.cli.passages import print_hits, print_sources
from ragcli.datatypes import Json
from ragcli.errors import NeedsClarifying, NothingFound, UsageError

REWRITES = ("off", "rules", "llm", "hybrid")


def register(app: typer.Typer, messages: Messages) -> None:
    """Add the commands to the tree."""
    text = messages.text

    @app.command("search", help=text("help.search"), epilog=text("help.search_examples"))
    def search(
        ctx: typer.Context,
        query: str = typer.Argument(..., metavar="QUERY", help=text("help.search_query")),
        k: int = typer.Option(0, "-k", min=0, help=text("help.k")),
        file_glob: str = typer.Option("", "--file", metavar="GLOB", help=text("help.file_glob")),
        heading: str = typer.Option("", "--heading", metavar="TEXT", help=text("help.heading")),
        explain: bool = typer.Option(False, "--explain", help=text("help.explain")),
    ) -> None:
        from ragcli.pipeline.search import Query, search_base

        env: Environment = ctx.obj
        base = env.base()
        result, stale = search_base(
            base, Query(question_of(query), k or base.settings.retrieval.k, file_glob, heading, explain)
        )
        if stale:
            env.screen.warn("search.stale")
        if env.screen.json:
            env.screen.json_out(result)
        else:
            print_hits(env.screen, result)
        if not result["hits"]:
            raise NothingFound("nothing_found")

    @app.command("ask", help=text("help.ask"), epilog=text("help.ask_examples"))
    def ask(
        ctx: typer.Context,
        question: str = typer.Argument(..., metavar="QUESTION|-", help=text("help.ask_question")),
        session: str = typer.Option("", "--session", metavar="ID", help=text("help.session")),
        k: int = typer.Option(0, "-k", min=0, help=text("help.k")),
        rewrite: str = typer.Option("", "--rewrite", metavar="|".join(REWRITES), help=text("help.rewrite")),
        timeout: float = typer.Option(-1.0, "--timeout", metavar="SECONDS", help=text("help.timeout")),
        file_glob: str = typer.Option("", "--file", metavar="GLOB", help=text("help.file_glob")),
        no_generate: bool = typer.Option(False, "--no-generate", help=text("help.no_generate")),
        no_states: bool = typer.Option(False, "--no-passage-states", help=text("help.no_passage_states")),
    ) -> None:
        from ragcli.cli.talk import opened, turn_options

        env: Environment = ctx.obj
        asked = question_of(question)
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
            stream = env.screen.interactive and not env.screen.json
            on_text = (lambda piece: env.screen.say(piece, end="")) if stream else None
            record = conversation.ask(asked, options, time.time, on_text=on_text)
        print_answer(env, record, streamed=stream)
        leave_by(record)


def question_of(argument: str) -> str:
    """Return the question, read from stdin where it is `-`."""
    question = sys.stdin.read() if argument == "-" else argument
    if not question.strip():
        raise UsageError("empty_question")
    return question.strip()


def print_answer(env: Environment, record: Json, *, streamed: bool) -> None:
    """Print a turn's answer and sources, or its JSON; where nothing was generated, the passages."""
    screen = env.screen
    if screen.json:
        screen.json_out(record)
        return
    if record["rewritten"] != [record["query"]] and not screen.quiet:
        screen.note("answer.rewrite", queries=" ｜ ".join(record["rewritten"]))
    if record["answer"]:
        screen.say("" if streamed else record["answer"])
        print_sources(screen, record["citations"])
    elif record["action"] == "answer":
        shown = [hit for hit in record["hits"] if hit["rank"] <= env.settings().retrieval.k]
        print_hits(screen, {"hits": shown})


def leave_by(record: Json) -> None:
    """Leave with the contract's exit code of a one-shot answer."""
    if record["action"] == "not_found":
        raise NothingFound("nothing_found")
    if record["action"] == "clarify":
        raise NeedsClarifying("needs_clarifying", question=record["answer"], session=record["session"])
