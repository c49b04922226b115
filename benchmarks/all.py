"""Run the benchmarks one after the other and write docs/benchmarks.md with machine, versions and date.

    python benchmarks/all.py --peers ENVIRONMENT [--out docs/benchmarks.md] [--cases FOLDER] [--kb BASE] [--only startup,…]

Each script prints its table, which goes into the page as it is. A script whose needs aren't there is named as left out.
The stack needs --cases (a folder with cases.jsonl and docs/); the sample cases are used without it.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ("ragcli", "llama-cpp-python", "faiss-cpu", "tantivy", "sentence-transformers", "torch", "numpy")
PEERS = ("langchain-classic", "langchain-community", "langchain-text-splitters", "chonkie", "bm25s", "llm")


def machine() -> str:
    """Return the processor, its cores and the memory."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB, Python {platform.python_version()}"


def versions(peers: Path) -> str:
    """Return the versions of ragcli's libraries and of the peers'."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    for name in PEERS:
        folders = list(peers.glob(f"lib/python*/site-packages/{name.replace('-', '_')}-*.dist-info"))
        found += [
            f"{name} {folder.name.removesuffix('.dist-info').rsplit('-', 1)[1]}" for folder in folders[:1]
        ]
    return ", ".join(found)


def scripts(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the claims and the command that measures each."""
    peers, kb = str(options.peers), ["--kb", options.kb] if options.kb else []
    return {
        "splitting": ["splitting.py"],
        "search": ["lexical_peers.py", "--peers", peers],
        "startup": ["startup.py", "--peers", peers, *kb],
        "embedding": ["embedding.py", str(options.passages), "800", "800"],
        "rates": ["rates.py", "--what", "loop"],
        "stack": [
            "peer_stack.py",
            options.cases,
            "--peer",
            peers,
            "--turns",
            str(options.turns),
            "--work",
            str(options.work),
        ],
    }


def run(argv: list[str], peers: Path) -> str:
    """Return what a script prints, or why it doesn't."""
    if argv[1:2] == ["None"]:
        return "left out: no --passages"
    if not (HERE / argv[0]).is_file():
        return f"left out: there is no {argv[0]}"
    paths = [str(path) for path in peers.glob("lib/python*/site-packages")]
    # Peers come after ragcli's own packages: both sides use the same llama.cpp, FAISS and torch.
    code = (
        f"import runpy, sys; sys.path += {paths!r}; sys.path.insert(0, {str(HERE)!r}); sys.argv = {argv!r}; "
        f"runpy.run_path({str(HERE / argv[0])!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        return f"left out: {last[0]}"
    text = done.stdout.strip()
    return text if "|---|" in text else f"```text\n{text}\n```"


def main() -> None:
    """Write the page, a part as each script ends."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "benchmarks.md")
    parser.add_argument("--cases", default=str(HERE.parent / "sample_docs"))
    parser.add_argument("--kb", default=os.environ.get("RAGCLI_KB", ""))
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--work", type=Path, default=Path("build/bench"))
    parser.add_argument(
        "--passages", type=Path, help="passages.jsonl and queries.jsonl, for the embedding rate"
    )
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [name for name in options.only.split(",") if name]
    parts = [
        "# ragcli beside others",
        f"Measured on {date.today()} by `make bench`, ragcli and its peer in turn in one run: {machine()}.",
        f"{versions(options.peers)}.",
        "Other machines differ; ratios hold better than figures. What each script does stands at its head in `benchmarks/`.",
    ]
    for name, argv in scripts(options).items():
        if not chosen or name in chosen:
            print(name, file=sys.stderr)
            parts.append(f"## {name}\n{run(argv, options.peers)}")
            options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
