"""Measure how long a command takes to say its first word beside `llm` and beside importing a LangChain stack.

    python benchmarks/startup.py [--peers ENVIRONMENT] [--runs 5]

Each command runs in a process of its own, warm (once before it counts). The figures are the median seconds of wall time;
`search` embeds a question and searches the base that --kb or RAGCLI_KB names, where there is one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

STACK = (
    "import langchain_text_splitters, langchain_core.prompts, langchain_community.vectorstores, "
    "langchain_community.chat_models, sentence_transformers, faiss"
)


def seconds(argv: list[str], runs: int) -> float | None:
    """Return the median wall time of a command, or None where it isn't there or fails."""
    spent = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        try:
            done = subprocess.run(
                argv, capture_output=True, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"}
            )
        except OSError:
            return None
        if done.returncode not in (0, 4):
            return None
        spent.append(time.perf_counter() - started)
    return statistics.median(spent[1:])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="an environment with llm and LangChain")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--kb", default=os.environ.get("RAGCLI_KB", ""))
    options = parser.parse_args()
    ragcli = [sys.executable, "-m", "ragcli"]
    rows: dict[str, list[str]] = {"ragcli --help": [*ragcli, "--help"]}
    if options.kb:
        rows["ragcli status"] = [*ragcli, "--kb", options.kb, "status"]
        rows["ragcli search"] = [*ragcli, "--kb", options.kb, "search", "多久更换一次"]
    if options.peers:
        rows["llm --help"] = [str(options.peers / "bin" / "llm"), "--help"]
        paths = [str(path) for path in options.peers.glob("lib/python*/site-packages")]
        rows["imports of a LangChain stack"] = [
            sys.executable,
            "-c",
            f"import sys; sys.path += {paths!r}; {STACK}",
        ]
    found = {name: seconds(argv, options.runs) for name, argv in rows.items()}
    own = found["ragcli --help"] or 1.0
    print("| command | seconds | times ragcli --help |\n|---|---|---|")
    for name, spent in found.items():
        print(
            f"| {name} | {'–' if spent is None else f'{spent:.2f}'} | {'–' if spent is None else f'{spent / own:.1f}'} |"
        )


if __name__ == "__main__":
    main()
