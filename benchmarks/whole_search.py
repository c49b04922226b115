"""Measure a whole search on a large base, from query to ranked hits, without the encoding of the query.

    python benchmarks/whole_search.py PASSAGES.jsonl QUERIES.jsonl FOLDER [CHUNKS]

FOLDER is made here and used again: documents of real sentences (corpus.py) with about CHUNKS (100,000) chunks, and a
base of them whose vectors are made up (filled.py), so that building takes minutes and not hours: both indexes,
fusion, reading the candidates from the store, checking and ranking them cost what they would with real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from corpus import write_corpus

from ragcli import config
from ragcli.pipeline.base import open_base, reading
from ragcli.pipeline.searcher import open_searcher
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.search import SearchOptions

PER_FILE = 100
CHARACTERS = 400  # of a chunk


def main() -> None:
    """Build where there is nothing yet, then measure."""
    passages, queries, folder = map(Path, sys.argv[1:4])
    chunks = int(sys.argv[4]) if len(sys.argv) > 4 else 100_000
    if not (folder / "kb").exists():
        write_corpus(passages, folder / "docs", chunks // PER_FILE, PER_FILE * CHARACTERS)
        ragcli = [sys.executable, "-m", "ragcli"]
        kb = ["--kb", str(folder / "kb")]
        filled = [sys.executable, str(Path(__file__).with_name("filled.py")), str(folder / "kb")]
        for command in (
            [*ragcli, "init", str(folder / "kb")],
            [*ragcli, *kb, "ingest", str(folder / "docs")],
            filled,
            [*ragcli, *kb, "index"],
        ):
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            print(f"{command[-2:]}: {time.perf_counter() - started:.0f} s", flush=True)
    base = open_base(folder / "kb", config.load_settings(folder / "kb", os.environ), os.environ)
    asked = [json.loads(line)["query"] for line in queries.read_text("utf-8").splitlines()][:230]
    with reading(base) as store:
        searcher = open_searcher(base, store)
        found = [searcher.search([query], Filters(), SearchOptions()).timings for query in asked][30:]
        total = store.count_chunks()
    for name in found[0]:
        show(name, np.array([row[name] for row in found]) * 1000)
    show("together", np.array([sum(row.values()) - row["encode"] for row in found]) * 1000)
    print(f"{total} chunks; load {os.getloadavg()[0]:.1f}")


def show(name: str, times: np.ndarray) -> None:
    """Print the middle and the slow end of some milliseconds."""
    print(f"{name:12} p50 {np.percentile(times, 50):6.2f} ms   p95 {np.percentile(times, 95):6.2f} ms")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
