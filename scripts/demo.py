"""Show ragcli at work: a base from sample_docs/, one question, and a chat of three turns that lean on each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = ROOT / ".demo"
RAGCLI = [str(Path(sys.executable).parent / "ragcli"), "--kb", str(BASE)]
QUESTION = "通用年卡多少钱？"
# A question, one that points back, and one that leaves out what it asks for.
TURNS = ("DH-30 的额定功率是多少？", "它的水箱多大？", "那 60 呢？")


def show(*command: str, typed: str = "") -> None:
    """Print a command as a person would type it, and run it."""
    print(f"\n$ ragcli {' '.join(command)}", flush=True)
    done = subprocess.run([*RAGCLI, *command], input=typed or None, text=True)
    if done.returncode not in (0, 4, 5):
        raise SystemExit(done.returncode)


def main() -> None:
    """Run the demonstration; a second run reads, embeds and indexes nothing twice."""
    show("init")
    show("sync", str(ROOT / "sample_docs"))
    show("ask", QUESTION)
    show("chat", typed="".join(f"{turn}\n" for turn in TURNS))


if __name__ == "__main__":
    main()
