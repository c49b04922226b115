"""Write the packed embedding model as a Hugging Face folder that sentence-transformers loads.

The weights become float16 (the packed 4-bit weights carry less); tokenizer and settings are plain JSON. The files are
the same bytes in every run, so that their hash can stand for the model.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from ragcli.models.disk import Disk
from ragcli.models.e5_charsmap import charsmap
from ragcli.models.e5_pack import Pack, Shape, Tokens, dequantise
from ragcli.models.tensor_file import TensorData, write_tensors

# The prefixes that the model was trained with, from its model card.
PROMPTS = {"query": "query: ", "passage": "passage: ", "document": "passage: "}
_WHOLE = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
_SLICE = 2**16


def write_folder(pack: Pack, folder: Path, disk: Disk) -> None:
    """Write the whole folder; it exists already and is empty."""
    shape, tokens = pack.shape, pack.tokens
    documents = {
        "config.json": _config(shape, tokens),
        "tokenizer.json": tokenizer_json(tokens),
        "tokenizer_config.json": _tokenizer_config(shape, tokens),
        "modules.json": _MODULES,
        "sentence_bert_config.json": {"max_seq_length": shape.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": PROMPTS, "default_prompt_name": None, "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {"word_embedding_dimension": shape.hidden, "pooling_mode_mean_tokens": True},
    }  # fmt: skip
    disk.make_dir(folder / "1_Pooling")
    for name, value in documents.items():
        disk.write_atomic(folder / name, json.dumps(value, ensure_ascii=False).encode() + b"\n")
    _write_weights(pack, folder / "model.safetensors", disk)


_MODULES = [
    {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{name}"}
    for number, (path, name) in enumerate(
        (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    )
]


def _config(shape: Shape, tokens: Tokens) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"], "model_type": "bert", "dtype": "float16",
        "vocab_size": shape.rows, "hidden_size": shape.hidden, "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads, "intermediate_size": shape.ffn,
        "max_position_embeddings": shape.positions, "type_vocab_size": shape.types,
        "layer_norm_eps": float(f"{shape.eps:.6g}"), "hidden_act": "gelu", "pad_token_id": tokens.pad,
        "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1, "position_embedding_type": "absolute",
    }  # fmt: skip


def _tokenizer_config(shape: Shape, tokens: Tokens) -> dict[str, Any]:
    marks = {
        "bos_token": tokens.bos,
        "eos_token": tokens.eos,
        "cls_token": tokens.bos,
        "sep_token": tokens.eos,
    }
    marks |= {"pad_token": tokens.pad, "unk_token": tokens.unk}
    named = {name: tokens.pieces[number] for name, number in marks.items()}
    return {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": shape.positions, **named}


def tokenizer_json(tokens: Tokens) -> dict[str, Any]:
    """Return the `tokenizers` description: Unigram, the pack's own character map, `<s> ... </s>`."""
    bos, eos = tokens.pieces[tokens.bos], tokens.pieces[tokens.eos]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    single = [_mark(bos), {"Sequence": {"id": "A", "type_id": 0}}, _mark(eos)]
    pair = [*single, {"Sequence": {"id": "B", "type_id": 0}}, _mark(eos)]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {
                "id": number, "content": tokens.pieces[number], "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True,
            }
            for number in sorted({tokens.bos, tokens.eos, tokens.pad, tokens.unk})
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(tokens.characters)).decode()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing", "single": single, "pair": pair,
            "special_tokens": {
                text: {"id": text, "ids": [number], "tokens": [text]} for text, number in ((bos, tokens.bos), (eos, tokens.eos))
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram", "unk_id": tokens.unk, "byte_fallback": False,
            "vocab": [[piece, score] for piece, score in zip(tokens.pieces, tokens.scores, strict=True)],
        },
    }  # fmt: skip


def _mark(text: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": text, "type_id": 0}}


def _write_weights(pack: Pack, path: Path, disk: Disk) -> None:
    """Write the weights in float16, a slice at a time."""
    tensors = {
        theirs: TensorData("F16", dims, _halves(pack, ours) if ours else [bytes(2 * prod(dims))])
        for theirs, (ours, dims) in _hugging_face_shapes(pack.shape).items()
    }
    write_tensors(path, disk, tensors, {"format": "pt"})


def _hugging_face_shapes(shape: Shape) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return each tensor's Hugging Face name with its name in the pack and its dimensions."""
    wide = {"fi": (shape.ffn, shape.hidden), "fo": (shape.hidden, shape.ffn)}
    rows = {"emb.word": shape.rows, "emb.pos": shape.positions, "emb.type": shape.types}
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {}
    for ours, theirs in _WHOLE.items():
        shapes[theirs] = ours, (rows[ours], shape.hidden) if ours in rows else (shape.hidden,)
    for layer in range(shape.layers):
        for ours, theirs in _LAYER.items():
            square = () if ours in ("aln", "oln") else (shape.hidden, shape.hidden)
            weight = wide.get(ours, square) or (shape.hidden,)
            shapes[f"encoder.layer.{layer}.{theirs}.weight"] = f"l{layer}.{ours}.w", weight
            shapes[f"encoder.layer.{layer}.{theirs}.bias"] = f"l{layer}.{ours}.b", weight[:1]
    # BertModel has a pooler that mean pooling never reads; absent, it would be filled at random, with a warning.
    shapes["pooler.dense.weight"] = "", (shape.hidden, shape.hidden)
    shapes["pooler.dense.bias"] = "", (shape.hidden,)
    return shapes


def _halves(pack: Pack, name: str) -> Iterator[bytes]:
    """Yield a tensor's numbers in float16, in pieces: all word vectors at once would take 400 MB."""
    if not pack.tensors[name].quantised:
        yield pack.floats(name).astype("<f2").tobytes()
        return
    blocks = pack.blocks(name)
    for start in range(0, len(blocks), _SLICE):
        yield dequantise(blocks[start : start + _SLICE]).astype("<f2").tobytes()
