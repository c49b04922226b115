"""Embed in bulk with sentence-transformers: the only code that imports torch.

Importing it costs seconds, so it is done once, when the first batch is there. Never reaches for a network:
the offline switches are set before the import, and only local folders are opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcli.embedding.prompts import prompts_of
from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

_NEEDED = ("config.json", "tokenizer.json", "model.safetensors")


class SentenceEmbedder:
    """A Hugging Face folder, loaded by sentence-transformers with its own prompts."""

    def __init__(self, folder: Path, identity: Mapping[str, str], precision: str = "float32") -> None:
        for name in _NEEDED:
            if not (folder / name).is_file():
                raise ModelUnusable("model_incomplete", path=folder, missing=name)
        os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._model, self._torch = _load(folder, precision)
        self._prompt = prompts_of(folder)["passage"]
        self._query_prompt = prompts_of(folder)["query"]
        self._identity = {
            **identity,
            "backend": "sentence-transformers",
            "precision": precision,
            "prefix": self._prompt,
        }

    @property
    def identity(self) -> Mapping[str, str]:
        """What a passage vector depends on besides its text."""
        return {**self._identity, "dimension": str(self.dimension), "pooling": "mean", "normalised": "yes"}

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._model.get_embedding_dimension())

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one a text, float32."""
        return self._encode([self._prompt + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return one row of length one, float32."""
        row: Vectors = self._encode([self._query_prompt + text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a passage, prefix and marks included."""
        return len(self._model.tokenizer(self._prompt + text, truncation=False)["input_ids"])

    def _encode(self, texts: list[str]) -> Vectors:
        with self._torch.inference_mode():
            rows = self._model.encode(
                texts,
                batch_size=len(texts),
                normalize_embeddings=False,
                convert_to_tensor=True,
                show_progress_bar=False,
            )
        # Normalised in float32, whatever the weights' precision: a bfloat16 norm is off by up to 0.4 %.
        values = rows.float().numpy()
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.asarray(values / np.maximum(lengths, 1e-12), dtype=np.float32)


def _load(folder: Path, precision: str) -> tuple[Any, Any]:
    import logging

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as hf_logging

    hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    try:
        model = SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            model_kwargs={"torch_dtype": dtype},
            trust_remote_code=False,
        )
    except (OSError, ValueError, RuntimeError, KeyError) as err:
        raise ModelUnusable(
            "model_corrupt", path=folder, reason=str(err).splitlines()[0] if str(err) else repr(err)
        ) from err
    return model, torch
