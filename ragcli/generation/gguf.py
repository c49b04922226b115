"""Read what a GGUF file says of itself, without loading it: is it whole, and how much memory does it need?

The layout is the GGUF specification's (github.com/ggml-org/ggml/blob/master/docs/gguf.md), versions 2 and 3.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragcli.errors import ModelUnusable

Data = mmap.mmap

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_ITEMS, _MOST_TEXT, _MOST_DIMENSIONS = 2_000_000, 2**24, 8
_ROLE_ROOM = 2048
_CACHE_BYTES = {"f16": 2.0, "q8_0": 1.0625}
_PROGRAM_MB = 120  # interpreter, llama.cpp and its vocabulary tables


def read_header(path: Path) -> dict[str, Any]:
    """Return a file's metadata (arrays as their length alone) with `file_bytes` and `tensors` added.

    Raises ModelUnusable for a folder, an empty file, one that isn't GGUF, and one that is cut.
    """
    if path.is_dir():
        raise ModelUnusable("model_is_folder", path=path)
    try:
        size = path.stat().st_size
        if size == 0:
            raise ModelUnusable("model_empty", path=path)
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return {**_metadata(data, path, size), "file_bytes": size}
    except OSError as err:
        raise ModelUnusable("model_unreadable", path=path, reason=err.strerror or str(err)) from err


def memory_need(
    path: Path, context_tokens: int, *, cache_type: str = "f16", batch: int = 512, repacked: bool = True
) -> int:
    """Return the bytes that running a model takes: weights, a repacked copy, cache and compute buffers.

    The cache has room for another role's prompt beside the context. An estimate, on the high side.
    """
    head = read_header(path)
    shape = _shape(head)
    cells = context_tokens + min(_ROLE_ROOM, context_tokens)
    cache = cells * shape["layers"] * 2 * shape["kv_width"] * _CACHE_BYTES.get(cache_type, 2.0)
    widest = max(shape["words"], shape["feed_forward"] * 3, shape["width"] * 8)
    compute = batch * widest * 4
    weights = head["file_bytes"] * (2 if repacked else 1)
    return int(weights + cache + compute + _PROGRAM_MB * 2**20)


def _shape(head: Mapping[str, Any]) -> dict[str, int]:
    kind = str(head.get("general.architecture", ""))

    def number(name: str, default: int = 0) -> int:
        value = head.get(f"{kind}.{name}", default)
        return int(value) if isinstance(value, (int, float)) else default

    width, heads = number("embedding_length"), max(number("attention.head_count", 1), 1)
    size = number("attention.key_length", width // heads)
    return {
        "layers": number("block_count"),
        "width": width,
        "kv_width": number("attention.head_count_kv", heads) * size,
        "feed_forward": number("feed_forward_length"),
        "words": int(head.get("tokenizer.ggml.tokens", 0) or 0),
    }


def _metadata(data: Data, path: Path, size: int) -> dict[str, Any]:
    if data[:4] != b"GGUF":
        raise ModelUnusable("model_not_gguf", path=path, size=size)
    cursor = _Cursor(data, 4)
    try:
        version, tensors, count = cursor.numbers("<IQQ")
        if version not in (2, 3) or count > _MOST_ITEMS or tensors > _MOST_ITEMS:
            raise ModelUnusable("model_not_gguf", path=path, size=size)
        out: dict[str, Any] = {"tensors": tensors}
        for _ in range(count):
            key = cursor.text()
            out[key] = cursor.value(cursor.numbers("<I")[0])
        _check_tensors(cursor, tensors, size, int(out.get("general.alignment", 32)))
    except (EOFError, ValueError, struct.error, KeyError) as err:
        raise ModelUnusable("model_cut", path=path, size=size) from err
    return out


def _check_tensors(cursor: _Cursor, count: int, size: int, alignment: int) -> None:
    """Raise EOFError where the last tensor begins behind the end of the file."""
    last = 0
    for _ in range(count):
        cursor.text()
        dimensions = cursor.numbers("<I")[0]
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError
        cursor.skip(8 * dimensions + 4)
        last = max(last, cursor.numbers("<Q")[0])
    start = -(-cursor.place // max(alignment, 1)) * alignment
    if count and start + last >= size:
        raise EOFError


class _Cursor:
    """A place in the file's bytes; raises EOFError, ValueError or struct.error where they end or lie."""

    def __init__(self, data: Data, place: int) -> None:
        self._data = data
        self._size = len(data)
        self.place = place

    def numbers(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from(layout, self._data, self.place)
        self.place += struct.calcsize(layout)
        return found

    def skip(self, size: int) -> None:
        self.place += size
        if self.place > self._size:
            raise EOFError

    def text(self) -> str:
        size = self.numbers("<Q")[0]
        if size > _MOST_TEXT:
            raise ValueError
        start = self.place
        self.skip(size)
        return self._data[start : self.place].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.numbers("<" + _SCALARS[kind])[0]
        inner, count = self.numbers("<IQ")
        if count > _MOST_ITEMS:
            raise ValueError
        if inner in _SCALARS:
            self.skip(struct.calcsize("<" + _SCALARS[inner]) * count)
        elif inner == _STRING:
            self._skip_texts(count)
        else:
            for _ in range(count):
                self.value(inner)
        return count

    def _skip_texts(self, count: int) -> None:
        """Pass over hundreds of thousands of words quickly: nothing is decoded."""
        length, data, place = struct.Struct("<Q").unpack_from, self._data, self.place
        for _ in range(count):
            place += 8 + length(data, place)[0]
        self.place = place
        self.skip(0)
