"""Measure the first build of a base of 1,000 files, a run with nothing to do, and a sync after one file changed.

    python benchmarks/sync.py PASSAGES.jsonl FOLDER [FILES] [CHARACTERS]

FOLDER is made here: documents of real sentences (corpus.py) and the base. A build that was stopped is continued, and
the seconds of its parts are added up in FOLDER/seconds.json; so a long one can be made in several sittings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from corpus import sentences_of, text_of, write_corpus


def run(base: Path, *argv: str) -> tuple[dict, float]:
    """Return a command's JSON report, and its wall time from process start to end."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "ragcli", "--kb", str(base), *argv, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout), time.perf_counter() - started


def main() -> None:
    """Print both sides."""
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    sizes = [int(word) for word in sys.argv[3:]] or [1000, 2900]
    docs, base, record = folder / "docs", folder / "kb", folder / "seconds.json"
    if not docs.exists():
        write_corpus(source, docs, *sizes)
        run(base, "init", str(base))
    spent = json.loads(record.read_text()) if record.exists() else 0.0
    report, seconds = run(base, "sync", str(docs))
    spent += seconds
    record.write_text(json.dumps(spent))
    chunks = report["chunks"]["total"]
    _, idle = run(base, "embed")
    _, same = run(base, "sync", str(docs))
    print(f"first build  {spent:.1f} s    ({sizes[0]} files, {chunks} chunks)")
    print(f"second embed, 0 vectors  {idle:.2f} s")
    print(f"sync with nothing new    {same:.2f} s")
    sentences = sentences_of(source)
    for seed in (7, 8, 9):
        (docs / "doc0007.txt").write_text(text_of(7, sentences, sizes[-1], seed + int(time.time())), "utf-8")
        report, seconds = run(base, "sync", str(docs))
        parts = f"{report['vectors']['computed']} vectors, {report['chunks']['added']} chunks new"
        print(f"one file changed  {seconds:.2f} s  = {seconds / spent:.2%} of the first build  ({parts})")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
