"""Measure a search from process start to printed hits, beside what no search could do without, in one run.

    python benchmarks/cold_start.py BASE [QUERY] [RUNS]

BASE is a knowledge base with an index. The other side of the ratio is the sum of three processes' worth, each
measured alone: an interpreter that starts and ends, the query model loaded with what it imports, one query encoded.
The medians of RUNS runs (9) are printed; the files are in the page cache, as at any second search.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

ALONE = """
import os, sys, time
started = time.perf_counter()
from pathlib import Path
from ragcli import config
from ragcli.pipeline.base import open_base
from ragcli.pipeline.embedders import query_embedding
folder = Path(sys.argv[1])
model = query_embedding(open_base(folder, config.load_settings(folder, os.environ), os.environ))
loaded = time.perf_counter()
model.embed_query(sys.argv[2])
print(loaded - started, time.perf_counter() - loaded)
"""
TORCH = """
import os, sys
from ragcli.cli.app import run
run(sys.argv[1:], os.environ)
print("torch" in sys.modules, file=sys.stderr)
"""


def seconds_of(command: list[str], runs: int) -> tuple[float, float]:
    """Return the median wall and processor time of a command."""
    walls, works = [], []
    for _ in range(runs):
        started, before = time.perf_counter(), os.times()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        walls.append(time.perf_counter() - started)
        after = os.times()
        works.append(sum(after[2:4]) - sum(before[2:4]))
    return statistics.median(walls), statistics.median(works)


def main() -> None:
    """Print both sides."""
    base, query = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "最早的记载出现在哪一年"
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    search = ["search", query, "--json", "--kb", base]
    subprocess.run([sys.executable, "-m", "ragcli", *search], stdout=subprocess.DEVNULL, check=True)
    whole, work = seconds_of([sys.executable, "-m", "ragcli", *search], runs)
    start, _ = seconds_of([sys.executable, "-c", "pass"], runs)
    alone = [
        subprocess.run(
            [sys.executable, "-c", ALONE, base, query], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(runs)
    ]
    load, encode = (statistics.median(float(row.split()[n]) for row in alone) for n in (0, 1))
    bare, bare_work = seconds_of([sys.executable, "-m", "ragcli", "search", "--help"], runs)
    torch = subprocess.run(
        [sys.executable, "-c", TORCH, *search], capture_output=True, text=True, check=True
    ).stderr
    torch = torch.strip().splitlines()[-1]
    print(
        f"search, cold process       {whole:.3f} s, {work:.3f} s of a processor    (torch imported: {torch})"
    )
    print(f"interpreter alone          {start:.3f} s")
    print(f"query model, with imports  {load:.3f} s")
    print(f"one encode                 {encode:.3f} s")
    print(f"ratio to their sum         {whole / (start + load + encode):.2f}")
    print(
        f"`search --help` (command line alone)  {bare:.3f} s, {bare_work:.3f} s of a processor;  load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
