"""Read the packed embedding file: tokenizer and tensors in one little-endian file (`E5S1`).

Every count, offset and size is checked against the file before it is used, so that a damaged or hostile file is
an error of ours and never a crash or a huge allocation. It says what is in the pack; the forms made of it are
written elsewhere.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragcli.errors import ModelUnusable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 32
BLOCK_BYTES = 18
_MAX_PIECES = 2**20
_MAX_MAP = 2**17
_LIMITS = {
    "hidden": 2**13,
    "layers": 2**7,
    "heads": 2**7,
    "ffn": 2**15,
    "rows": _MAX_PIECES,
    "positions": 2**14,
    "types": 16,
}


class BadPack(Exception):
    """The file isn't what its header says; the reason is the text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    rows: int
    positions: int
    types: int
    eps: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """The Unigram tokenizer: pieces with their log-probabilities, marks, and what each character is read as."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unk: int
    characters: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies in the file: Q4_0 blocks, or float32."""

    quantised: bool
    numbers: int
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A checked pack over the bytes that it was read from."""

    data: Any
    shape: Shape
    tokens: Tokens
    tensors: Mapping[str, Tensor]

    def blocks(self, name: str) -> NDArray[np.uint8]:
        """Return a quantised tensor's blocks as they are, (blocks, 18) bytes."""
        import numpy as np

        tensor = self.tensors[name]
        return np.frombuffer(self.data, np.uint8, tensor.bytes, tensor.offset).reshape(-1, BLOCK_BYTES)

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor's numbers as float32, flat."""
        import numpy as np

        tensor = self.tensors[name]
        if tensor.quantised:
            return dequantise(self.blocks(name))
        return np.frombuffer(self.data, "<f4", tensor.numbers, tensor.offset)


def dequantise(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the float32 weights of Q4_0 blocks: (nibble - 8) x scale, low nibbles first (ggml's layout)."""
    import numpy as np

    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1)
    weights: NDArray[np.float32] = (nibbles.astype(np.float32) - 8.0) * scale
    return weights.reshape(-1)


def parse(data: Any, path: object) -> Pack:
    """Return what a buffer holds; raise `model_corrupt`, naming `path`, where it contradicts itself."""
    try:
        return _parse(_Reader(data), data)
    except (BadPack, struct.error, UnicodeDecodeError) as err:
        raise ModelUnusable("model_corrupt", path=path, bytes=len(data), reason=str(err)) from err


class _Reader:
    """A position in the buffer that never passes its end."""

    def __init__(self, data: Any) -> None:
        self.data, self.at = data, 0

    def skip(self, size: int) -> int:
        """Return where the next `size` bytes begin, and step over them."""
        start = self.at
        if size < 0 or size > len(self.data) - start:
            raise BadPack(f"it ends at byte {len(self.data)}, {size} bytes are due at {start}")
        self.at += size
        return start

    def take(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of a struct layout, little-endian without padding."""
        return struct.unpack_from("<" + layout, self.data, self.skip(struct.calcsize("<" + layout)))


def _parse(reader: _Reader, data: Any) -> Pack:
    if bytes(data[reader.skip(4) : 4]) != b"E5S1":
        raise BadPack("it does not begin with E5S1")
    (version,) = reader.take("I")
    if version != 1:
        raise BadPack(f"version {version}, known is 1")
    shape = _shape(reader)
    tokens = _tokens(reader, shape.rows)
    pack = Pack(data, shape, tokens, _tensors(reader, shape))
    _check_numbers(pack)
    return pack


def _check_numbers(pack: Pack) -> None:
    """Raise where a number or a block's scale is no finite number: one would spoil every vector."""
    import numpy as np

    for name, tensor in pack.tensors.items():
        numbers = pack.blocks(name)[:, :2].copy().view("<f2") if tensor.quantised else pack.floats(name)
        if not np.isfinite(numbers).all():
            raise BadPack(f"tensor {name!r} holds what is no number")


def _shape(reader: _Reader) -> Shape:
    sizes = dict(zip(_LIMITS, reader.take("7i"), strict=True))
    (eps,) = reader.take("f")
    (block,) = reader.take("i")
    for name, size in sizes.items():
        if not 1 <= size <= _LIMITS[name]:
            raise BadPack(f"{name} is {size}")
    if block != BLOCK or not 0 < eps < 1e-2:
        raise BadPack(f"block size {block}, epsilon {eps}")
    if sizes["hidden"] % BLOCK or sizes["ffn"] % BLOCK or sizes["hidden"] % sizes["heads"]:
        raise BadPack(
            f"hidden {sizes['hidden']}, feed-forward {sizes['ffn']}, heads {sizes['heads']} do not divide"
        )
    return Shape(**sizes, eps=eps)


def _tokens(reader: _Reader, rows: int) -> Tokens:
    (count,) = reader.take("i")
    if not 1 <= count <= rows:
        raise BadPack(f"{count} pieces for {rows} rows")
    bos, eos, pad, unk = marks = reader.take("4i")
    if any(not 0 <= mark < count for mark in marks):
        raise BadPack(f"marks {marks} among {count} pieces")
    (length,) = reader.take("Q")
    offsets = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    if offsets[0] != 0 or offsets[-1] != length or any(a > b for a, b in pairwise(offsets)):
        raise BadPack("the pieces' offsets do not rise from 0 to their length")
    if not all(map(math.isfinite, scores)):
        raise BadPack("a piece's score is not a number")
    start = reader.skip(length)
    blob = bytes(reader.data[start : start + length])
    pieces = tuple(blob[a:b].decode("utf-8") for a, b in pairwise(offsets))
    if len(set(pieces)) != count or "" in pieces:
        raise BadPack("a piece is empty or stands twice")
    return Tokens(pieces, scores, bos, eos, pad, unk, _characters(reader))


def _characters(reader: _Reader) -> dict[int, tuple[int, ...]]:
    entries, size = reader.take("iI")
    if not 0 <= entries <= _MAX_MAP:
        raise BadPack(f"{entries} characters in the map")
    end = reader.at + size
    read_as: dict[int, tuple[int, ...]] = {}
    for _ in range(entries):
        code, number = reader.take("IB")
        read_as[code] = reader.take(f"{number}I")
        if not all(map(_is_character, (code, *read_as[code]))) or code == 0:
            raise BadPack(f"character {code:#x} is mapped to {read_as[code]}")
    if reader.at != end or len(read_as) != entries:
        raise BadPack(f"the character map takes {reader.at - end:+d} bytes more than stated")
    return read_as


def _is_character(code: int) -> bool:
    return 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000


def _tensors(reader: _Reader, shape: Shape) -> dict[str, Tensor]:
    wanted = expected_tensors(shape)
    (count,) = reader.take("i")
    if count != len(wanted):
        raise BadPack(f"{count} tensors, {len(wanted)} are due")
    found: dict[str, Tensor] = {}
    for _ in range(count):
        (length,) = reader.take("H")
        start = reader.skip(length)
        name = bytes(reader.data[start : start + length]).decode("utf-8")
        kind, numbers, offset, size = reader.take("BIQQ")
        if wanted.get(name) != numbers or name in found:
            raise BadPack(f"tensor {name!r} of {numbers} numbers is not due")
        due = numbers // BLOCK * BLOCK_BYTES if kind == 1 else numbers * 4
        if (kind == 1 and numbers % BLOCK) or size != due or offset + size > len(reader.data):
            raise BadPack(f"tensor {name!r}: {size} bytes at {offset}, due {due}, file {len(reader.data)}")
        found[name] = Tensor(kind == 1, numbers, offset, size)
    return found


def expected_tensors(shape: Shape) -> dict[str, int]:
    """Return the tensors that an encoder of this shape has, with their counts of numbers."""
    hidden, ffn = shape.hidden, shape.ffn
    wanted = {
        "emb.word": shape.rows * hidden,
        "emb.pos": shape.positions * hidden,
        "emb.type": shape.types * hidden,
    }
    wanted |= {"emb.ln.w": hidden, "emb.ln.b": hidden}
    for layer in range(shape.layers):
        for part, width, depth in _PARTS:
            across = {"hidden": hidden, "ffn": ffn}
            wanted[f"l{layer}.{part}.b"] = across[width]
            wanted[f"l{layer}.{part}.w"] = across[width] * (across[depth] if depth else 1)
    return wanted


_PARTS = (
    ("q", "hidden", "hidden"), ("k", "hidden", "hidden"), ("v", "hidden", "hidden"), ("ao", "hidden", "hidden"),
    ("fi", "ffn", "hidden"), ("fo", "hidden", "ffn"), ("aln", "hidden", ""), ("oln", "hidden", ""),
)  # fmt: skip
