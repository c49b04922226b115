"""Measure ragcli's splitting beside two splitters that look at no headings or tables, in one run.

    pip install langchain-text-splitters chonkie     # into an environment that has ragcli too
    python benchmarks/splitting.py [FILE] [MEGABYTES]

FILE is a UTF-8 text, repeated up to the size; without it a text is made up. Decoding is left out on all sides. The
figures are MB of UTF-8 a second of processor time, the best of three runs, with the number of chunks; then ragcli's
time at twice the size, and its peak memory beside the size of the decoded text.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sized
from pathlib import Path

from ragcli.datatypes import SplitOptions
from ragcli.documents.decode import Decoded
from ragcli.documents.encodings import usual
from ragcli.documents.read import split_text

CHINESE = ["\n\n", "\n", "。", "！", "？", "；", "，", " ", ""]


def made_up(megabytes: float) -> str:
    """Return chapters of paragraphs of everyday characters."""
    source = random.Random(1)
    characters = sorted(usual())
    lines, size, chapter = [], 0.0, 0
    while size < megabytes * 1e6:
        chapter += 1
        lines += [f"第{chapter}章 {''.join(source.choices(characters, k=5))}", ""]
        for _ in range(12):
            sentences = ("".join(source.choices(characters, k=source.randint(8, 40))) for _ in range(12))
            lines.append("".join(sentence + source.choice("，，。。！？") for sentence in sentences) + "。")
            size += len(lines[-1]) * 3
    return "\n".join(lines)


def best(call: Callable[[], Sized], times: int = 3) -> tuple[float, int]:
    """Return the least processor time of some runs, and how many pieces came out."""
    least, pieces = float("inf"), 0
    for _ in range(times):
        start = time.process_time()
        pieces = len(call())
        least = min(least, time.process_time() - start)
    return least, pieces


def ours(text: str) -> Sized:
    """Split with ragcli."""
    return split_text(Decoded(text, "utf-8"), "f", SplitOptions()).chunks


def others(text: str) -> dict[str, Callable[[], Sized]]:
    """Return the other splitters that are installed here."""
    found: dict[str, Callable[[], Sized]] = {}
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        plain = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80)
        chinese = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80, separators=CHINESE)
        found["langchain, its separators"] = lambda: plain.split_text(text)
        found["langchain, Chinese separators"] = lambda: chinese.split_text(text)
    except ImportError:
        print("langchain-text-splitters isn't installed here", file=sys.stderr)
    try:
        from chonkie import RecursiveChunker

        chunker = RecursiveChunker(chunk_size=400)
        found["chonkie"] = lambda: chunker(text)
    except ImportError:
        print("chonkie isn't installed here", file=sys.stderr)
    return found


def main() -> None:
    """Print the figures."""
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    if len(sys.argv) > 1:
        unit = Path(sys.argv[1]).read_text("utf-8")
        text = unit * max(1, round(megabytes * 1e6 / len(unit.encode())))
    else:
        text = made_up(megabytes)
    size = len(text.encode()) / 1e6
    print(f"{size:.1f} MB, {len(text)} characters, {text.count(chr(10))} lines")
    for name, call in {**others(text), "ragcli": lambda: ours(text)}.items():
        seconds, pieces = best(call)
        print(f"{name:30} {size / seconds:7.1f} MB/s {pieces:7} chunks")
    once, _ = best(lambda: ours(text))
    twice, _ = best(lambda: ours(text * 2), 2)
    tracemalloc.start()
    ours(text)
    peak = tracemalloc.get_traced_memory()[1]
    print(f"ragcli, twice the text: {twice / once:.2f} times the time")
    print(f"ragcli, peak memory: {peak / sys.getsizeof(text):.1f} times the decoded text, itself left out")


if __name__ == "__main__":
    main()
