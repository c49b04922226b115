"""A tiny packed embedding model, and wheels that hold parts: the real formats, a few kilobytes."""

import hashlib
import struct
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from ragcli.models.e5_pack import BLOCK, Shape, expected_tensors
from ragcli.models.registry import ModelEntry, ModelFile, Part

SHAPE = Shape(hidden=64, layers=1, heads=4, ffn=128, rows=70, positions=32, types=2, eps=1e-12)
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
PIECES = (
    *MARKS,
    "▁",
    "▁query",
    "▁passage",
    ":",
    "水",
    "箱",
    "▁水箱",
    "多",
    "大",
    *"abcdefghijklmnopqrstuvwxyz0123456789?",
)
CHARACTERS = {
    0x09: (0x20,),
    0x0A: (0x20,),
    0x3000: (0x20,),
    0xFF1A: (0x3A,),
    0xFF1F: (0x3F,),
    0x200B: (),
    0x2460: (0x31,),
}


def pack_bytes(shape: Shape = SHAPE, pieces: tuple[str, ...] = PIECES, seed: int = 7) -> bytes:
    """Return a packed file with random weights."""
    head = b"E5S1" + struct.pack("<I7ifi", 1, shape.hidden, shape.layers, shape.heads, shape.ffn, shape.rows,
                                 shape.positions, shape.types, shape.eps, BLOCK)  # fmt: skip
    encoded = [piece.encode() for piece in pieces]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    scores = np.linspace(-1, -9, len(pieces)).astype("<f4")
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, int(offsets[-1]))
    head += offsets.tobytes() + scores.tobytes() + b"".join(encoded)
    mapped = b"".join(struct.pack(f"<IB{len(to)}I", code, len(to), *to) for code, to in CHARACTERS.items())
    head += struct.pack("<iI", len(CHARACTERS), len(mapped)) + mapped
    return head + _tensor_bytes(shape, len(head), np.random.default_rng(seed))


def _tensor_bytes(shape: Shape, before: int, random: np.random.Generator) -> bytes:
    wanted = expected_tensors(shape)
    start = before + 4 + sum(2 + len(name) + 21 for name in wanted)
    table, body = struct.pack("<i", len(wanted)), b""
    for name, numbers in wanted.items():
        quantised = name == "emb.word" or (
            name[0] == "l" and name.split(".")[1] in ("q", "k", "v", "ao", "fi", "fo") and name[-1] == "w"
        )
        if quantised:
            blocks = random.integers(0, 256, (numbers // BLOCK, 18), dtype=np.uint8)
            blocks[:, :2] = np.full((len(blocks), 1), 0.02, "<f2").view(np.uint8)
            data = blocks.tobytes()
        else:
            values = np.ones(numbers) if name.endswith("ln.w") else random.normal(0, 0.05, numbers)
            data = values.astype("<f4").tobytes()
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", int(quantised), numbers, start + len(body), len(data))
        body += data
    return table + body


def write_wheel(folder: Path, package: str, member: str, data: bytes, version: str = "1.0") -> Path:
    """Write a wheel that holds one member."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, data)
    return path


def entry_of(name: str, data: bytes, cuts: tuple[int, ...], folder: Path, form: str = "gguf") -> ModelEntry:
    """Return a model whose file is cut at the given places, its parts' wheels written into a folder."""
    edges = [0, *cuts, len(data)]
    parts = []
    for number, (start, end) in enumerate(pairwise(edges), 1):
        piece = data[start:end]
        part = Part(
            f"{name}-part{number}",
            "1.0",
            f"data/part{number:02}.bin",
            len(piece),
            hashlib.sha256(piece).hexdigest(),
        )
        write_wheel(folder, part.package, part.member, piece)
        parts.append(part)
    file = f"{name}.bin" if form == "e5" else f"{name}.gguf"
    item = ModelFile(file, len(data), hashlib.sha256(data).hexdigest(), tuple(parts))
    roles = ("embedding", "query") if form == "e5" else ("rewriter", "generator")
    return ModelEntry(
        name, name, roles, "MIT", "someone/something", form, name if form == "e5" else file, (item,)
    )
