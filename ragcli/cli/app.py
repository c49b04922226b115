"""The command line: global flags, the commands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ragcli import __version__, config
from ragcli.cli.messages import Messages, choose_language
from ragcli.cli.render import Screen, make_screen
from ragcli.errors import RagcliError, UsageError

if TYPE_CHECKING:
    import typer

_SWITCHES = {
    "--json": "json",
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--no-color": "no_color",
}


class Terminated(BaseException):
    """The process was asked to end (SIGTERM)."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The command line with its global flags taken out: they count before and after the command."""

    rest: list[str]
    switches: dict[str, bool]
    kb: str | None = None


def take_global_flags(argv: Sequence[str]) -> Typed:
    """Return what was typed with the global flags apart; nothing after `--` is a flag.

    >>> take_global_flags(["ask", "为什么", "--json", "--kb", "x"]).rest
    ['ask', '为什么']
    """
    rest: list[str] = []
    switches: dict[str, bool] = {}
    kb = None
    words = iter(argv)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in _SWITCHES:
            switches[_SWITCHES[word]] = True
        elif word == "--kb":
            kb = next(words, "")
            if not kb:
                raise UsageError("kb_without_folder")
        elif word.startswith("--kb="):
            kb = word.removeprefix("--kb=")
        else:
            rest.append(word)
    return Typed(rest, switches, kb)


def build(messages: Messages) -> typer.Typer:
    """Return the command tree with its help in one language."""
    import typer

    from ragcli.cli import ask, badcase, base, chat, evaluate, models, sessions, upkeep, warm

    app = typer.Typer(
        name="ragcli",
        help=messages.text("help.about"),
        epilog=messages.text("help.epilog"),
        rich_markup_mode=None,
        add_completion=True,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for part in (base, ask, chat, sessions, badcase, evaluate, models, warm, upkeep):
        part.register(app, messages)
    return app


def _root() -> None:
    """Hold the commands together; the global flags are taken before they get here."""


def run(argv: Sequence[str], environ: dict[str, str] | os._Environ[str]) -> int:
    """Run one command line; return its exit code."""
    messages = Messages(choose_language(environ.get("RAGCLI_UI_LANGUAGE", "auto"), environ))
    screen = make_screen(messages, environ)
    try:
        typed = take_global_flags(argv)
        kb = config.base_dir(typed.kb, environ, Path.cwd())
        language = _language(kb, environ)
        messages = Messages(choose_language(language, environ))
        screen = make_screen(messages, environ, **typed.switches)
        if typed.rest == ["--version"]:
            screen.say(f"ragcli {__version__}")
            return 0
        return _invoke(typed, messages, screen, environ)
    except RagcliError as err:
        _print_error(screen, err)
        return err.exit_code
    except KeyboardInterrupt:
        return 130
    except Terminated:
        return 143
    except BrokenPipeError:
        _ignore_closed_pipe()
        return 0
    except MemoryError:
        _print_error(screen, RagcliError("out_of_memory"))
        return 1
    except Exception as err:
        return _unexpected(screen, err, environ)


def _language(kb: Path, environ: dict[str, str] | os._Environ[str]) -> str:
    """Return the language setting; where the settings are broken, the command itself will say so."""
    try:
        return config.load_settings(kb, environ).ui.language
    except RagcliError:
        return "auto"


def _invoke(
    typed: Typed, messages: Messages, screen: Screen, environ: dict[str, str] | os._Environ[str]
) -> int:
    import typer
    from typer.main import get_command

    from ragcli.cli.context import Environment

    command = get_command(build(messages))
    try:
        result = command.main(
            args=typed.rest,
            prog_name="ragcli",
            standalone_mode=False,
            obj=Environment(screen, environ, typed.kb),
        )
    except typer.Exit as done:
        return int(done.exit_code)
    except typer.Abort:
        return 130
    except SystemExit as left:
        # The library ends the process with 1 where the reader of a pipe has left; that is no error here.
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        raise
    except typer.TyperException as err:
        if type(err).__name__ == "NoArgsIsHelpError":
            screen.out.write(str(getattr(err, "ctx", None) and err.ctx.get_help()) + "\n")  # type: ignore[attr-defined]
            return 2
        text = err.format_message() if hasattr(err, "format_message") else str(err)
        raise UsageError("usage", text=text.replace("\n", " ")) from err
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _print_error(screen: Screen, err: RagcliError) -> None:
    """Print one line on stderr, and with --json the same as a value on the last line."""
    try:
        sys.stdout.flush()
        screen.failed(err)
        if screen.verbose and err.exit_code not in (3, 4, 5, 7):
            traceback.print_exception(err, file=screen.err)
        if screen.json:
            import orjson

            message, remedy = screen.messages.error(err)
            body = {"code": err.exit_code, "kind": err.kind, "message": message, "remedy": remedy}
            screen.err.write(orjson.dumps({"error": body}, default=str).decode() + "\n")
    except BrokenPipeError:
        _ignore_closed_pipe()


def _unexpected(screen: Screen, err: Exception, environ: dict[str, str] | os._Environ[str]) -> int:
    """Keep the traceback in a log file and print where; a fault of ours must never flood a terminal."""
    from ragcli.storage.files import make_dir, write_atomic

    path = config.state_dir(environ) / f"fault-{os.getpid()}.log"
    try:
        make_dir(path.parent)
        write_atomic(
            path, "".join(traceback.format_exception(err)).encode("utf-8", "backslashreplace"), mode=0o600
        )
    except RagcliError:
        path = Path("-")
    fault = RagcliError("unexpected", reason=f"{type(err).__name__}: {err}", path=path)
    _print_error(screen, fault)
    if path == Path("-") and not screen.verbose:
        traceback.print_exception(err, file=screen.err)
    return 1


def _ignore_closed_pipe() -> None:
    """Let Python's last flush go nowhere: the reader of the pipe has left, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise Terminated


def main() -> NoReturn:
    """Run this process's command line and leave with its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    code = run(sys.argv[1:], os.environ)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _ignore_closed_pipe()
    sys.exit(code)
