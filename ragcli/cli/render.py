"""Everything that ragcli prints: results on stdout, messages and progress on stderr.

Text of documents, file names and models is shown, never obeyed: control, bidirectional and zero-width
characters become visible marks, and rich's markup is never parsed in it.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from ragcli.cli.messages import Messages
from ragcli.datatypes import Progress
from ragcli.errors import RagcliError

if TYPE_CHECKING:
    from rich.console import Console

_KEPT = {"\n", "\t"}
_FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# U+200D and U+FE0F hold emoji together; alone they do nothing.
_HARMLESS = {"\u200d", "\ufe0f"}


def visible(text: str) -> str:
    """Return the text with every character that could steer a terminal made visible.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a␛[31mb⟨202E⟩c'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char in _KEPT or char in _HARMLESS or unicodedata.category(char) not in _FORBIDDEN:
        return char
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return f"⟨{ord(char):04X}⟩"


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a command's output goes, and how: streams, colour, quiet, JSON, language."""

    out: IO[str]
    err: IO[str]
    messages: Messages
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    colour: bool = False

    @property
    def interactive(self) -> bool:
        """Whether a person watches stdout on a terminal."""
        return self.out.isatty() and os.environ.get("TERM") not in (None, "dumb")

    def say(self, text: str = "", *, end: str = "\n") -> None:
        """Print a result as it is, line breaks and all."""
        self.out.write(visible(text) + end)

    def note(self, key: str, **fields: object) -> None:
        """Print a message for the person on stderr, unless quiet."""
        if not self.quiet:
            self.err.write(visible(self.messages.text(key, **fields)) + "\n")

    def failed(self, err: RagcliError) -> None:
        """Print what went wrong and what helps, as one line on stderr."""
        message, remedy = self.messages.error(err)
        line = self.messages.text("error", message=message)
        line += self.messages.text("error_remedy", remedy=remedy) if remedy else ""
        self.err.write(visible(line).replace("\n", " ") + "\n")

    def warn(self, key: str, **fields: object) -> None:
        """Print a warning on stderr, quiet or not."""
        self.err.write(visible(self.messages.text("warning", text=self.messages.text(key, **fields))) + "\n")

    def json_out(self, value: Any) -> None:
        """Print one JSON value on a line, characters as they are."""
        import orjson

        self.out.write(orjson.dumps(value, default=str).decode() + "\n")
        self.out.flush()

    def console(self, *, err: bool = False) -> Console:
        """Return a rich console on one of the streams."""
        from rich.console import Console

        stream = self.err if err else self.out
        return Console(
            file=stream, force_terminal=self.colour and stream.isatty(), no_color=not self.colour, highlight=False,
            soft_wrap=not stream.isatty(), markup=False, emoji=False, width=None if stream.isatty() else 10_000,
        )  # fmt: skip

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print rows under column names: aligned on a terminal, tabs between the cells elsewhere."""
        if not self.interactive:
            for row in [columns, *rows]:
                self.say("\t".join(str(cell).replace("\t", " ").replace("\n", " ") for cell in row))
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in columns:
            table.add_column(visible(name), overflow="fold")
        for row in rows:
            table.add_row(*(Text(visible(str(cell))) for cell in row))
        self.console().print(table)

    @contextmanager
    def progress(self, title: str, unit: str = "") -> Iterator[Progress]:
        """Show long work: a bar on a terminal, a line a minute in a log, nothing when quiet."""
        if self.quiet:
            yield lambda done, total: None
            return
        if not self.err.isatty() or os.environ.get("TERM") in (None, "dumb"):
            yield _LogProgress(self, title, unit)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn(),
            console=self.console(err=True), transient=True,
        )  # fmt: skip
        with bar:
            task = bar.add_task(visible(title), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


class _LogProgress:
    """One line a minute, for logs."""

    def __init__(self, screen: Screen, title: str, unit: str) -> None:
        import time

        self._screen, self._title, self._unit, self._clock = screen, title, unit, time.monotonic
        self._next = self._clock() + 60

    def __call__(self, done: int, total: int) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + 60
            self._screen.err.write(visible(f"{self._title}: {done}/{total} {self._unit}".rstrip()) + "\n")
            self._screen.err.flush()


def make_screen(messages: Messages, environ: Mapping[str, str], **flags: bool) -> Screen:
    """Return the screen of this process, its streams in UTF-8 whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    no_colour = (
        flags.pop("no_color", False) or bool(environ.get("NO_COLOR")) or environ.get("TERM") in (None, "dumb")
    )
    return Screen(sys.stdout, sys.stderr, messages, colour=not no_colour and sys.stdout.isatty(), **flags)
