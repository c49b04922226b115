"""Embed single queries: a BERT encoder in plain numpy over mapped weights. No torch, nothing to load.

The weights are the ones that sentence-transformers embeds passages with, so its vectors may be searched among that
one's (a test measures the agreement). Not for bulk: one text at a time, in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcli.embedding.tensors import open_tensors
from ragcli.embedding.unigram import open_unigram
from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

_WORDS = "embeddings.word_embeddings.weight"


class QueryEmbedder:
    """A model's query form beside its `model.safetensors`, with the prefixes handed in."""

    def __init__(
        self, path: Path, identity: Mapping[str, str], *, query_prefix: str, passage_prefix: str
    ) -> None:
        form, whole = open_tensors(path), open_tensors(path.parent / "model.safetensors")
        try:
            self._words = whole.arrays[_WORDS]
            self._tokens = open_unigram(form.arrays, form.facts)
            self._encoder = _Encoder(form.arrays, int(form.facts["heads"]), float(form.facts["eps"]))
            self._marks = int(form.facts["bos"]), int(form.facts["eos"])
            self._longest = int(form.facts["positions"])
        except (KeyError, ValueError) as err:
            raise ModelUnusable("model_corrupt", path=path, reason=str(err)) from err
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._identity = {**identity, "backend": "numpy", "precision": "float32", "prefix": passage_prefix}

    @property
    def identity(self) -> Mapping[str, str]:
        """What a passage vector depends on besides its text."""
        return {**self._identity, "dimension": str(self.dimension), "pooling": "mean", "normalised": "yes"}

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._words.shape[1])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one a text, float32."""
        return np.stack([self._embed(self._passage_prefix + text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return one row of length one, float32."""
        return self._embed(self._query_prefix + text)

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a passage, prefix and marks included."""
        return len(self._tokens.tokens(self._passage_prefix + text)) + 2

    def _embed(self, text: str) -> Vectors:
        first, last = self._marks
        tokens = [first, *self._tokens.tokens(text)[: self._longest - 2], last]
        rows = self._encoder(self._words[tokens].astype(np.float32))
        row = rows.mean(axis=0)
        return np.asarray(row / max(float(np.linalg.norm(row)), 1e-12), dtype=np.float32)


class _Encoder:
    """BERT's layers over the stacked weights of a query form (post-norm, GELU, absolute positions)."""

    def __init__(self, arrays: Mapping[str, Any], heads: int, eps: float) -> None:
        from threadpoolctl import ThreadpoolController

        self._w, self._heads, self._eps = arrays, heads, np.float32(eps)
        self._threads = ThreadpoolController().select(user_api="blas")

    def __call__(self, rows: Vectors) -> Vectors:
        """Return the last layer's rows [n, d] for word vectors [n, d]."""
        # One thread: numpy's wait for each other by spinning, which on a busy machine turned 30 ms into 700.
        with self._threads.limit(limits=1):
            return self._layers(rows)

    def _layers(self, rows: Vectors) -> Vectors:
        w = self._w
        rows = rows + w["emb.pos"][: len(rows)] + w["emb.type"][0]
        rows = self._norm(rows, w["emb.ln.w"], w["emb.ln.b"])
        for n in range(len(w["ao.w"])):
            seen = self._attention(rows @ w["qkv.w"][n] + w["qkv.b"][n]) @ w["ao.w"][n] + w["ao.b"][n]
            rows = self._norm(rows + seen, w["aln.w"][n], w["aln.b"][n])
            inner = _gelu(rows @ w["fi.w"][n] + w["fi.b"][n])
            rows = self._norm(rows + inner @ w["fo.w"][n] + w["fo.b"][n], w["oln.w"][n], w["oln.b"][n])
        return rows

    def _attention(self, qkv: Vectors) -> Vectors:
        """Return the heads' outputs side by side [n, d] for queries, keys and values side by side [n, 3d]."""
        number, width = len(qkv), qkv.shape[1] // 3
        split = qkv.reshape(number, 3, self._heads, width // self._heads).transpose(1, 2, 0, 3)
        scores = split[0] @ split[1].transpose(0, 2, 1) / np.float32(np.sqrt(width // self._heads))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return np.asarray((weights @ split[2]).transpose(1, 0, 2).reshape(number, width))

    def _norm(self, rows: Vectors, scale: Vectors, shift: Vectors) -> Vectors:
        rows = rows - rows.mean(axis=1, keepdims=True)
        return np.asarray(
            rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True) + self._eps) * scale + shift
        )


def _gelu(x: Vectors) -> Vectors:
    """Return x Φ(x), with Abramowitz and Stegun's 7.1.26 for the error function (off by at most 1.5e-7)."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1.0 / (1.0 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = 0.5 * series * np.exp(-z * z)
    return np.asarray(x * np.where(x < 0, tail, 1.0 - tail), dtype=np.float32)
