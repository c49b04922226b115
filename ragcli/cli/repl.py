"""The chat as a person has it: type, see how it was read, read the answer and where it stands.

Lines come from a line editor on a terminal and from the stream itself elsewhere; both take the same
commands. Ctrl-C stops an answer and keeps the session; at an empty prompt it hints, and a second one leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from ragcli.cli.commands import Leave, Talk, obey
from ragcli.cli.context import Environment
from ragcli.cli.passages import print_hits, print_sources
from ragcli.config import state_dir
from ragcli.datatypes import Json
from ragcli.errors import RagcliError
from ragcli.pipeline.conversation import Conversation
from ragcli.pipeline.engine import TurnOptions
from ragcli.pipeline.warm import warm_idle

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from ragcli.dialogue.reading import Reading


@dataclass
class Repl:
    """A running chat."""

    env: Environment
    conversation: Conversation
    options: TurnOptions
    clock: Callable[[], float]
    talk: Talk = field(init=False)

    def __post_init__(self) -> None:
        self.talk = Talk(self.env, self.conversation, self.options)

    def run(self, stdin: IO[str]) -> None:
        """Take lines until the end; every error is told and the chat goes on."""
        screen = self.env.screen
        searcher = self.conversation.engine.searcher
        screen.note(
            "chat.welcome", files=len(searcher.store.documents()), chunks=searcher.store.count_chunks()
        )
        if self.conversation.state.turn:
            screen.note("chat.resumed", session=self.conversation.name, turn=self.conversation.state.turn + 1)
        for line in self._typed() if stdin.isatty() else self._piped(stdin):
            try:
                self._line(line)
            except Leave:
                return
            except RagcliError as err:
                screen.failed(err)
            except KeyboardInterrupt:
                screen.note("answer.interrupted")

    def _line(self, line: str) -> None:
        if line[0] in "/／":
            obey(self.talk, line[1:].strip())
            return
        screen = self.env.screen
        stream = screen.interactive
        record = self.talk.conversation.ask(
            line,
            self.talk.options,
            self.clock,
            on_rewrite=self._show_reading,
            on_text=(lambda piece: self._stream(piece)) if stream else None,
        )
        self.talk.last = record
        self._show(record, streamed=stream)

    def _show_reading(self, reading: Reading) -> None:
        """Print how a question was read, before its answer."""
        if list(reading.queries) != [reading.query]:
            self._dim(self.env.screen.messages.text("answer.rewrite", queries=" ｜ ".join(reading.queries)))

    def _stream(self, piece: str) -> None:
        self.env.screen.say(piece, end="")
        self.env.screen.out.flush()

    def _show(self, record: Json, *, streamed: bool) -> None:
        screen = self.env.screen
        if record["answer"]:
            screen.say("" if streamed else record["answer"])
            print_sources(screen, record["citations"])
        elif record["action"] == "answer":
            print_hits(screen, {"hits": record["hits"][: self.talk.options.k]})
        screen.say()
        screen.out.flush()

    def _dim(self, text: str) -> None:
        screen = self.env.screen
        if screen.colour:
            from rich.text import Text

            from ragcli.cli.render import visible

            screen.console().print(Text(visible(text), style="dim"))
        else:
            screen.say(text)

    def _piped(self, stdin: IO[str]) -> Iterator[str]:
        for line in stdin:
            if line.strip():
                self.env.screen.say(f"> {line.strip()}")
                yield line.strip()

    def _typed(self) -> Iterator[str]:
        """Yield what is typed; Ctrl-D ends, Ctrl-C clears the line, hints, and the second one leaves with 130."""
        session = self._editor()
        hinted = False
        while True:
            try:
                with self.conversation.engine.models.idle.during(self._while_waiting):
                    line = session.prompt("› ").strip()
            except EOFError:
                return
            except KeyboardInterrupt:
                if hinted:
                    raise
                hinted = True
                self.env.screen.note("chat.hint_quit")
                continue
            hinted = False
            if line:
                yield line

    def _while_waiting(self) -> None:
        """Let the model read: first this conversation, then passages that may be asked for."""
        if not self.options.generate:
            return
        self.talk.conversation.read_ahead()
        warm_idle(self.conversation.engine.models)

    def _editor(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory, InMemoryHistory

        from ragcli.storage.files import make_dir

        folder = state_dir(self.env.environ)
        try:
            make_dir(folder, mode=0o700)
            history: FileHistory | InMemoryHistory = FileHistory(str(folder / "chat-history"))
        except RagcliError:
            history = InMemoryHistory()
        words = WordCompleter(self._words(), sentence=True)
        return PromptSession(history=history, completer=words, complete_while_typing=False)

    def _words(self) -> Sequence[str]:
        from ragcli.cli.commands import COMMANDS

        terms = self.conversation.engine.searcher.vocabulary.terms
        return [f"/{name}" for name in COMMANDS] + [term.text for term in terms if term.kind == "name"][:500]
