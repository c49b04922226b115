"""Write the packed embedding model's form for single queries: float32 layers and a sorted table of pieces.

The file is memory-mapped and used as it lies, so that loading it costs nothing: no vocabulary is parsed, no weight
is converted. The word vectors stay in the folder's `model.safetensors`, of which a query touches a few rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

from ragcli.models.disk import Disk
from ragcli.models.e5_pack import Pack, Shape, Tokens
from ragcli.models.tensor_file import TensorData, write_tensors

# Each stacked tensor of the form, and the pack's tensors of one layer that lie behind each other in it.
_STACKED = {
    "qkv.w": ("q.w", "k.w", "v.w"), "qkv.b": ("q.b", "k.b", "v.b"), "ao.w": ("ao.w",), "ao.b": ("ao.b",),
    "aln.w": ("aln.w",), "aln.b": ("aln.b",), "fi.w": ("fi.w",), "fi.b": ("fi.b",), "fo.w": ("fo.w",),
    "fo.b": ("fo.b",), "oln.w": ("oln.w",), "oln.b": ("oln.b",),
}  # fmt: skip
# sentencepiece's price of an unknown character, below the rarest piece.
_UNKNOWN_PENALTY = 10.0


def write_query_form(pack: Pack, path: Path, disk: Disk) -> None:
    """Write the file to `path`, which doesn't exist yet."""
    shape, tokens = pack.shape, pack.tokens
    facts = {
        "heads": str(shape.heads), "eps": f"{shape.eps:.6g}", "positions": str(shape.positions),
        "bos": str(tokens.bos), "eos": str(tokens.eos), "unk": str(tokens.unk),
        "unk_score": repr(min(tokens.scores) - _UNKNOWN_PENALTY),
    }  # fmt: skip
    tensors = {**_weights(pack), **_pieces(tokens), **_characters(tokens)}
    write_tensors(path, disk, tensors, facts)


def _weights(pack: Pack) -> dict[str, TensorData]:
    shape = pack.shape
    found = {
        "emb.pos": TensorData("F32", (shape.positions, shape.hidden), _floats(pack, "emb.pos")),
        "emb.type": TensorData("F32", (shape.types, shape.hidden), _floats(pack, "emb.type")),
        "emb.ln.w": TensorData("F32", (shape.hidden,), _floats(pack, "emb.ln.w")),
        "emb.ln.b": TensorData("F32", (shape.hidden,), _floats(pack, "emb.ln.b")),
    }
    for name, parts in _STACKED.items():
        dims = _layer_dims(name, shape)
        found[name] = TensorData("F32", (shape.layers, *dims), _layers(pack, parts, dims))
    return found


def _layer_dims(name: str, shape: Shape) -> tuple[int, ...]:
    """Return one layer's dimensions: what comes in, then what goes out; a bias has only the latter."""
    out = {"qkv": 3 * shape.hidden, "fi": shape.ffn}.get(name.split(".")[0], shape.hidden)
    if name.endswith(".b") or name.startswith(("aln", "oln")):
        return (out,)
    return shape.ffn if name == "fo.w" else shape.hidden, out


def _layers(pack: Pack, parts: Iterable[str], dims: tuple[int, ...]) -> Iterator[bytes]:
    """Yield each layer's numbers. Weights are turned over: a few rows times a matrix is quickest that way."""
    import numpy as np

    for layer in range(pack.shape.layers):
        numbers = [pack.floats(f"l{layer}.{part}") for part in parts]
        if len(dims) == 2:
            numbers = [part.reshape(-1, dims[0]).T for part in numbers]
        yield np.concatenate(numbers, axis=-1).astype("<f4").tobytes()


def _floats(pack: Pack, name: str) -> Iterator[bytes]:
    yield pack.floats(name).astype("<f4").tobytes()


def _pieces(tokens: Tokens) -> dict[str, TensorData]:
    """Return the pieces sorted by their bytes, with the id and log-probability of each; marks are no text."""
    marks = {tokens.bos, tokens.eos, tokens.pad, tokens.unk}
    rows = sorted((piece.encode(), n) for n, piece in enumerate(tokens.pieces) if n not in marks)
    number = len(rows)
    return {
        **_texts("pieces", [text for text, _ in rows]),
        "pieces.id": TensorData("I32", (number,), [struct.pack(f"<{number}i", *(n for _, n in rows))]),
        "pieces.score": TensorData(
            "F32", (number,), [struct.pack(f"<{number}f", *(tokens.scores[n] for _, n in rows))]
        ),
    }


def _characters(tokens: Tokens) -> dict[str, TensorData]:
    """Return the characters that are read as others, sorted, with the text that each is read as."""
    mapped: Mapping[int, tuple[int, ...]] = dict(sorted(tokens.characters.items()))
    codes = struct.pack(f"<{len(mapped)}I", *mapped)
    return {
        "characters.code": TensorData("U32", (len(mapped),), [codes]),
        **_texts("characters", ["".join(map(chr, read_as)).encode() for read_as in mapped.values()]),
    }


def _texts(name: str, texts: list[bytes]) -> dict[str, TensorData]:
    """Return texts as one run of bytes and where each begins; the last number is where the run ends."""
    starts = [0, *accumulate(map(len, texts))]
    return {
        f"{name}.start": TensorData("U32", (len(starts),), [struct.pack(f"<{len(starts)}I", *starts)]),
        f"{name}.text": TensorData("U8", (starts[-1],), [b"".join(texts)]),
    }
