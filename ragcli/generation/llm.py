"""The embedded language model: a GGUF file run by llama.cpp, which only this module imports.

Tokens of a prompt and the answer to it; how a prompt gets into the cache is `cells.py`. Greedy; stops between
tokens for a time limit, a cancel or Ctrl-C, and the cache stays usable. It writes no files.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragcli.datatypes import Completion, Message, StateStore
from ragcli.errors import ModelUnusable, NoUsableAnswer
from ragcli.generation import state
from ragcli.generation.cells import SEQUENCES, Cells, Fixed, Part
from ragcli.generation.gguf import memory_need, read_header
from ragcli.generation.lookup import guess
from ragcli.generation.native import Aborted, Grammar, Native, NativeOptions, build_of
from ragcli.generation.run import Run
from ragcli.generation.slots import Slot
from ragcli.generation.streaming import looping
from ragcli.generation.template import marks_of, opening, render

__all__ = ["Aborted", "LlamaModel", "can_shift", "kept_name", "memory_need", "state_key"]

_SPIN = "1000"
DEFAULTS = NativeOptions(cells=0, sequences=SEQUENCES, threads=0)
_ROLE_ROOM = 2048  # cells beside the context for the other role's prompt


class LlamaModel:
    """A chat model in a GGUF file."""

    def __init__(
        self,
        path: Path,
        context_tokens: int = 4096,
        threads: int | None = None,
        *,
        model_hash: str = "",
        verbose: bool = False,
        cancelled: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
        flash_attention: bool = True,
        cache_type: str = "f16",
        batch: int = 512,
        lookup: int = 0,
        repack: bool | None = None,
        store: StateStore | None = None,
    ) -> None:
        """Load the file; `threads` None or 0 means every core, `cancelled` is asked at every token.

        `model_hash` (the file's sha256) names the model in the states that `store` keeps.
        Raises ModelUnusable where the file, its chat template or the memory don't do.
        """
        read_header(path)
        options = NativeOptions(
            cells=-(-(context_tokens + min(_ROLE_ROOM, context_tokens)) // 256) * 256,
            sequences=SEQUENCES,
            threads=threads or cores(),
            batch=batch,
            flash_attention=flash_attention,
            cache_type=cache_type,
            repack=repack,
        )
        self._path, self._context_tokens, self._clock = path, context_tokens, clock
        self._cancelled = cancelled or (lambda: False)
        self._lookup = lookup
        self._ahead = 0
        lib = _library(verbose=verbose)
        self._key = state.key_of(
            model_hash or f"{path.resolve()}:{path.stat().st_size}", build_of(lib, options)
        )
        self._store = store
        self._native = Native(lib, path, options)
        self._cells = Cells(self._native, self._key, store)
        self._template = self._checked_template()

    @property
    def context_tokens(self) -> int:
        """How many tokens the prompt and the answer may take together."""
        return self._context_tokens

    @property
    def opens_thought(self) -> bool:
        """Whether the template begins every answer inside a thought."""
        return opening(self._apply).rstrip().endswith("<think>")

    def close(self) -> None:
        """Give the memory back."""
        self._native.close()

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text takes."""
        return len(self._native.tokenize(text))

    def prompt_tokens(self, messages: Sequence[Message]) -> int:
        """Return how many tokens a prompt takes, marks and the assistant's opening included."""
        return len(self._tokens(messages))

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        grammar: str | None = None,
        timeout: float | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Write an answer; `grammar` is GBNF; `on_text` gets each piece of text as it comes.

        `timeout` is in seconds and covers the prompt too. Raises NoUsableAnswer for a prompt that leaves no
        room for an answer.
        """
        run = self._run(timeout)
        run.ahead, self._ahead = self._ahead, 0
        parts = self._parts(messages)
        size = sum(len(part.tokens) for part in parts)
        room = min(max_tokens, self._context_tokens - size)
        if room < 1:
            raise NoUsableAnswer("prompt_too_long", tokens=size, limit=self._context_tokens)
        try:
            slot = self._cells.fill(parts, room, run)
        except Aborted:
            return run.completion(size)
        held = self._native.grammar(grammar) if grammar else None
        try:
            self._write(slot, room, held, run, on_text)
        finally:
            if held:
                held.close()
        return run.completion(size)

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        """Return the mean log-probability a token of each answer, its end mark included."""
        wanted = [[*self._native.tokenize(answer), self._native.end_token()] for answer in answers]
        slot = self._cells.fill(self._parts(messages), max(map(len, wanted), default=1), self._run(None))
        first = log_softmax(self._native.logits())
        return [self._likelihood(slot, first, tokens) for tokens in wanted]

    # ------------------------------------------------------------ what was read before

    @property
    def keeps_passages(self) -> bool:
        """Whether passages that were read once can be put back: the model can move them and there is a store."""
        return self._cells.keeps_passages

    def prepare(self, messages: Sequence[Message], opening: str = "") -> bool:
        """Read the messages that a role's prompts begin with, or put their state back from the store.

        `opening` is what the person's first message begins with, where that is always the same. Returns whether
        nothing had to be evaluated.
        """
        fixed = self._fixed(messages)
        if self._cells.holds(fixed):
            return True
        tokens = self._prefix(messages, opening)
        name = state.name_of(self._key, tokens)
        kept = self._store.get(name) if self._store is not None else None
        if kept and self._cells.load_fixed(kept, fixed, tokens):
            return True
        run = self._run(None)
        made = self._cells.save_fixed(fixed, tokens, run)
        self._ahead += run.evaluated
        if self._store is not None:
            self._store.put(name, made)
        return run.evaluated == 0

    def read(self, messages: Sequence[Message], opening: str = "") -> None:
        """Read ahead what the next prompt begins with: these messages, and a user's that begins with `opening`.

        Raises Aborted where the caller gave up meanwhile; what was read by then stays.
        """
        run = self._run(None)
        try:
            self._cells.hold(self._prefix(messages, opening), run)
        finally:
            self._ahead += run.evaluated

    def warm(self, messages: Sequence[Message], text: str) -> bool:
        """Read a passage ahead of its use behind a fixed part, and keep it; False where nothing was to do.

        Raises Aborted where the caller gave up meanwhile; nothing of the passage is kept then.
        """
        part = Part(self._native.tokenize(text), text)
        return self._cells.warm(self._fixed(messages), part, self._run(None))

    # ------------------------------------------------------------ inside

    def _apply(self, messages: Sequence[tuple[str, str]]) -> str | None:
        return self._native.apply_template(self._template, messages)

    def _checked_template(self) -> str:
        template = self._native.template()
        if not template:
            raise ModelUnusable("no_chat_template", path=self._path)
        if self._native.apply_template(template, [("user", "x")]) is None:
            raise ModelUnusable("unknown_chat_template", path=self._path)
        for mark in marks_of(self._native.apply_template(template, [("user", "x")]) or ""):
            if len(self._native.tokenize(mark, marks=True)) != 1:
                raise ModelUnusable("wrong_chat_template", path=self._path, mark=mark)
        return template

    def _parts(self, messages: Sequence[Message]) -> list[Part]:
        pieces = render(messages, self._apply)
        if pieces is None:
            raise ModelUnusable("unknown_chat_template", path=self._path)
        parts = [Part(self._native.first_tokens())]
        for piece in pieces:
            tokens = self._native.tokenize(piece.text, marks=piece.marks)
            parts.append(Part(tokens, piece.text if piece.kept else ""))
        return parts

    def _tokens(self, messages: Sequence[Message]) -> list[int]:
        return [token for part in self._parts(messages) for token in part.tokens]

    def _fixed(self, messages: Sequence[Message]) -> Fixed:
        return Fixed(self._prefix(messages), state.fixed_name(messages))

    def _run(self, timeout: float | None) -> Run:
        return Run(self._clock(), timeout, self._clock, self._cancelled)

    def _prefix(self, messages: Sequence[Message], opening: str = "") -> list[int]:
        """Return the tokens that every prompt beginning with these messages has in common."""
        one, other = (
            self._tokens([*messages, Message("user", opening + end, (opening, end))]) for end in ("a", "b")
        )
        same = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), len(one))
        return one[:same]

    def _write(
        self, slot: Slot, room: int, grammar: Grammar | None, run: Run, on_text: Callable[[str], None] | None
    ) -> None:
        run.on_text, run.room = on_text, room
        at: int | None = -1
        while at is not None:
            logits = self._native.logits(at)
            token = grammar.pick(logits) if grammar else int(logits.argmax())
            if not self._takes(token, run):
                return
            guesses = (
                [] if grammar else guess([*slot.tokens, token], min(self._lookup, room - len(run.tokens)))
            )
            self._native.decode([token, *guesses], len(slot.tokens), slot.sequence, all_logits=bool(guesses))
            slot.tokens.append(token)
            at = self._confirmed(slot, guesses, run) if guesses else -1

    def _confirmed(self, slot: Slot, guesses: Sequence[int], run: Run) -> int | None:
        """Take the guesses that the model would have written; return where to go on, None at the end."""
        for place, token in enumerate(guesses):
            if int(self._native.logits(place).argmax()) != token:
                break
            if not self._takes(token, run):
                return None
            slot.tokens.append(token)
            run.guessed += 1
        else:
            place = len(guesses)
        self._native.forget(slot.sequence, len(slot.tokens))
        return place

    def _takes(self, token: int, run: Run) -> bool:
        """Add a token to the answer; False where the answer ends with it."""
        if self._native.ends(token):
            run.finish = "stop"
            return False
        run.take(token, self._native.piece(token))
        if len(run.tokens) >= run.room or looping(run.tokens):
            run.finish = "length"
            return False
        return not run.over()

    def _likelihood(self, slot: Slot, first: Any, tokens: Sequence[int]) -> float:
        """Return the mean over one answer; the sequence is left as it was."""
        total = float(first[tokens[0]])
        if len(tokens) > 1:
            start = len(slot.tokens)
            self._native.decode(tokens[:-1], start, slot.sequence, all_logits=True)
            for i, token in enumerate(tokens[1:]):
                total += float(log_softmax(self._native.logits(i))[token])
            self._native.forget(slot.sequence, start)
        return total / len(tokens)


def state_key(model_hash: str, options: NativeOptions = DEFAULTS) -> str:
    """Return what the names of a model's kept states begin with; the model isn't loaded for it."""
    return state.key_of(model_hash, build_of(_library(verbose=False), options))


def can_shift(path: Path) -> bool:
    """Tell whether what a model has read can be moved to another place; loads it in its smallest form."""
    native = Native(_library(verbose=False), path, NativeOptions(256, 1, 1, batch=64, repack=False))
    try:
        return native.can_shift()
    finally:
        native.close()


def kept_name(key: str, fixed: Sequence[Message], text: str) -> str:
    """Return the name under which a passage read behind a fixed part is kept."""
    return state.passage_name(key, state.fixed_name(fixed), text)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def log_softmax(logits: Any) -> Any:
    """Return log-probabilities of scores."""
    values = np.asarray(logits, dtype=np.float64)
    top = values.max()
    return values - (top + np.log(np.exp(values - top).sum()))


_QUIET: list[Any] = []  # the callback must outlive every call of the library


def _library(*, verbose: bool) -> Any:
    """Import llama.cpp; its own log goes to stderr only when asked for."""
    # Threads that wait by spinning take the processor from each other wherever anything else runs: on two busy
    # cores 4.8 instead of 1.3 tokens a second came out without it. Read once, when OpenMP is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", _SPIN)
    try:
        import llama_cpp as lib
    except (ImportError, OSError) as err:
        raise ModelUnusable("llama_missing", reason=str(err)) from err
    if not verbose:
        if not _QUIET:
            _QUIET.append(lib.llama_log_callback(lambda _level, _text, _data: None))
        lib.llama_log_set(_QUIET[0], ctypes.c_void_p(0))
    lib.llama_backend_init()
    return lib
