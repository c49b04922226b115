"""Embed in bulk with weights of eight bits (rounding.py), compiled by OpenVINO for processors that multiply bytes.

What flows through is rounded as it comes, 128 numbers at a time: every vector stays within a cosine of 0.999 of
float32, where rounding whole tensors, as torch does, gave 0.977. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragcli.embedding.prompts import prompts_of
from ragcli.embedding.rounding import FORM
from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

# Numbers that share a scale as they flow through a layer: 32 and 64 were slower, 384 less exact.
_GROUP = "128"
_LONGEST = 512


class CompiledEmbedder:
    """The eight-bit form in `form` of the Hugging Face folder `folder`, with that folder's tokenizer and prompts."""

    def __init__(self, form: Path, folder: Path, identity: Mapping[str, str]) -> None:
        import openvino
        from tokenizers import Tokenizer

        try:
            self._model = openvino.Core().compile_model(
                str(form / FORM), "CPU",
                {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": _GROUP},
            )  # fmt: skip
            self._tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except (
            Exception
        ) as err:  # both libraries raise plain RuntimeError or Exception for files they can't read
            raise ModelUnusable("model_corrupt", path=form, reason=str(err).strip().splitlines()[0]) from err
        self._tokens.enable_truncation(_LONGEST)
        self._tokens.enable_padding()
        prompts = prompts_of(folder)
        self._prompt, self._query_prompt = prompts["passage"], prompts["query"]
        self._identity = {**identity, "backend": "openvino", "precision": "int8", "prefix": self._prompt}

    @property
    def identity(self) -> Mapping[str, str]:
        """What a passage vector depends on besides its text."""
        return {**self._identity, "dimension": str(self.dimension), "pooling": "mean", "normalised": "yes"}

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._model.output(0).partial_shape[2].get_length())

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one a text, float32."""
        return self._rows([self._prompt + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return one row of length one, float32."""
        row: Vectors = self._rows([self._query_prompt + text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a passage, prefix and marks included."""
        self._tokens.no_truncation()
        coded = self._tokens.encode(self._prompt + text)
        self._tokens.enable_truncation(_LONGEST)
        return len(coded.ids)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's rows, normalised."""
        coded = self._tokens.encode_batch(list(texts))
        ids = np.array([one.ids for one in coded], np.int64)
        mask = np.array([one.attention_mask for one in coded], np.int64)
        rows = self._model({"input_ids": ids, "attention_mask": mask})[0]
        means = np.einsum("btd,bt->bd", rows, mask.astype(np.float32))
        return np.asarray(
            means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12), dtype=np.float32
        )
