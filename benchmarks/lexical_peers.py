"""Measure lexical and dense search beside bm25s and beside FAISS used bare, over the same texts and vectors.

    python benchmarks/lexical_peers.py [--peers ENVIRONMENT] [--chunks 20000] [--queries 200]

The texts are made up: short Chinese paragraphs with model numbers in them. bm25s gets character bigrams, which is what
it needs for Chinese without a dictionary. Building is counted once, searching as the median of the queries, ten hits
each. Dense: normalised random vectors of 384 numbers; ragcli's index file beside `IndexFlatIP` in memory.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragcli.documents.normalise import fold
from ragcli.retrieval.dense import DenseIndex, build_dense
from ragcli.retrieval.lexical import LexicalIndex, LexicalRow, build_lexical

TERMS = (
    "滤芯 更换 复位 水箱 容量 额定 功率 保修 年限 报销 住宿 标准 审批 时限 借阅 续借 罚款 会员 停卡 转让 传感器 校准 报警 "
    "端口 固件 升级 温度 湿度 上限 下限 客流 季度 站点 首班 末班 票价 押金 退款 预约 取消"
)
WORDS = TERMS.split()


def made_up(number: int) -> list[str]:
    """Return paragraphs of everyday words and model numbers."""
    source = random.Random(1)
    return [
        "".join(source.choices(WORDS, k=source.randint(20, 80)))
        + f" KX-{source.randint(100, 999)}，每{source.randint(2, 90)}天一次。"
        for _ in range(number)
    ]


def bigrams(text: str) -> list[str]:
    """Return the tokens that bm25s is given: Latin words, and pairs of Chinese characters."""
    tokens = re.findall(r"[a-z0-9-]+", text.lower())
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        tokens += [run[n : n + 2] for n in range(len(run) - 1)] or [run]
    return tokens


def median_ms(call: Callable[[Any], object], queries: Sequence[Any]) -> float:
    """Return the median milliseconds of a call over the queries, after one that doesn't count."""
    call(queries[0])
    spent = []
    for query in queries:
        started = time.perf_counter()
        call(query)
        spent.append(time.perf_counter() - started)
    return 1000 * statistics.median(spent)


def lexical(texts: list[str], queries: list[str], folder: Path) -> dict[str, tuple[float, float]]:
    """Return seconds to build and milliseconds to search, by library."""
    found = {}
    started = time.perf_counter()
    build_lexical(folder / "words", (LexicalRow(n, "", (), text) for n, text in enumerate(texts)), fold)
    built = time.perf_counter() - started
    index = LexicalIndex(folder / "words", fold)
    found["ragcli (tantivy)"] = (built, median_ms(lambda query: index.search(query, 10), queries))
    try:
        import bm25s
    except ImportError:
        print("bm25s isn't installed here", file=sys.stderr)
        return found
    started = time.perf_counter()
    tokens = [bigrams(text) for text in texts]
    peer = bm25s.BM25()
    peer.index(tokens, show_progress=False)
    built = time.perf_counter() - started
    search = lambda query: peer.retrieve([bigrams(query)], k=10, show_progress=False)  # noqa: E731
    found["bm25s"] = (built, median_ms(search, queries))
    return found


def dense(number: int, queries: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Return seconds to build and milliseconds to search, with ragcli's file and with FAISS bare."""
    import faiss

    source = np.random.default_rng(1)
    vectors = source.standard_normal((number, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = vectors[source.integers(0, number, queries)]
    started = time.perf_counter()
    build_dense(folder / "dense.faiss", np.arange(number), vectors, "flat")
    built = time.perf_counter() - started
    index = DenseIndex(folder / "dense.faiss")
    found = {"ragcli (flat, with ids)": (built, median_ms(lambda row: index.search(row, 10), list(asked)))}
    started = time.perf_counter()
    bare = faiss.IndexFlatIP(384)
    bare.add(vectors)
    built = time.perf_counter() - started
    found["faiss, IndexFlatIP"] = (built, median_ms(lambda row: bare.search(row[None], 10), list(asked)))
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="an environment with bm25s")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    if options.peers:
        sys.path += [str(path) for path in options.peers.glob("lib/python*/site-packages")]
    texts = made_up(options.chunks)
    source = random.Random(2)
    queries = [
        "".join(source.choices(WORDS, k=4)) + f"KX-{source.randint(100, 999)}" for _ in range(options.queries)
    ]
    with tempfile.TemporaryDirectory() as folder:
        tables = {
            "words": lexical(texts, queries, Path(folder)),
            "vectors": dense(options.chunks, options.queries, Path(folder)),
        }
    print(
        f"{options.chunks} chunks, {options.queries} queries\n\n| search | built in s | a query, ms | ratio |\n|---|---|---|---|"
    )
    for kind, rows in tables.items():
        own = next(iter(rows.values()))[1]
        for name, (built, spent) in rows.items():
            print(f"| {kind}: {name} | {built:.2f} | {spent:.2f} | {spent / own:.1f} |")


if __name__ == "__main__":
    main()
