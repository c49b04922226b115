"""Write the packed embedding model as a GGUF of architecture `bert`, for servers and for tests of GGUF files.

The 4-bit blocks are carried over as they are, so the weights are the very ones of the pack. llama.cpp embeds with it:
tokenizer model `t5` (Unigram), mean pooling.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragcli.embedding.tensors import open_tensors
from ragcli.embedding.unigram import open_unigram
from ragcli.models.e5_charsmap import charsmap
from ragcli.models.e5_folder import _hugging_face_shapes
from ragcli.models.e5_pack import BLOCK, BLOCK_BYTES, Pack, Shape, Tensor, Tokens, parse
from tests.models.small import pack_bytes

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_NAMES = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "ao": "attn_output", "aln": "attn_output_norm",
    "fi": "ffn_up", "fo": "ffn_down", "oln": "layer_output_norm",
}  # fmt: skip
_TOP = {"emb.pos": "position_embd.weight", "emb.type": "token_types.weight"}


def write_gguf(pack: Any, path: Path, name: str, licence: str) -> None:
    """Write the GGUF to `path`, a temporary place of the caller's: the library opens it by itself."""
    from gguf import GGUFWriter, PoolingType

    shape = pack.shape
    writer = GGUFWriter(path, "bert")
    writer.add_name(name)
    writer.add_license(licence)
    writer.add_context_length(shape.positions)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_block_count(shape.layers)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)
    _add_tokenizer(writer, pack)
    _add_tensors(writer, pack)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def write_served_form(folder: Path, path: Path) -> None:
    """Write a GGUF of the very weights and pieces that a model's folder holds, packed again on the way."""
    tensors, form = open_tensors(folder / "model.safetensors"), open_tensors(folder / "query.safetensors")
    write_gguf(_FromFolder(folder, tensors.arrays, form), path, "served", "MIT")


class _FromFolder:
    """A model's folder in the shape of a pack, float32 throughout."""

    def __init__(self, folder: Path, arrays: Any, form: Any) -> None:
        config = json.loads((folder / "config.json").read_bytes())
        self.shape = Shape(
            config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"],
            config["intermediate_size"], config["vocab_size"], config["max_position_embeddings"],
            config["type_vocab_size"], config["layer_norm_eps"],
        )  # fmt: skip
        told = json.loads((folder / "tokenizer.json").read_bytes())["model"]["vocab"]
        texts, scores = zip(*told, strict=True)
        characters = open_unigram(form.arrays, form.facts)
        mapped = {
            code: tuple(map(ord, characters.read_as[n].decode())) for n, code in enumerate(characters.codes)
        }
        marks = (
            int(form.facts["bos"]),
            int(form.facts["eos"]),
            config["pad_token_id"],
            int(form.facts["unk"]),
        )
        self.tokens = Tokens(texts, scores, *marks, mapped)
        names = {ours: theirs for theirs, (ours, _) in _hugging_face_shapes(self.shape).items() if ours}
        self._arrays = {ours: arrays[theirs] for ours, theirs in names.items()}
        self.tensors = {name: Tensor(False, rows.size, 0, 0) for name, rows in self._arrays.items()}

    def floats(self, name: str) -> Any:
        """Return a tensor's numbers as float32, flat."""
        return self._arrays[name].ravel().astype("<f4")


def gguf_bytes(folder: Path) -> bytes:
    """Return a small GGUF file."""
    path = folder / "small.gguf.tmp"
    write_gguf(parse(pack_bytes(), path), path, "small", "MIT")
    data = path.read_bytes()
    path.unlink()
    return data


def _add_tokenizer(writer: Any, pack: Pack) -> None:
    tokens = pack.tokens
    kinds = [_NORMAL] * len(tokens.pieces)
    for mark in (tokens.bos, tokens.eos, tokens.pad):
        kinds[mark] = _CONTROL
    kinds[tokens.unk] = _UNKNOWN
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.encode() for piece in tokens.pieces])
    writer.add_token_scores(tokens.scores)
    writer.add_token_types(kinds)
    writer.add_token_type_count(pack.shape.types)
    writer.add_bos_token_id(tokens.bos)
    writer.add_eos_token_id(tokens.eos)
    writer.add_sep_token_id(tokens.eos)
    writer.add_pad_token_id(tokens.pad)
    writer.add_unk_token_id(tokens.unk)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(charsmap(tokens.characters))


def _add_tensors(writer: Any, pack: Pack) -> None:
    shape, tokens = pack.shape, len(pack.tokens.pieces)
    # llama.cpp wants one row a token; the pack's word table has spare rows after them.
    _add(writer, pack, "emb.word", "token_embd.weight", shape.hidden, tokens)
    for ours, theirs in _TOP.items():
        _add(writer, pack, ours, theirs, shape.hidden)
    _add(writer, pack, "emb.ln.w", "token_embd_norm.weight", 0)
    _add(writer, pack, "emb.ln.b", "token_embd_norm.bias", 0)
    for layer in range(shape.layers):
        for ours, theirs in _NAMES.items():
            width = 0 if ours in ("aln", "oln") else shape.ffn if ours == "fo" else shape.hidden
            _add(writer, pack, f"l{layer}.{ours}.w", f"blk.{layer}.{theirs}.weight", width)
            _add(writer, pack, f"l{layer}.{ours}.b", f"blk.{layer}.{theirs}.bias", 0)


def _add(writer: Any, pack: Pack, ours: str, theirs: str, width: int, rows: int | None = None) -> None:
    """Add one tensor of rows `width` wide (0: a plain vector), at most `rows` of them."""
    from gguf import GGMLQuantizationType

    if pack.tensors[ours].quantised:
        blocks = pack.blocks(ours).reshape(-1, width // BLOCK * BLOCK_BYTES)
        writer.add_tensor(theirs, blocks[:rows], raw_dtype=GGMLQuantizationType.Q4_0)
    else:
        numbers = pack.floats(ours)
        writer.add_tensor(theirs, numbers.reshape(-1, width)[:rows] if width else numbers)
