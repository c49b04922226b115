"""Measure warm retrieval (dense, lexical, fusion; no encoding) at 100,000 and 1,000,000 chunks, and its recall.

    python benchmarks/dense.py BASE PASSAGES.jsonl QUERIES.jsonl FOLDER [NUMBER] [KIND]

The vectors are the real ones of the base BASE with seeded noise on copies, length one; the queries are real and are
embedded first. Recall@10 is against every vector compared (faiss flat). Both indexes are built in FOLDER, which is
made here, and used again; search runs in a process of its own, whose peak memory is printed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

NOISE = 0.35
WIDTH_STEP = 50_000
LOOKED_AT = 100
TIE = 1e-6


def real_vectors(base: Path) -> np.ndarray:
    """Return the vectors that a base's cache holds."""
    import sqlite3

    rows = sqlite3.connect(base / "data/store.sqlite").execute("SELECT vector FROM vectors ORDER BY key")
    return np.stack([np.frombuffer(row[0], "<f4") for row in rows])


def grown(real: np.ndarray, number: int) -> np.ndarray:
    """Return `number` vectors: the real ones, then copies with noise of a share of their length."""
    source = np.random.default_rng(11)
    out = np.empty((number, real.shape[1]), np.float32)
    for start in range(0, number, WIDTH_STEP):
        end = min(number, start + WIDTH_STEP)
        rows = real[np.arange(start, end) % len(real)]
        noise = source.normal(0, NOISE / np.sqrt(real.shape[1]), rows.shape).astype(np.float32)
        rows = rows + noise if start >= len(real) else rows
        out[start:end] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return out


def build(base: Path, passages: Path, queries: Path, folder: Path, number: int, kind: str) -> None:
    """Write both indexes, the queries with their vectors, and the exact nearest ten of each."""
    from corpus import sentences_of

    from ragcli import config
    from ragcli.documents.normalise import fold
    from ragcli.pipeline.base import open_base
    from ragcli.pipeline.embedders import query_embedding
    from ragcli.retrieval.dense import build_dense
    from ragcli.retrieval.lexical import LexicalRow, build_lexical

    folder.mkdir(parents=True)
    model = query_embedding(open_base(base, config.load_settings(base, os.environ), os.environ))
    asked = [json.loads(line)["query"] for line in queries.read_text("utf-8").splitlines()][:200]
    wanted = np.stack([model.embed_query(query) for query in asked])
    vectors = grown(real_vectors(base), number)
    exact = best_of(wanted, vectors)
    started = time.perf_counter()
    made = build_dense(folder / "dense.faiss", np.arange(number, dtype=np.int64), vectors, kind)
    print(f"dense {made}: built in {time.perf_counter() - started:.0f} s", flush=True)
    del vectors
    sentences, source = sentences_of(passages), np.random.default_rng(5)
    picks = source.integers(0, len(sentences), (number, 4))
    rows = (LexicalRow(n, "", (), "".join(sentences[i] for i in pick)[:200]) for n, pick in enumerate(picks))
    started = time.perf_counter()
    build_lexical(folder / "lexical", rows, fold)
    print(f"lexical: built in {time.perf_counter() - started:.0f} s", flush=True)
    np.savez(folder / "queries.npz", vectors=wanted, exact=exact, texts=np.array(asked))


def best_of(wanted: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the nearest ten of each query and what is as near as the tenth, -1 behind them.

    Texts that come twice have one vector: which of two is found tells nothing of an index. A slice at a time.
    """
    scores = np.full((len(wanted), LOOKED_AT), -2.0, np.float32)
    places = np.zeros((len(wanted), LOOKED_AT), np.int64)
    for start in range(0, len(vectors), WIDTH_STEP):
        part = wanted @ vectors[start : start + WIDTH_STEP].T
        top = np.argpartition(-part, LOOKED_AT, axis=1)[:, :LOOKED_AT]
        both = np.concatenate([scores, np.take_along_axis(part, top, axis=1)], axis=1)
        where = np.concatenate([places, top + start], axis=1)
        order = np.argsort(-both, axis=1)[:, :LOOKED_AT]
        scores, places = np.take_along_axis(both, order, axis=1), np.take_along_axis(where, order, axis=1)
    return np.where(scores >= scores[:, 9:10] - TIE, places, -1)


def measure(folder: Path, number: int) -> None:
    """Print the times of each step, the recall and the peak memory."""
    from ragcli.documents.normalise import fold
    from ragcli.retrieval.dense import DenseIndex
    from ragcli.retrieval.fusion import Ranking, normalised, reciprocal_rank
    from ragcli.retrieval.lexical import LexicalIndex

    data = np.load(folder / "queries.npz")
    dense, lexical = DenseIndex(folder / "dense.faiss"), LexicalIndex(folder / "lexical", fold)
    pairs = list(zip(data["texts"].tolist(), data["vectors"], data["exact"], strict=True))
    for text, vector, _ in pairs[:50]:
        dense.search(vector, 100), lexical.search(text, 100)
    steps, found = [], 0
    for text, vector, exact in pairs:
        marks = [time.perf_counter()]
        near = dense.search(vector, 100)
        marks.append(time.perf_counter())
        words = lexical.search(text, 100)
        marks.append(time.perf_counter())
        normalised(reciprocal_rank([Ranking("dense", near, 1.0), Ranking("lexical", words, 1.0)], 20.0))
        marks.append(time.perf_counter())
        steps.append([*np.diff(marks), marks[-1] - marks[0]])
        found += min(10, len({chunk for chunk, _ in near[:10]} & set(exact.tolist())))
    for name, column in zip(
        ("dense", "lexical", "fusion", "together"), np.array(steps).T * 1000, strict=True
    ):
        print(f"{name:9} p50 {np.percentile(column, 50):6.2f} ms   p95 {np.percentile(column, 95):6.2f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{number} chunks: recall@10 {found / len(pairs) / 10:.4f}; {peak:.2f} GB; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Build in a child where there is nothing yet, then measure here."""
    base, passages, queries, folder = map(Path, sys.argv[1:5])
    number = int(sys.argv[5]) if len(sys.argv) > 5 else 100_000
    kind = sys.argv[6] if len(sys.argv) > 6 else "auto"
    if not (folder / "queries.npz").exists():
        child = os.fork()
        if child == 0:
            build(base, passages, queries, folder, number, kind)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)
    measure(folder, number)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main()
