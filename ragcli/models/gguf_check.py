"""Tell whether a file is a whole GGUF model, from its header alone: a pure look, milliseconds even for big files.

Every count and size is checked against the file before it is used. Layout: the GGUF specification, versions 2 and 3;
block sizes: ggml's table of types. A type that isn't in the table only bounds where its tensor begins.
"""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path
from typing import Any

from ragcli.errors import ModelUnusable

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY, _DEPTH = 8, 9, 4
_MOST_DIMENSIONS = 4
# ggml type: numbers in a block, bytes of a block.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
}  # fmt: skip
_SPLIT = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")


def check_gguf(path: Path) -> None:
    """Raise ModelUnusable, naming path and size, where a file can't be a whole GGUF model."""
    if path.is_dir():
        raise ModelUnusable("model_is_folder", path=path)
    try:
        size = path.stat().st_size
        if size == 0:
            raise ModelUnusable("model_empty", path=path)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:4] != b"GGUF":
                raise ModelUnusable("model_not_gguf", path=path, size=size)
            _check(data, path, size)
    except OSError as err:
        raise ModelUnusable("model_unreadable", path=path, reason=err.strerror or str(err)) from err


def split_files(path: Path) -> list[Path]:
    """Return all files of a model that is split (`-00001-of-00002.gguf`), the first one first; else the file alone."""
    match = _SPLIT.fullmatch(path.name)
    if not match or not 1 <= int(match[3]) <= 999:
        return [path]
    return [
        path.with_name(f"{match[1]}-{number:05}-of-{match[3]}.gguf") for number in range(1, int(match[3]) + 1)
    ]


class _Cut(Exception):
    """The header speaks of bytes that the file doesn't have."""


def _check(data: mmap.mmap, path: Path, size: int) -> None:
    try:
        version = _Header(data, 4).take("I")
        if version not in (2, 3):
            raise ModelUnusable("model_not_gguf", path=path, size=size)
        end = _Header(data, 8).end_of_tensors()
    except (_Cut, struct.error) as err:
        raise ModelUnusable("model_cut", path=path, size=size) from err
    if end > size:
        raise ModelUnusable("model_cut", path=path, size=size)


class _Header:
    """A place in the header that never passes the file's end."""

    def __init__(self, data: mmap.mmap, at: int) -> None:
        self._data, self._at = data, at

    def take(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self._data, self._at)
        self._at += struct.calcsize("<" + code)
        return value

    def skip(self, size: int) -> None:
        if size > len(self._data) - self._at:
            raise _Cut
        self._at += size

    def text(self) -> bytes:
        size = self.take("Q")
        start = self._at
        self.skip(size)
        return self._data[start : start + min(size, 256)]

    def end_of_tensors(self) -> int:
        """Return the byte after the last tensor's last one."""
        tensors, pairs = self.take("Q"), self.take("Q")
        # Each takes bytes of its own, so more than the file has bytes is a lie that would cost hours.
        if tensors + pairs > len(self._data):
            raise _Cut
        alignment = 32
        for _ in range(pairs):
            key, kind = self.text(), self.take("I")
            if key == b"general.alignment" and kind == 4:
                alignment = max(self.take("I"), 1)
            else:
                self._skip_value(kind, 0)
        last = max((self._tensor_end() for _ in range(tensors)), default=0)
        return -(-self._at // alignment) * alignment + last

    def _skip_value(self, kind: int, depth: int) -> None:
        if kind == _STRING:
            self.text()
        elif kind in _SIZES:
            self.skip(_SIZES[kind])
        elif kind == _ARRAY and depth < _DEPTH:
            inner, count = self.take("I"), self.take("Q")
            if count > len(self._data):
                raise _Cut
            if inner in _SIZES:
                self.skip(_SIZES[inner] * count)
            elif inner == _STRING:
                self._skip_texts(count)
            else:
                for _ in range(count):
                    self._skip_value(inner, depth + 1)
        else:
            raise _Cut

    def _skip_texts(self, count: int) -> None:
        length, data, at = struct.Struct("<Q").unpack_from, self._data, self._at
        for _ in range(count):
            at += 8 + length(data, at)[0]
        self.skip(at - self._at)

    def _tensor_end(self) -> int:
        self.text()
        dimensions = self.take("I")
        if dimensions > _MOST_DIMENSIONS:
            raise _Cut
        numbers = 1
        for _ in range(dimensions):
            numbers *= self.take("Q")
        kind, offset = self.take("I"), self.take("Q")
        per, size = _BLOCKS.get(kind, (1, 0))
        return int(offset + numbers // per * size)
