"""Get a prompt into the model's memory as cheaply as it goes: found there, put back from a store, or evaluated.

A prompt's beginning is looked for in the sequences; a text that comes again (a passage) was evaluated once by
itself behind the fixed part, is moved to its place and joined in. No chats and no answers here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragcli.datatypes import StateStore
from ragcli.generation import state
from ragcli.generation.native import Aborted, Native
from ragcli.generation.run import Run
from ragcli.generation.slots import Slot, Slots, common

SLOTS = 3  # rewriter, generator, and one more prompt
_SCRATCH, _SPARE = SLOTS, SLOTS + 1
SEQUENCES = SLOTS + 2


class Part(NamedTuple):
    """Tokens of a prompt; `text` where their evaluated state may be put back: a passage's own words."""

    tokens: Sequence[int]
    text: str = ""


class Fixed(NamedTuple):
    """The beginning of a role's prompts: its tokens, and its name in those of the states made behind it."""

    tokens: Sequence[int]
    name: str


class Cells:
    """The cells of one context, and the store of states that outlive it."""

    def __init__(self, native: Native, key: str, store: StateStore | None) -> None:
        self._native, self._key, self._store = native, key, store
        self.slots = Slots(SLOTS, native.options.cells)
        self._fixed: list[Fixed] = []

    @property
    def keeps_passages(self) -> bool:
        """Whether evaluated passages can be put back: the model can move them, and there is a store."""
        return self._store is not None and self._native.can_shift()

    def fill(self, parts: Sequence[Part], answer: int, run: Run) -> Slot:
        """Return a sequence that holds the prompt, with room for an answer; its last token is evaluated now."""
        tokens = [token for part in parts for token in part.tokens]
        fixed = self._fixed_of(tokens) if self.keeps_passages else None
        kept = [len(part.tokens) for part in parts if part.text] if fixed else []
        slot, known = self.make_room(tokens, answer, max(kept, default=0))
        waiting: list[int] = []
        start = 0
        for part in parts:
            end = start + len(part.tokens)
            whole = part.text and start >= known and start >= len(fixed.tokens if fixed else ())
            if fixed and whole:
                self.evaluate(slot, waiting, run)
                waiting = [] if self._put_back(slot, fixed, part, run) else list(part.tokens)
            else:
                waiting += part.tokens[max(0, known - start) :]
            start = end
        self.evaluate(slot, waiting, run)
        return slot

    def evaluate(self, slot: Slot, tokens: Sequence[int], run: Run) -> None:
        """Evaluate tokens behind those that a sequence holds; raises Aborted where the run is over."""
        began = run.clock()
        batch = self._native.options.batch
        for start in range(0, len(tokens), batch):
            part = tokens[start : start + batch]
            if run.over():
                raise Aborted
            self._native.decode(part, len(slot.tokens), slot.sequence, check=run.over)
            slot.tokens.extend(part)
            run.evaluated += len(part)
        run.evaluate_s += run.clock() - began

    def make_room(self, tokens: Sequence[int], answer: int, spare: int = 0) -> tuple[Slot, int]:
        """Return the sequence for a prompt and how many of its tokens it holds, with room for the rest.

        A caller that wants no answer leaves what follows the prompt in place.
        """
        slot, known = self.slots.choose(tokens)
        for sequence in (_SCRATCH, _SPARE):
            self._native.forget(sequence)
        for each in self.slots.all:  # an interrupted call may have left cells that nobody counted
            self._native.forget(each.sequence, len(each.tokens))
        kept = 0 if answer else len(slot.tokens)
        for other in self.slots.crowded_out(slot, max(len(tokens), kept) + answer + spare):
            other.tokens = []
            self._native.forget(other.sequence)
        if answer:
            del slot.tokens[known:]
            self._native.forget(slot.sequence, known)
        return slot, known

    def hold(self, tokens: Sequence[int], run: Run, spare: int = 0) -> Slot:
        """Return a sequence that begins with these tokens; what else it holds stays where it begins so already."""
        slot, known = self.make_room(tokens, 0, spare)
        if common(slot.tokens, tokens) < len(tokens):
            del slot.tokens[known:]
            self._native.forget(slot.sequence, known)
            self.evaluate(slot, tokens[known:], run)
        return slot

    # ------------------------------------------------------------ the fixed part

    def holds(self, fixed: Fixed) -> bool:
        """Tell whether a sequence holds a known fixed part."""
        size = len(fixed.tokens)
        return fixed in self._fixed and any(
            common(slot.tokens, fixed.tokens) == size for slot in self.slots.all
        )

    def save_fixed(self, fixed: Fixed, tokens: Sequence[int], run: Run) -> bytes:
        """Return the state of tokens that begin with a fixed part, evaluated first where no sequence holds them."""
        self._know(fixed)
        slot = self.hold(tokens, run)
        self._native.copy(slot.sequence, _SCRATCH, len(tokens))
        try:
            return state.pack(self._key, tokens, self._native.state(_SCRATCH))
        finally:
            self._native.forget(_SCRATCH)

    def load_fixed(self, data: bytes, fixed: Fixed, tokens: Sequence[int]) -> bool:
        """Put such a state back; False, and nothing changes, where it isn't exactly that of these tokens."""
        cells = state.unpack(data, self._key, tokens)
        if cells is None:
            return False
        slot, _ = self.make_room(tokens, 0)
        slot.tokens = []
        if not self._native.put_state(slot.sequence, cells):
            return False
        slot.tokens = list(tokens)
        self._know(fixed)
        return True

    def _know(self, fixed: Fixed) -> None:
        if fixed not in self._fixed:
            self._fixed.append(fixed)

    def _fixed_of(self, tokens: Sequence[int]) -> Fixed | None:
        """Return the longest known fixed part that a prompt begins with."""
        found = [fixed for fixed in self._fixed if common(fixed.tokens, tokens) == len(fixed.tokens)]
        return max(found, key=lambda fixed: len(fixed.tokens), default=None)

    # ------------------------------------------------------------ passages

    def warm(self, fixed: Fixed, part: Part, run: Run) -> bool:
        """Evaluate a passage ahead of its use; False where it is kept already or can't be kept."""
        name = state.passage_name(self._key, fixed.name, part.text)
        if not self.keeps_passages or self._store is None or self._store.has(name):
            return False
        slot = self.hold(fixed.tokens, run, len(part.tokens))
        return self._store.put(name, self._made(slot, fixed, part, run))

    def _put_back(self, slot: Slot, fixed: Fixed, part: Part, run: Run) -> bool:
        """Join a passage to a sequence's end, evaluated now by itself where nobody kept it."""
        assert self._store is not None  # noqa: S101  `keeps_passages` was asked
        began = run.clock()
        name = state.passage_name(self._key, fixed.name, part.text)
        data = self._store.get(name)
        cells = state.unpack(data, self._passage_key(fixed), part.tokens) if data else None
        was_kept = cells is not None
        if cells is None:
            made = self._made(slot, fixed, part, run)
            self._store.put(name, made)
            cells = state.unpack(made, self._passage_key(fixed), part.tokens)
            began = run.clock()
        if cells is None or not self._native.put_state(_SPARE, cells):
            return False
        self._native.move_into(_SPARE, slot.sequence, len(slot.tokens) - len(fixed.tokens))
        slot.tokens.extend(part.tokens)
        run.put_back += len(part.tokens) if was_kept else 0
        run.put_back_s += run.clock() - began
        return True

    def _made(self, slot: Slot, fixed: Fixed, part: Part, run: Run) -> bytes:
        """Return the state of a passage, evaluated by itself behind the fixed part that `slot` begins with."""
        start = len(fixed.tokens)
        self._native.copy(slot.sequence, _SCRATCH, start)
        scratch = Slot(_SCRATCH, list(fixed.tokens))
        try:
            self.evaluate(scratch, part.tokens, run)
            self._native.copy(_SCRATCH, _SPARE, start + len(part.tokens), start)
            return state.pack(self._passage_key(fixed), part.tokens, self._native.state(_SPARE))
        finally:
            self._native.forget(_SCRATCH)
            self._native.forget(_SPARE)

    def _passage_key(self, fixed: Fixed) -> str:
        return f"{self._key}/{fixed.name}"
