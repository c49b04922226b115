"""Embed single queries with llama.cpp: no torch, milliseconds a query. Not for bulk, where it is slower.

The GGUF holds the same weights as the sentence-transformers folder, so its vectors may be searched among
that one's (the agreement is measured by a test).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

_CONTEXT = 512


class LlamaEmbedder:
    """A GGUF embedding model, mean-pooled, with the prefixes handed in."""

    def __init__(
        self, path: Path, identity: Mapping[str, str], *, query_prefix: str, passage_prefix: str
    ) -> None:
        self._model = _load(path)
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._identity = {**identity, "backend": "llama", "precision": "q4_0", "prefix": passage_prefix}

    @property
    def identity(self) -> Mapping[str, str]:
        """What a passage vector depends on besides its text."""
        return {**self._identity, "dimension": str(self.dimension), "pooling": "mean", "normalised": "yes"}

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._model.n_embd())

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one a text, float32."""
        return np.stack([self._embed(self._passage_prefix + text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return one row of length one, float32."""
        return self._embed(self._query_prefix + text)

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a passage, prefix and marks included."""
        return len(self._tokens(self._passage_prefix + text))

    def _embed(self, text: str) -> Vectors:
        tokens = self._tokens(text)
        if len(tokens) > _CONTEXT:  # the model reads no further; the closing mark must stay
            text = self._model.detokenize(tokens[1 : _CONTEXT - 2]).decode("utf-8", "ignore")
        row = np.asarray(self._model.embed(text, normalize=False, truncate=True), dtype=np.float32)
        row = row.reshape(-1)
        return np.asarray(row / max(float(np.linalg.norm(row)), 1e-12), dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        # Special marks in a document's text are text, not marks.
        return list(self._model.tokenize(text.encode("utf-8", "replace"), add_bos=True, special=False))


def _load(path: Path) -> Any:
    from llama_cpp import Llama

    try:
        # One thread: a query is a few tokens, and llama.cpp's threads wait for each other by spinning, which
        # on a busy machine turned 20 ms into 4 s.
        return Llama(
            model_path=str(path), embedding=True, n_ctx=_CONTEXT, n_batch=_CONTEXT, n_ubatch=_CONTEXT,
            n_threads=1, n_threads_batch=1, verbose=False,
        )  # fmt: skip
    except (ValueError, RuntimeError, OSError) as err:
        raise ModelUnusable("model_corrupt", path=path, reason=str(err)) from err
