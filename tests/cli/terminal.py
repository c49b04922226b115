"""A terminal for tests: a program on a pseudo-terminal, and the screen that a person would see of it.

Run as a program it is ragcli with stand-ins for the models; its answers come a few characters at a time.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte

SCREENS = Path(__file__).parent / "screens"
PATIENCE = 30.0


class Terminal:
    """A program on a screen of its own."""

    def __init__(
        self, command: list[str], environ: dict[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=500)
        self._stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(
            command[0], command[1:], env=environ, dimensions=(rows, columns), timeout=PATIENCE, echo=False
        )

    def read(self, seconds: float = 0.05) -> str:
        """Take what the program wrote, and return the screen's text."""
        end = time.monotonic() + seconds
        while True:
            try:
                self._stream.feed(
                    self.child.read_nonblocking(65536, timeout=max(0.01, end - time.monotonic()))
                )
            except pexpect.TIMEOUT:
                pass
            except pexpect.EOF:
                break
            if time.monotonic() >= end:
                break
        return self.text

    @property
    def text(self) -> str:
        """What stands on the screen, without blank ends."""
        return "\n".join(line.rstrip() for line in self.screen.display).strip("\n")

    def wait_for(self, wanted: str | Callable[[str], bool], what: str = "") -> str:
        """Read until the screen holds a text."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.read()
            if wanted(text) if callable(wanted) else wanted in text:
                return text
            if not self.child.isalive():
                break
        raise AssertionError(f"{what or wanted!r} never came; the screen:\n{self.text}")

    def type(self, text: str) -> None:
        """Type as a person does."""
        self.child.send(text)

    def paste(self, text: str) -> None:
        """Paste in one piece, as a terminal marks it."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int = 24) -> None:
        """Change the window's size."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def kill(self) -> None:
        """End the program as `kill -9` does."""
        self.child.kill(signal.SIGKILL)
        self.child.wait()

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        self.read(0.1)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus)


def same_screen(name: str, text: str) -> None:
    """Compare a screen with the one that is kept; RAGCLI_SCREENS=write keeps it instead."""
    text = re.sub(r"\d{8}-\d{6}-\w+", "SESSION", text) + "\n"
    kept = SCREENS / f"{name}.txt"
    if os.environ.get("RAGCLI_SCREENS") == "write":
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8")


def main() -> int:
    """Run ragcli with stand-ins: answers by what the question holds, a few characters at a time."""
    from ragcli.cli.app import run
    from ragcli.datatypes import Completion
    from ragcli.pipeline import embedders, index, language, runs, searcher, upkeep
    from tests.doubles import HashEmbedder, ScriptedModel

    class Slow(ScriptedModel):
        def complete(self, messages, *, max_tokens, grammar=None, timeout=None, on_text=None):
            asked = messages[-1].content
            text = "GX-1 的滤网每 30 天清洗一次 [1]。\n" * (400 if "仔细" in asked else 1)
            if "水箱" in asked.rsplit("问题", 1)[-1]:
                text = "GX-1 的水箱容量是 4 升 [1]。"
            for start in range(0, len(text), 4):
                if on_text:
                    on_text(text[start : start + 4])
                time.sleep(0.02)
            return Completion(text, "stop", 10, 10, len(text), 0.0, 0.0)

    embedder, model = HashEmbedder(), Slow(["好。"])
    choice = embedders.EmbeddingChoice(dict(embedder.identity), lambda: embedder)
    for module in (runs, upkeep):
        module.passage_embedding = lambda _base: choice  # type: ignore[assignment]
    runs.token_counter = lambda *_: None  # type: ignore[assignment]
    searcher.model_facts = lambda _base: dict(embedder.identity)  # type: ignore[assignment]
    searcher.query_embedding = index.query_embedding = lambda _base: embedder  # type: ignore[assignment]
    language.LanguageModels._load = lambda _self, _name: model  # type: ignore[method-assign,assignment,return-value]
    language.restore_fixed = lambda *_: True  # type: ignore[assignment]
    sys.modules["ragcli.pipeline.engine"].restore_fixed = lambda *_: True  # type: ignore[attr-defined]
    return run(sys.argv[1:], dict(os.environ))


if __name__ == "__main__":
    sys.exit(main())
