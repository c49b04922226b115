"""How long until the first token: every passage evaluated, the best one fresh, all put back; and the answers.

`python benchmarks/first_token.py FOLDER [--kb BASE] [--turns 30] [--out RESULTS.jsonl] [--seconds 200]`

FOLDER holds cases.jsonl (one conversation a line: turns with query, rewrite, expect, answer_has, answer_not); the
base holds its documents. Sampled are later turns, asked by their reference question after their true history, which
has been read while nobody asked, as in a chat. All ways take the same passages, whole; `cut` is what passage_states =
off shows instead. Results are kept turn by turn, so that a run may be stopped and goes on. One line a way at the end.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import statistics
import time
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragcli import config
from ragcli.datatypes import Message, Passage
from ragcli.generation.answer import answer
from ragcli.generation.llm import LlamaModel
from ragcli.generation.prompt import build_prompt, fixed_messages, label, passage_piece
from ragcli.generation.wording import language_of, wording
from ragcli.pipeline.base import open_base, reading
from ragcli.pipeline.language import LanguageModels
from ragcli.pipeline.searcher import open_searcher
from ragcli.pipeline.shown import PassageMode, shown_passages
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.search import SearchOptions

WAYS = ("evaluated", "best-fresh", "all-kept", "cut")
Turn = dict[str, Any]


def main() -> None:
    """Measure what is not measured yet, within the time given, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--first-too", action="store_true", help="sample first turns as well")
    parser.add_argument("--passages", type=int, default=0, help="passages shown; 0: as the settings say")
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument(
        "--answers", action="store_true", help="compare answers alone, without timing the library"
    )
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", type=Path, default=Path("first_token.jsonl"))
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    done = (
        [json.loads(line) for line in args.out.read_text("utf-8").splitlines()] if args.out.exists() else []
    )
    todo = sample(args.folder / "cases.jsonl", args.turns, args.seed, first_too=args.first_too)
    with open(args.out, "a", encoding="utf-8") as out:
        for row in measure(
            args, [turn for turn in todo if turn["key"] not in {row["key"] for row in done}], end
        ):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            out.flush()
            done.append(row)
    report(done, len(todo), args.ways.split(","))


def sample(path: Path, count: int, seed: int, *, first_too: bool) -> list[Turn]:
    """Return turns that have an answer, each with the true history before it."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        history: list[tuple[str, str]] = []
        for number, turn in enumerate(case["turns"], 1):
            if turn["expect"] in ("answer", "correct") and turn["evidence"] and (number > 1 or first_too):
                found.append({**turn, "key": f"{case['id']}.{number}", "history": list(history)})
            history.append((turn["query"], "；".join(each[0] for each in turn["answer_has"]) or "好的。"))
    return random.Random(seed).sample(found, min(count, len(found)))


def measure(args: argparse.Namespace, todo: Sequence[Turn], end: float) -> Iterator[dict[str, Any]]:
    """Yield one row a turn: of each way the seconds, the tokens, and whether the answer is right."""
    if not todo:
        return
    folder = config.base_dir(str(args.kb) if args.kb else None, os.environ, Path.cwd())
    settings = config.load_settings(folder, os.environ)
    if args.passages:
        retrieval = dataclasses.replace(settings.retrieval, passages=args.passages)
        settings = dataclasses.replace(settings, retrieval=retrieval)
    base = open_base(folder, settings, os.environ)
    models = LanguageModels(base)
    model = models.generator
    with reading(base) as store:
        searcher = open_searcher(base, store)
        for turn in todo:
            if time.monotonic() > end:
                return
            question = turn["rewrite"]
            hits = searcher.search([question], Filters(), SearchOptions(k=10, threshold=0.0)).hits
            row: dict[str, Any] = {
                "key": turn["key"],
                "raw": 0.0 if args.answers else raw_rate(model),
                "ways": {},
            }
            modes: dict[str, PassageMode] = {"evaluated": "all-kept", "cut": "off"}
            for way in args.ways.split(","):
                shown = shown_passages(question, hits, settings, model.count_tokens, modes.get(way, way))
                row["ways"][way] = asked(model, way, turn, shown, args)
            yield row
    models.close()


def prompts(folder: Path, kb: Path | None, turns: int, seed: int) -> list[Sequence[Message]]:
    """Return the generator's prompts of sampled turns, for other measurements."""
    base_folder = config.base_dir(str(kb) if kb else None, os.environ, Path.cwd())
    settings = config.load_settings(base_folder, os.environ)
    base = open_base(base_folder, settings, os.environ)
    out: list[Sequence[Message]] = []
    with reading(base) as store:
        searcher = open_searcher(base, store)
        for turn in sample(folder / "cases.jsonl", turns, seed, first_too=True):
            question = turn["rewrite"]
            hits = searcher.search([question], Filters(), SearchOptions(k=10, threshold=0.0)).hits
            shown = shown_passages(question, hits, settings, len, "off")
            out.append(
                build_prompt(question, shown, turn["history"], language=language_of(question)).messages
            )
    return out


def asked(
    model: LlamaModel, way: str, turn: Turn, shown: list[Passage], args: argparse.Namespace
) -> dict[str, Any]:
    """Ask one turn in one way, its history read before and its passages warm."""
    question = turn["rewrite"]
    language = language_of(question)
    fixed = fixed_messages(language, model.context_tokens)
    model.prepare(fixed)
    if way == "evaluated":
        shown = [dataclasses.replace(passage, keep=False) for passage in shown]
    for passage in shown:
        if passage.keep:
            model.warm(fixed, label(passage.n, language))
            model.warm(fixed, passage_piece(passage, wording(language)))
    past: list[Message] = []
    for query, said in turn["history"]:
        past += [Message("user", query), Message("assistant", said)]
    model.complete([*fixed, *past[:-2], Message("user", "。")], max_tokens=1)  # what the turn before left
    model.read([*fixed, *past], wording(language)["passages"])  # and what the chat reads while it waits
    result = answer(
        question,
        shown,
        model=model,
        history=turn["history"],
        language=language,
        max_tokens=args.max_tokens,
        passage_tokens=1200,
    )
    cost = result.completion
    assert cost is not None
    return {
        "first_s": cost.first_token_s,
        "evaluated": cost.evaluated_tokens,
        "put_back": cost.put_back_tokens,
        "put_back_s": cost.put_back_s,
        "prompt": cost.prompt_tokens,
        "written": cost.completion_tokens,
        "total_s": cost.total_s,
        "attempts": result.checks.attempts,
        "floor_s": 1.0 if args.answers else bare(model, cost.evaluated_tokens, cost.prompt_tokens),
        "answer": result.text,
        "right": right(turn, result.text),
    }


def raw_rate(model: LlamaModel, tokens: int = 512) -> float:
    """Return the tokens a second of one full batch in an empty sequence."""
    return tokens / bare(model, tokens, tokens)


def bare(model: LlamaModel, tokens: int, behind: int) -> float:
    """Return the seconds of llama.cpp's own call for so many tokens at the end of a prompt of `behind`."""
    native = model._native
    slot = next(slot for slot in model._cells.slots.all if len(slot.tokens) >= behind or tokens == behind)
    start = behind - tokens
    scratch = native.options.sequences - 1
    native.copy(slot.sequence, scratch, start)
    some = [1000 + n for n in range(tokens)]
    began = time.perf_counter()
    for at in range(0, tokens, native.options.batch):
        native.decode(some[at : at + native.options.batch], start + at, scratch)
    native.logits()
    spent = time.perf_counter() - began
    native.forget(scratch)
    return spent


def right(turn: Turn, text: str) -> bool:
    """Tell whether an answer holds one wording of each thing wanted and nothing unwanted."""
    said = plain(text)
    return all(any(plain(word) in said for word in words) for words in turn["answer_has"]) and not any(
        plain(word) in said for word in turn["answer_not"]
    )


def plain(text: str) -> str:
    """Return text as it is compared."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def report(rows: Sequence[dict[str, Any]], wanted: int, ways: Sequence[str]) -> None:
    """Print one line a way."""
    if not rows:
        return
    timed = [row for row in rows if all(way["attempts"] == 1 for way in row["ways"].values())]
    slowest = statistics.median(row["ways"][ways[0]]["first_s"] for row in timed)
    raw = statistics.median(row["raw"] for row in timed)
    print(
        f"{len(rows)} of {wanted} turns, {len(timed)} timed; raw prompt rate {raw:.0f} tokens/s in a batch of 512"
    )
    print(
        "| passages | first token, p50 | times faster | evaluated | put back | time / floor, p50 | right | won / lost |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for way in ways:
        mine = [row["ways"][way] for row in timed]
        first = statistics.median(each["first_s"] for each in mine)
        over = statistics.median(each["first_s"] / (each["floor_s"] + each["put_back_s"]) for each in mine)
        fresh, back = (statistics.median(each[kind] for each in mine) for kind in ("evaluated", "put_back"))
        won = sum(row["ways"][way]["right"] and not row["ways"][ways[0]]["right"] for row in rows)
        lost = sum(row["ways"][ways[0]]["right"] and not row["ways"][way]["right"] for row in rows)
        good = sum(row["ways"][way]["right"] for row in rows)
        print(
            f"| {way} | {first:.2f} s | {slowest / first:.1f} | {fresh:.0f} | {back:.0f} | {over:.2f} | {good} | "
            f"{won} / {lost} (p = {mcnemar(won, lost):.2f}) |"
        )


def mcnemar(won: int, lost: int) -> float:
    """Return the two-sided exact p of so many changes for the better and the worse."""
    from math import comb

    n, k = won + lost, min(won, lost)
    return min(1.0, 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0


if __name__ == "__main__":
    main()
