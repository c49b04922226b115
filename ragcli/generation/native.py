"""llama.cpp's low-level calls, as few and as plain as the adapter in `llm.py` needs.

The library is handed in by `llm.py`, which alone imports it. Nothing here knows about chats, roles or reuse:
one model, one context with several sequences in one unified cache.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import ModelUnusable

CACHE_TYPES = {"f16": 1, "q8_0": 8}
_ABORTED, _NO_CELLS = 2, 1


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """How a model is loaded: cells of the cache, sequences, threads, and what was measured to pay."""

    cells: int
    sequences: int
    threads: int
    batch: int = 512
    flash_attention: bool = True
    cache_type: str = "f16"
    repack: bool | None = (
        None  # None: wherever the build has no AMX tiles, which die on some virtual machines
    )
    map_file: bool = True


class Aborted(Exception):
    """The evaluation was stopped by the check that was handed in; nothing of the batch is kept."""


def build_of(lib: Any, options: NativeOptions) -> str:
    """Return what a stored state depends on besides the model and the tokens."""
    return "|".join(
        (
            str(lib.__version__),
            bytes(lib.llama_print_system_info()).decode("ascii", "replace").strip(),
            options.cache_type,
            str(options.batch),
            str(options.flash_attention),
            str(repacks(lib, options)),
        )
    )


def repacks(lib: Any, options: NativeOptions) -> bool:
    """Tell whether the weights are laid out anew for this processor, which keeps a second copy of them."""
    if options.repack is not None:
        return options.repack
    return b"AMX_INT8 = 1" not in bytes(lib.llama_print_system_info())


class Native:
    """A loaded model and its context."""

    def __init__(self, lib: Any, path: Path, options: NativeOptions) -> None:
        self.lib = lib
        self.options = options
        self._path = path
        self._check: Callable[[], bool] | None = None
        self._pending: BaseException | None = None
        self.model = self._load()
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.words = int(lib.llama_vocab_n_tokens(self.vocab))
        self.context = self._open()
        self.memory = lib.llama_get_memory(self.context)
        self._batch = lib.llama_batch_init(options.batch, 0, 1)
        self._abort = lib.ggml_abort_callback(self._aborting)
        self._no_abort = lib.ggml_abort_callback()
        self._pieces: dict[int, bytes] = {}

    def close(self) -> None:
        """Give the memory back; the object can't be used afterwards."""
        if self.model:
            self.lib.llama_batch_free(self._batch)
            self.lib.llama_free(self.context)
            self.lib.llama_model_free(self.model)
            self.model = self.context = None

    def can_shift(self) -> bool:
        """Tell whether evaluated cells may be moved to another position."""
        return bool(self.lib.llama_memory_can_shift(self.memory))

    # ------------------------------------------------------------ text and tokens

    def tokenize(self, text: str, *, marks: bool = False) -> list[int]:
        """Return the tokens of a text; control marks count only where `marks` says that we wrote them."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (self.lib.llama_token * room)()
        count = self.lib.llama_tokenize(self.vocab, data, len(data), buffer, room, False, marks)
        if count < 0:
            raise ModelUnusable("tokenizer_failed", path=self._path)
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """Return a token's bytes; control tokens have none."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(256)
            count = self.lib.llama_token_to_piece(self.vocab, token, buffer, 256, 0, False)
            self._pieces[token] = buffer.raw[: max(count, 0)]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        """Tell whether a token ends the model's turn: an end mark, or any other control token."""
        vocab = self.vocab
        return bool(
            self.lib.llama_vocab_is_eog(vocab, token) or self.lib.llama_vocab_is_control(vocab, token)
        )

    def is_control(self, token: int) -> bool:
        """Tell whether a token is one of the template's marks."""
        return bool(self.lib.llama_vocab_is_control(self.vocab, token))

    def first_tokens(self) -> list[int]:
        """Return what every prompt of this model begins with."""
        if self.lib.llama_vocab_get_add_bos(self.vocab):
            return [int(self.lib.llama_vocab_bos(self.vocab))]
        return []

    def end_token(self) -> int:
        """Return the token that ends an assistant's message."""
        token = int(self.lib.llama_vocab_eot(self.vocab))
        return token if token >= 0 else int(self.lib.llama_vocab_eos(self.vocab))

    def template(self) -> str:
        """Return the chat template in the model file, or an empty string."""
        found = self.lib.llama_model_chat_template(self.model, None)
        return found.decode("utf-8", "replace") if found else ""

    def apply_template(self, template: str, messages: Sequence[tuple[str, str]]) -> str | None:
        """Return the chat as text with the assistant's opening, or None for a template nobody knows."""
        kind = self.lib.llama_chat_message
        chat = (kind * len(messages))(*(kind(role.encode(), text.encode()) for role, text in messages))
        size = 4096 + 4 * sum(len(text.encode()) for _, text in messages)
        buffer = ctypes.create_string_buffer(size)
        count = self.lib.llama_chat_apply_template(template.encode(), chat, len(messages), True, buffer, size)
        return buffer.raw[:count].decode("utf-8", "replace") if 0 <= count <= size else None

    # ------------------------------------------------------------ evaluation

    def decode(
        self,
        tokens: Sequence[int],
        position: int,
        sequence: int,
        *,
        all_logits: bool = False,
        check: Callable[[], bool] | None = None,
    ) -> None:
        """Evaluate at most a batch of tokens; `check` is asked while it runs, and True stops it."""
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = position + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = 1 if all_logits or i == len(tokens) - 1 else 0
        self._check, self._pending = check, None
        callback = self._abort if check else self._no_abort
        self.lib.llama_set_abort_callback(self.context, callback, None)
        usual, sys.unraisablehook = sys.unraisablehook, self._lost
        try:
            code = self.lib.llama_decode(self.context, batch)
        finally:
            sys.unraisablehook = usual
        if code == 0 and self._pending is None:
            return
        self.forget(sequence, position)
        if self._pending is not None:
            raise self._pending
        if code == _ABORTED:
            raise Aborted
        raise ModelUnusable(
            "cache_full" if code == _NO_CELLS else "decode_failed", path=self._path, code=code
        )

    def logits(self, index: int = -1) -> NDArray[np.float32]:
        """Return the scores of the next token after the last (or the `index`-th) evaluated one; not a copy."""
        pointer = self.lib.llama_get_logits_ith(self.context, index)
        return np.ctypeslib.as_array(pointer, shape=(self.words,))

    def forget(self, sequence: int, start: int = 0) -> None:
        """Drop a sequence's cells from a position on."""
        self.lib.llama_memory_seq_rm(self.memory, sequence, start, -1)

    def copy(self, source: int, target: int, end: int, start: int = 0) -> None:
        """Let `target` hold the cells of `source` from position `start` to `end`, and no others."""
        self.forget(target)
        self.lib.llama_memory_seq_cp(self.memory, source, target, start, end)

    def move_into(self, source: int, target: int, distance: int) -> None:
        """Shift all cells of `source` by a distance and hand them to `target`; `source` is empty then."""
        if distance:
            self.lib.llama_memory_seq_add(self.memory, source, -1, -1, distance)
        self.lib.llama_memory_seq_cp(self.memory, source, target, -1, -1)
        self.forget(source)

    def state(self, sequence: int) -> bytes:
        """Return a sequence's evaluated cells."""
        size = int(self.lib.llama_state_seq_get_size(self.context, sequence))
        buffer = (ctypes.c_uint8 * size)()
        used = int(self.lib.llama_state_seq_get_data(self.context, buffer, size, sequence))
        return bytes(memoryview(buffer)[:used])

    def put_state(self, sequence: int, data: bytes) -> bool:
        """Put cells back that `state` gave; False where llama.cpp refuses them."""
        self.forget(sequence)
        buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        done = int(self.lib.llama_state_seq_set_data(self.context, buffer, len(data), sequence)) > 0
        if not done:
            self.forget(sequence)
        return done

    def grammar(self, text: str) -> Grammar:
        """Return a grammar that picks tokens; its owner frees it."""
        sampler = self.lib.llama_sampler_init_grammar(self.vocab, text.encode(), b"root")
        if not sampler:
            raise ModelUnusable("bad_grammar", path=self._path)
        return Grammar(self, sampler)

    # ------------------------------------------------------------ inside

    def _lost(self, lost: Any) -> None:
        """Keep what a signal raised on entry to the callback, where the library would drop it."""
        if isinstance(lost.exc_value, Exception):
            sys.__unraisablehook__(lost)
        else:
            self._pending = lost.exc_value

    def _aborting(self, _data: object) -> bool:
        if self._pending is not None:
            return True
        try:
            return bool(self._check and self._check())
        except BaseException as err:
            self._pending = err
            return True

    def _load(self) -> Any:
        lib = self.lib
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        if hasattr(params, "use_extra_bufts"):
            params.use_extra_bufts = repacks(lib, self.options)
        if hasattr(params, "load_mode"):
            params.load_mode = lib.LLAMA_LOAD_MODE_MMAP if self.options.map_file else lib.LLAMA_LOAD_MODE_NONE
        elif hasattr(params, "use_mmap"):
            params.use_mmap = self.options.map_file
        model = lib.llama_model_load_from_file(str(self._path).encode(), params)
        if not model:
            raise ModelUnusable("model_not_loaded", path=self._path)
        return model

    def _open(self) -> Any:
        lib, options = self.lib, self.options
        params = lib.llama_context_default_params()
        params.n_ctx = options.cells
        params.n_batch = params.n_ubatch = options.batch
        params.n_seq_max = options.sequences
        params.n_threads = params.n_threads_batch = options.threads
        params.type_k = params.type_v = CACHE_TYPES[options.cache_type]
        params.kv_unified = True
        params.no_perf = True
        if hasattr(params, "flash_attn_type"):
            params.flash_attn_type = 1 if options.flash_attention else 0
        else:
            params.flash_attn = options.flash_attention
        context = lib.llama_init_from_model(self.model, params)
        if not context:
            lib.llama_model_free(self.model)
            raise ModelUnusable("no_memory_for_context", path=self._path, context=options.cells)
        return context


class Grammar:
    """A grammar's state while one answer is written."""

    def __init__(self, native: Native, sampler: Any) -> None:
        self._native = native
        self._sampler = sampler
        size = native.words
        self._kind = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        self._all = np.zeros(size, dtype=self._kind)

    def pick(self, logits: NDArray[np.float32]) -> int:
        """Return the best token that the grammar allows, and step on.

        The whole vocabulary is tried only where the best one is refused: that takes some milliseconds.
        """
        best = int(logits.argmax())
        one = np.zeros(1, dtype=self._kind)
        one["id"], one["logit"] = best, logits[best]
        if not np.isfinite(self._apply(one)["logit"][0]):
            self._all["id"] = np.arange(len(logits), dtype=np.int32)
            self._all["logit"] = logits
            allowed = self._apply(self._all)
            best = int(allowed["id"][int(allowed["logit"].argmax())])
        self._native.lib.llama_sampler_accept(self._sampler, best)
        return best

    def close(self) -> None:
        """Free the sampler."""
        self._native.lib.llama_sampler_free(self._sampler)

    def _apply(self, candidates: NDArray[Any]) -> NDArray[Any]:
        lib = self._native.lib
        pointer = candidates.ctypes.data_as(lib.llama_token_data_p)
        array = lib.llama_token_data_array(data=pointer, size=len(candidates), selected=-1, sorted=False)
        lib.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return candidates
