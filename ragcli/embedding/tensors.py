"""Look into a safetensors file without reading it: arrays over a memory map. Only what is touched is loaded."""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragcli.errors import ModelUnusable

_TYPES = {"F32": "<f4", "F16": "<f2", "I32": "<i4", "U32": "<u4", "U8": "u1"}


@dataclass(frozen=True, slots=True)
class Tensors:
    """A mapped file's arrays by name, and the plain facts in its header."""

    arrays: Mapping[str, np.ndarray[Any, Any]]
    facts: Mapping[str, str]


def open_tensors(path: Path) -> Tensors:
    """Return what a file holds; raise `model_corrupt` where its header contradicts it."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        facts = header.pop("__metadata__", {})
        arrays = {name: _array(data, 8 + length, entry) for name, entry in header.items()}
    except OSError as err:
        raise ModelUnusable("model_unreadable", path=path, reason=err.strerror or str(err)) from err
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as err:
        raise ModelUnusable("model_corrupt", path=path, reason=str(err)) from err
    return Tensors(arrays, facts)


def _array(data: mmap.mmap, start: int, entry: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    first, end = entry["data_offsets"]
    kind = np.dtype(_TYPES[entry["dtype"]])
    return np.frombuffer(data, kind, (end - first) // kind.itemsize, start + first).reshape(entry["shape"])
