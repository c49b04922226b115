"""Write a GGUF of a 7B model's shape with random weights, to measure memory and speed where the real one isn't at hand.

`python benchmarks/shape7b.py OUT.gguf` (4.3 GB). What it writes is noise; loading, memory and tokens a second are those
of the shape: qwen2, 28 layers, 3584 wide, 28 heads and 4 for keys and values, feed-forward 18944, 152064 words, Q4_0.
Words and chat template come from the small model of the registry.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from numpy.typing import NDArray

from ragcli import config
from ragcli.pipeline.models import model_path

LAYERS, WIDTH, HEADS, KV_HEADS, FEED, WORDS = 28, 3584, 28, 4, 18944, 152_064
KV_WIDTH = WIDTH // HEADS * KV_HEADS
BLOCK, BLOCK_BYTES = 32, 18
SCALE = 0.002  # small, so that 28 layers of noise stay finite
UNUSED = 5  # gguf's token type for words that no text gives


def main() -> None:
    """Write the file and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    started = time.monotonic()
    small = model_path("qwen2.5-coder-0.5b-instruct", "generator", config.models_dir(os.environ))
    write(args.out, GGUFReader(small), np.random.default_rng(args.seed))
    print(f"{args.out}: {args.out.stat().st_size / 1e9:.1f} GB in {time.monotonic() - started:.0f} s")


def write(out: Path, small: GGUFReader, random: np.random.Generator) -> None:
    """Write header, words and one tensor after another: never more than one in memory."""
    writer = GGUFWriter(out, "qwen2")
    writer.add_name("random weights of a 7B shape")
    writer.add_context_length(32768)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1_000_000.0)
    add_words(writer, small)
    shapes = dict(tensors())
    for name, (rows, width) in shapes.items():
        if quantised(name):
            size = rows * width // BLOCK * BLOCK_BYTES
            byte_shape = (rows, width // BLOCK * BLOCK_BYTES)
            writer.add_tensor_info(name, byte_shape, np.dtype(np.uint8), size, GGMLQuantizationType.Q4_0)
        else:
            writer.add_tensor_info(name, (width,), np.dtype(np.float32), 4 * width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for name, (rows, width) in shapes.items():
        writer.write_tensor_data(weights(name, rows, width, random))
    writer.close()


def add_words(writer: GGUFWriter, small: GGUFReader) -> None:
    """Carry tokenizer and chat template over, and pad the words to the shape's number."""
    texts = [small.fields["tokenizer.ggml.tokens"].contents(n) for n in range(field_size(small, "tokens"))]
    kinds = list(small.fields["tokenizer.ggml.token_type"].contents())
    pad = range(len(texts), WORDS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([*texts, *(f"[PAD{n}]" for n in pad)][:WORDS])
    writer.add_token_types([*kinds, *(UNUSED for _ in pad)][:WORDS])
    writer.add_token_merges(small.fields["tokenizer.ggml.merges"].contents())
    writer.add_eos_token_id(int(small.fields["tokenizer.ggml.eos_token_id"].contents()))
    writer.add_bos_token_id(int(small.fields["tokenizer.ggml.bos_token_id"].contents()))
    writer.add_add_bos_token(False)
    writer.add_chat_template(small.fields["tokenizer.chat_template"].contents())


def field_size(small: GGUFReader, name: str) -> int:
    """Return how many entries a tokenizer's array has."""
    return len(small.fields[f"tokenizer.ggml.{name}"].data)


def tensors() -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield every tensor's name with its rows and width (a vector has one row)."""
    yield "token_embd.weight", (WORDS, WIDTH)
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        yield at + "attn_norm.weight", (1, WIDTH)
        yield at + "attn_q.weight", (WIDTH, WIDTH)
        yield at + "attn_q.bias", (1, WIDTH)
        for name in ("attn_k", "attn_v"):
            yield f"{at}{name}.weight", (KV_WIDTH, WIDTH)
            yield f"{at}{name}.bias", (1, KV_WIDTH)
        yield at + "attn_output.weight", (WIDTH, WIDTH)
        yield at + "ffn_norm.weight", (1, WIDTH)
        yield at + "ffn_gate.weight", (FEED, WIDTH)
        yield at + "ffn_up.weight", (FEED, WIDTH)
        yield at + "ffn_down.weight", (WIDTH, FEED)
    yield "output_norm.weight", (1, WIDTH)
    yield "output.weight", (WORDS, WIDTH)


def quantised(name: str) -> bool:
    """Return whether a tensor is stored in blocks."""
    return name.endswith(".weight") and "norm" not in name


def weights(
    name: str, rows: int, width: int, random: np.random.Generator
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """Return a tensor: ones for norms, zeros for biases, random nibbles under one scale for the rest."""
    if not quantised(name):
        return np.full(width, 1.0 if "norm" in name else 0.0, np.float32)
    blocks = random.integers(0, 256, (rows * width // BLOCK, BLOCK_BYTES), dtype=np.uint8)
    blocks[:, :2] = np.array([SCALE], "<f2").view(np.uint8)
    return blocks.reshape(rows, -1)


if __name__ == "__main__":
    main()
