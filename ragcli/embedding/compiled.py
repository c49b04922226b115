"""Embed in bulk with weights of eight bits, compiled by OpenVINO for processors that multiply bytes.

Each row of a weight has its own scale, and what flows through is rounded as it comes, 128 numbers at a time: every
vector stays within a cosine of 0.999 of float32, where rounding whole tensors, as torch does, gave 0.977. Making the
form needs torch and happens once; using it doesn't.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcli.embedding.prompts import prompts_of
from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

FORM = "model.xml"
# Numbers that share a scale as they flow through a layer: 32 and 64 were slower, 384 less exact.
_GROUP = "128"
_LEAST = 100_000  # a smaller weight isn't worth rounding
_LONGEST = 512


def make_form(folder: Path, target: Path) -> None:
    """Write the eight-bit form of a Hugging Face folder into the folder `target`.

    Raises:
        ModelUnusable: `not_converted`, with what the library said.

    """
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    import openvino
    import torch
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    from transformers import AutoModel
    from transformers.utils import logging

    class Rows(torch.nn.Module):  # type: ignore[misc]
        """The last layer's rows: what is pooled."""

        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(
                str(folder), dtype=torch.float32, local_files_only=True, trust_remote_code=False
            )

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    example = torch.ones((2, 8), dtype=torch.int64)
    warnings.filterwarnings(
        "ignore", module=r"transformers|torch"
    )  # what the trace fixes is fixed for any text
    try:
        # openvino.convert_model would report its use to the makers' server; the parts beneath it don't.
        inputs = {"input_ids": example, "attention_mask": example}
        traced = TorchScriptPythonDecoder(Rows().eval(), example_input=inputs)
        reader = FrontEndManager().load_by_framework("pytorch")
        made = reader.convert(reader.load(traced))
        _round(made)
        openvino.save_model(made, target / FORM, compress_to_fp16=False)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as err:
        raise ModelUnusable(
            "not_converted", path=folder, reason=(str(err) or repr(err)).splitlines()[0]
        ) from err


def _round(model: Any) -> None:
    """Put eight-bit weights, each row with its scale, in the place of a model's large ones."""
    import openvino
    from openvino import opset13 as ops

    for node in model.get_ordered_ops():
        place = {"MatMul": 1, "Gather": 0}.get(node.get_type_name())
        source = node.input(place).get_source_output().get_node() if place is not None else None
        if source is None or source.get_type_name() != "Constant":
            continue
        if source.get_element_type() != openvino.Type.f32 or source.data.size < _LEAST:
            continue
        across = 0 if place == 1 and not node.get_attributes()["transpose_b"] else 1
        scales = np.maximum(np.abs(source.data).max(axis=across, keepdims=True) / 127, 1e-12)
        whole = np.round(source.data / scales).astype(np.int8)
        rounded = ops.multiply(
            ops.convert(ops.constant(whole), "f32"), ops.constant(scales.astype(np.float32))
        )
        node.input(place).replace_source_output(rounded.output(0))


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
