"""Which settings of llama.cpp pay on this machine, and what ragcli's own loop costs beside it.

`python benchmarks/rates.py [MODEL.gguf] [--what threads,attention,cache,loop,lookup] [--folder CASES --kb BASE]`

One line a setting: tokens a second of a prompt (512 at once, and 96 behind 1,200 others), and of an answer (48 tokens
behind 1,200). `loop` compares ragcli's answers with a bare loop over the library in the same run. `lookup` writes the
answers to sampled turns of FOLDER (as `first_token.py` takes it) with so many guessed tokens at a time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

from first_token import prompts

from ragcli import config
from ragcli.datatypes import Message
from ragcli.generation.llm import LlamaModel, cores
from ragcli.pipeline.models import model_path

DEEP, SHORT, ANSWER, REPEATS = 1200, 96, 48, 3
TEXT = "净水器的滤芯每六个月更换一次，更换后冲洗十五分钟。打印机的墨盒按张数更换，换下的交回服务点。"


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--what", default="threads,attention,cache,loop")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=200.0)
    args = parser.parse_args()
    path = args.model or model_path(
        config.Settings().generation.model, "generator", config.models_dir(os.environ)
    )
    many = cores()
    variants: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "threads": [(f"{n} threads", {"threads": n}) for n in sorted({1, many, many + 1, many * 2})],
        "attention": [(f"flash attention {on}", {"flash_attention": on}) for on in (True, False)],
        "cache": [(f"cache {kind}", {"cache_type": kind}) for kind in ("f16", "q8_0")],
    }
    print("| setting | prompt, 512 | prompt, 96 behind 1,200 | answer behind 1,200 | bytes kept a token |")
    print("|---|---|---|---|---|")
    for what in args.what.split(","):
        for name, options in variants.get(what, []):
            model = LlamaModel(path, 4096, **options)
            print(f"| {name} | {row(model)} |", flush=True)
            model.close()
    if "loop" in args.what:
        print(own_loop(LlamaModel(path, 4096)), flush=True)
    if "lookup" in args.what:
        lookup(path, args)


def row(model: LlamaModel) -> str:
    """Return the rates of one way of loading, the best of some runs each."""
    full, short, answer = zip(*(once(model) for _ in range(REPEATS)), strict=True)
    return f"{max(full):.0f} | {max(short):.0f} | {max(answer):.1f} | {bytes_kept(model):.0f}"


def once(model: LlamaModel) -> tuple[float, float, float]:
    """Return tokens a second: a full batch, a short one behind many, single tokens behind many."""
    native = model._native
    tokens = (native.tokenize(TEXT * 60) * 2)[: DEEP + SHORT]
    model._cells.make_room([1], 1, DEEP + SHORT + ANSWER)
    scratch = native.options.sequences - 1
    batch = native.options.batch
    began = time.perf_counter()
    native.decode(tokens[:batch], 0, scratch)
    full = batch / (time.perf_counter() - began)
    for start in range(batch, DEEP, batch):
        native.decode(tokens[start : min(start + batch, DEEP)], start, scratch)
    began = time.perf_counter()
    native.decode(tokens[DEEP : DEEP + SHORT], DEEP, scratch)
    short = SHORT / (time.perf_counter() - began)
    began = time.perf_counter()
    for n in range(ANSWER):
        native.decode([int(native.logits().argmax())], DEEP + SHORT + n, scratch)
    answer = ANSWER / (time.perf_counter() - began)
    native.forget(scratch)
    return full, short, answer


def bytes_kept(model: LlamaModel) -> float:
    """Return what one evaluated token takes on the disk."""
    native = model._native
    model._cells.make_room([1], 1, 256)
    scratch = native.options.sequences - 1
    native.decode(native.tokenize(TEXT * 10)[:256], 0, scratch)
    size = len(native.state(scratch)) / 256
    native.forget(scratch)
    return size


def own_loop(model: LlamaModel) -> str:
    """Return ragcli's rate of output beside that of a bare loop, alternating on the same prompt."""
    native, shares = model._native, []
    prompt = [Message("user", TEXT * 40 + "请把上面的内容改写成一份很长的说明，写满两页。")]
    for _ in range(REPEATS):
        done = model.complete(prompt, max_tokens=ANSWER)
        own = (done.completion_tokens - 1) / (done.total_s - done.first_token_s)
        slot = model._cells.slots.choose(model._tokens(prompt))[0]
        start = len(slot.tokens)
        began = time.perf_counter()
        for n in range(ANSWER):
            native.decode([int(native.logits().argmax())], start + n, slot.sequence)
        raw = ANSWER / (time.perf_counter() - began)
        native.forget(slot.sequence, start)
        shares.append((own / raw, own, raw))
    share, own, raw = sorted(shares)[len(shares) // 2]
    model.close()
    return f"own loop {own:.1f} tokens/s, bare loop {raw:.1f}: {share:.2f}"


def lookup(path: Path, args: argparse.Namespace) -> None:
    """Print the rate of output on real prompts with so many guessed tokens at a time."""
    asked = prompts(args.folder, args.kb, args.turns, args.seed)
    print("| guessed at a time | answer tokens/s, median | times faster, median | answers |")
    print("|---|---|---|---|")
    end = time.monotonic() + args.seconds
    models = {most: LlamaModel(path, 4096, lookup=most) for most in (0, 3, 6)}
    rates: dict[int, list[float]] = {most: [] for most in models}
    for messages in asked:
        if time.monotonic() > end:
            break
        for most, model in models.items():
            done = model.complete(messages, max_tokens=120)
            if done.completion_tokens > 4:
                rates[most].append((done.completion_tokens - 1) / (done.total_s - done.first_token_s))
    for most, found in rates.items():
        gains = [one / other for one, other in zip(found, rates[0], strict=False)]
        print(f"| {most} | {statistics.median(found):.1f} | {statistics.median(gains):.2f} | {len(found)} |")


if __name__ == "__main__":
    main()
