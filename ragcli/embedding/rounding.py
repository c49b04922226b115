"""Make the eight-bit form of an embedding model: each row of a weight rounded with a scale of its own.

This needs torch and happens once for a model; the form is read by compiled.py, which doesn't.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ragcli.errors import ModelUnusable

FORM = "model.xml"
_LEAST = 100_000  # a smaller weight isn't worth rounding


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
