#!/usr/bin/env python3
"""Measure what each part of retrieval is worth: all on, then one off at a time.

    RAGCLI_ABLATION=FOLDER scripts/ablate_retrieval.py [--markdown]

FOLDER holds one folder a set, each with `docs/` (text files) and `queries.jsonl`: {"query", "evidence":
[{"file", "text"?}, …]}; a query without evidence is one that the set's documents don't answer. A set is
ingested, embedded and indexed once, in a base beside it (`base/`); then every variant searches the same index.
A hit counts where the first k hits hold all the evidence: its file, and its text where one is given.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragcli.config import load_settings
from ragcli.datatypes import Hit
from ragcli.pipeline.base import open_base, reading
from ragcli.pipeline.searcher import open_searcher
from ragcli.retrieval.evidence import Candidate, QueryView
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.rank import RankWeights, Reranker, WordReranker
from ragcli.retrieval.search import SearchOptions, SearchResult


@dataclass(frozen=True)
class InFusedOrder:
    """No reranking: the order of the first stage."""

    name: str = "none"

    def rerank(self, _query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return the scores of the first stage."""
        return [candidate.fused for candidate in candidates]


def words(**weights: float) -> Reranker:
    """Return the default reranker with other weights."""
    return WordReranker(RankWeights(**weights))


FUSED = InFusedOrder()
VARIANTS: dict[str, SearchOptions] = {
    "all on": SearchOptions(),
    "plain dense": SearchOptions(reranker=FUSED, lexical_weight=0.0),
    "plain lexical": SearchOptions(reranker=FUSED, dense_weight=0.0),
    "plain fusion": SearchOptions(reranker=FUSED, constant=60.0),
    "no cosine in the rank": SearchOptions(reranker=words(deviation=0.0)),
    "no coverage": SearchOptions(reranker=words(coverage=0.0)),
    "no nearness, no table row": SearchOptions(reranker=words(near=0.0)),
    "no numbers": SearchOptions(reranker=words(numbers=0.0)),
    "no chapter numbers": SearchOptions(reranker=words(chapter=0.0)),
    "bare headings as good as text": SearchOptions(reranker=words(substance=0.0)),
    "no dense search": SearchOptions(dense_weight=0.0),
    "no lexical search": SearchOptions(lexical_weight=0.0),
    "10 candidates": SearchOptions(candidates=10),
    "100 candidates": SearchOptions(candidates=100),
}


def main() -> None:
    """Print a table a set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", action="store_true", help="print tables for docs/retrieval.md")
    markdown = parser.parse_args().markdown
    root = Path(os.environ.get("RAGCLI_ABLATION") or sys.exit("set RAGCLI_ABLATION to a folder of sets"))
    for folder in sorted(path for path in root.iterdir() if (path / "queries.jsonl").is_file()):
        print(f"\n### {folder.name}\n" if markdown else folder.name)
        if markdown:
            print(
                "| variant | hit@1 | hit@5 | answerable, refused | unanswerable, refused | ms, p95 |\n|---|---|---|---|---|---|"
            )
        for row in measure(folder):
            print(f"| {' | '.join(row)} |" if markdown else "  ".join(row), flush=True)


def measure(folder: Path) -> Iterator[list[str]]:
    """Yield a row of figures a variant."""
    kb = folder / "base"
    run = [sys.executable, "-m", "ragcli", "--kb", str(kb), "-q"]
    if not (kb / "ragcli.toml").is_file():
        subprocess.run([*run, "init"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*run, "sync", str(folder / "docs")], check=True)
    cases = [
        json.loads(line)
        for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()
        if line.strip()
    ]
    base = open_base(kb, load_settings(kb, os.environ), os.environ)
    with reading(base) as store:
        searcher = open_searcher(base, store)
        for name, options in VARIANTS.items():
            found = [searcher.search([case["query"]], Filters(), replace(options, k=20)) for case in cases]
            yield [name, *figures(cases, found)]


def figures(cases: Sequence[dict[str, list[dict[str, str]]]], found: Sequence[SearchResult]) -> list[str]:
    """Return hit@1, hit@5, both shares of refusals, and the 95th percentile of the time."""
    ranks, refused, kept_back, seconds = [], 0, 0, []
    for case, result in zip(cases, found, strict=True):
        hits: Sequence[Hit] = [*result.hits, *result.below]
        seconds.append(sum(result.timings[step] for step in ("first_stage", "fetch", "rank")))
        empty = not result.hits
        if case["evidence"]:
            ranks.append(rank_of(case["evidence"], hits))
            refused += empty
        else:
            kept_back += empty
    open_cases = len(cases) - len(ranks)
    seconds.sort()
    return [
        share(sum(rank == 1 for rank in ranks), len(ranks)),
        share(sum(0 < rank <= 5 for rank in ranks), len(ranks)),
        share(refused, len(ranks)),
        share(kept_back, open_cases) if open_cases else "",
        f"{1000 * seconds[int(0.95 * (len(seconds) - 1))]:.1f}",
    ]


def share(part: int, whole: int) -> str:
    """Return a share as text."""
    return f"{part / max(1, whole):.3f}"


def rank_of(evidence: Sequence[dict[str, str]], hits: Sequence[Hit]) -> int:
    """Return the first k whose hits hold all the evidence, less one for each piece after the first; 0 for none.

    Evidence without a text is a file: any one of the files will do, and files are counted instead of hits.
    """
    if any("text" not in item for item in evidence):
        names = list(dict.fromkeys(Path(hit.stored.file).name for hit in hits))
        wanted = {item["file"] for item in evidence}
        return next((k for k, name in enumerate(names, 1) if name in wanted), 0)
    for k in range(1, min(10, len(hits)) + 1):
        if all(any(holds(hit, item) for hit in hits[:k]) for item in evidence):
            return max(1, k - len(evidence) + 1)
    return 0


def holds(hit: Hit, item: dict[str, str]) -> bool:
    """Return whether a hit is of the file and holds the text."""
    chunk = hit.stored.chunk
    text = chunk.text if chunk.kind == "table" else chunk.text[:700]
    return Path(hit.stored.file).name == item["file"] and bare(item["text"]) in bare(text)


def bare(text: str) -> str:
    """Return a text as it is compared."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).lower()


if __name__ == "__main__":
    main()
