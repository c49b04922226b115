"""Memory and first token with a model of 7B shape: one process with model, embedder and an index of 100,000 chunks.

`python benchmarks/large.py MODEL.gguf [--states FOLDER] [--chunks 100000] [--context 8192] [--cache f16]`

MODEL as `shape7b.py` writes it. Three passages of about 330 tokens and a question of about 90, as a turn has them:
all evaluated, and all put back; then the most memory that the process ever had. States are kept in FOLDER, so that a
second run only measures.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from ragcli import config
from ragcli.config import Settings
from ragcli.datatypes import Message
from ragcli.generation.llm import LlamaModel
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.embedders import query_embedding
from ragcli.storage.states import StateFiles

SENTENCE = "第{n}号机组的冷却水每{n}小时检查一次，水位低于刻度时加注，并把读数记在值班表上。"
RULES = Message("system", "只根据资料回答，照抄原句，数字和单位一字不差，每句末尾标出编号。")


def main() -> None:
    """Load everything, take the turn both ways, print seconds and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--states", type=Path, default=Path("large-states"))
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--cache", default="f16")
    parser.add_argument("--skip", default="", help="evaluated or put-back")
    args = parser.parse_args()
    index = index_of(args.chunks)
    base = KnowledgeBase(Path(), Settings(), config.models_dir(os.environ))
    embedder = query_embedding(base)
    embedder.embed_query("冷却水")
    began = time.monotonic()
    model = LlamaModel(
        args.model,
        args.context,
        model_hash="large",
        cache_type=args.cache,
        store=StateFiles(args.states, 4 * 10**9),
    )
    print(f"loaded in {time.monotonic() - began:.1f} s, {resident():.1f} GB resident", flush=True)
    model.prepare([RULES])
    passages = ["".join(SENTENCE.format(n=n * 20 + m) for m in range(12)) for n in range(3)]
    asked = "最相关的原文：\n" + SENTENCE.format(n=7) * 2 + "\n问题：第七号机组的冷却水多久检查一次？"
    pieces = ("资料：\n", *passages, asked)
    seconds = {}
    for way, kept in (("put-back", (1, 2, 3)), ("evaluated", ())):
        if way == args.skip:
            continue
        if kept:
            made = sum(model.warm([RULES], passage) for passage in passages)
            print(f"{made} passages read ahead", flush=True)
        model.complete([RULES, Message("user", "好")], max_tokens=1)
        done = model.complete([RULES, Message("user", "".join(pieces), pieces, kept)], max_tokens=8)
        seconds[way] = done.first_token_s
        print(
            f"{way}: first token {done.first_token_s:.1f} s, {done.evaluated_tokens} evaluated, "
            f"{done.put_back_tokens} put back in {done.put_back_s:.2f} s, "
            f"{7 / (done.total_s - done.first_token_s):.1f} tokens/s written",
            flush=True,
        )
    if len(seconds) > 1:
        print(f"{seconds['evaluated'] / seconds['put-back']:.1f} times faster")
    print(f"most memory of the process, index of {index.ntotal:,} included: {peak():.2f} GB")


def index_of(chunks: int) -> Any:
    """Return a flat index of random vectors in the embedder's width."""
    import faiss

    index = faiss.IndexFlatIP(384)
    index.add(np.random.default_rng(1).standard_normal((chunks, 384), dtype=np.float32))
    return index


def peak() -> float:
    """Return the most memory that this process had resident, mapped files included, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def resident() -> float:
    """Return the memory that this process has resident, in GB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


if __name__ == "__main__":
    main()
