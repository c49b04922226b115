"""Kill embed and index with the real model at random moments, and compare with a run that nothing happened to.

    python benchmarks/kills.py FOLDER [KILLS] [SEED]

FOLDER holds text files; bases are made in a passing folder. Printed: the batches that were computed twice, what
`check` says after each kill, and whether the manifest is the unbroken run's.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH = "8"


def start(base: Path, *argv: str) -> subprocess.Popen[str]:
    """Start a command in a base."""
    command = [sys.executable, "-m", "ragcli", "--kb", str(base), *argv]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(base: Path, *argv: str) -> tuple[str, float]:
    """Run a command that has to end well; return what it printed and how long it took."""
    started = time.perf_counter()
    process = start(base, *argv)
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{argv}: {process.returncode}\n{err}")
    return out, time.perf_counter() - started


def vectors(base: Path) -> int:
    """Return how many vectors are committed."""
    return int(json.loads(run(base, "status", "--json")[0])["vectors"]["done"])


def manifest(base: Path) -> bytes:
    """Return the current revision's manifest."""
    return (max((base / "data/index").glob("rev-*")) / "manifest.json").read_bytes()


def main() -> None:
    """Print what the kills did."""
    docs, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30
    source = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory(prefix="ragcli-kills-") as place:
        whole, broken = Path(place, "whole"), Path(place, "broken")
        for base in (whole, broken):
            run(base, "init", str(base))
            run(base, "ingest", docs)
        _, embed = run(whole, "embed", "--batch-size", BATCH)
        _, index = run(whole, "index")
        lost = clean = 0
        for number in range(kills):
            words, seconds = (
                (("embed", "--batch-size", BATCH), embed) if number % 2 == 0 else (("index",), index)
            )
            process = start(broken, *words)
            time.sleep(source.uniform(0.2, 1.0) * seconds)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            check = start(broken, "check")
            check.communicate()
            clean += check.returncode == 0
            done = vectors(broken)
            lost += done % int(BATCH) != 0 and done < vectors(whole)
        run(broken, "embed", "--batch-size", BATCH)
        run(broken, "index")
        print(f"{kills} kills; `check` clean after {clean}; batches committed in part: {lost}")
        print(
            f"vectors {vectors(broken)} of {vectors(whole)}; same manifest: {manifest(broken) == manifest(whole)}"
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
