"""Write tensors as a safetensors file, a piece at a time: u64 length of a JSON header, the header, the numbers.

It lays bytes out and knows no model. The same tensors give the same bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from ragcli.models.disk import Disk

_BYTES = {"F32": 4, "F16": 2, "I32": 4, "U32": 4, "U8": 1}


@dataclass(frozen=True, slots=True)
class TensorData:
    """A tensor's type, its dimensions, and its little-endian numbers in pieces."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[bytes]


def write_tensors(
    path: Path, disk: Disk, tensors: Mapping[str, TensorData], metadata: Mapping[str, str]
) -> None:
    """Write the file in the order of the mapping; each tensor's pieces are drawn when it is its turn."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, tensor in tensors.items():
        size = _BYTES[tensor.dtype] * prod(tensor.shape)
        header[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [end, end + size],
        }
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with disk.appending(path) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            for piece in tensor.pieces:
                file.write(piece)
