"""Measure bulk embedding beside plain `SentenceTransformer.encode`, and what each finds, in one run.

    python benchmarks/embedding.py FOLDER [PASSAGES] [QUERIES] [SEED]

FOLDER holds passages.jsonl ("id", "text") and queries.jsonl ("query", "gold_passage_id"). PASSAGES (0: all) chunks of
400 characters and QUERIES (800) are drawn by SEED. Plain: float32, its own batch size. Ours: what `embed` does on
this machine (the precision that `doctor` shows), batches sorted by length. Both take turns, a slice of the chunks at
a time. hit@1 is over the chunks of both.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np

from ragcli import config
from ragcli.embedding.query import QueryEmbedder
from ragcli.pipeline.embed import batches
from ragcli.pipeline.models import model_path
from ragcli.pipeline.precision import load_embedder, measured

BATCH = 32
SLICE = 320  # texts that one side embeds before the other has its turn


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def hit_at_1(rows: np.ndarray, owners: list[str], queries: np.ndarray, gold: list[str]) -> float:
    """Return the share of queries whose nearest chunk is of the right passage."""
    nearest = (queries @ rows.T).argmax(axis=1)
    return sum(owners[place] == want for place, want in zip(nearest, gold, strict=True)) / len(gold)


def main() -> None:
    """Print both sides."""
    folder = Path(sys.argv[1])
    most, asked, seed = (int(word) for word in [*sys.argv[2:], "0", "800", "1"][:3])
    source = random.Random(seed)
    passages = rows_of(folder / "passages.jsonl")
    passages = source.sample(passages, min(most, len(passages))) if most else passages
    chunks = [
        (row["id"], row["text"][n : n + 400]) for row in passages for n in range(0, len(row["text"]), 400)
    ]
    owners, texts = [owner for owner, _ in chunks], [text for _, text in chunks]
    known = set(owners)
    queries = [row for row in rows_of(folder / "queries.jsonl") if row["gold_passage_id"] in known]
    queries = source.sample(queries, min(asked, len(queries)))
    settings, models = config.load_settings(None, os.environ), config.models_dir(os.environ)
    place = model_path(settings.embedding.model, "embedding", models)
    found = measured(settings, models, time.perf_counter)

    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(place), device="cpu", local_files_only=True)
    embedder = load_embedder(place, {}, found["precision"], models)

    def theirs(part: list[str]) -> np.ndarray:
        return plain.encode(part, prompt_name="passage", normalize_embeddings=True, show_progress_bar=False)

    def ours(part: list[str]) -> np.ndarray:
        order = sorted(range(len(part)), key=lambda n: -len(part[n]))
        rows = [embedder.embed_passages([part[n] for n in some]) for some in batches(order, BATCH)]
        return np.concatenate(rows)[np.argsort(order)]

    sides = {"plain": theirs, "ours": ours}
    made: dict[str, list[np.ndarray]] = {name: [] for name in sides}
    spent = dict.fromkeys(sides, 0.0)
    for side in sides.values():
        side(texts[:BATCH])
    for number, part in enumerate(batches(texts, SLICE)):
        for name in sorted(sides, reverse=bool(number % 2)):  # each goes first as often
            started = time.perf_counter()
            made[name].append(sides[name](list(part)))
            spent[name] += time.perf_counter() - started
    rows = {name: np.concatenate(parts) for name, parts in made.items()}
    rates = {name: len(texts) / seconds for name, seconds in spent.items()}

    quick = QueryEmbedder(
        model_path(settings.embedding.model, "query", models),
        {},
        query_prefix="query: ",
        passage_prefix="passage: ",
    )
    asked_rows = np.stack([quick.embed_query(row["query"]) for row in queries])
    exact = plain.encode([row["query"] for row in queries], prompt_name="query", normalize_embeddings=True)
    gold = [row["gold_passage_id"] for row in queries]
    hits = hit_at_1(rows["plain"], owners, exact, gold), hit_at_1(rows["ours"], owners, asked_rows, gold)
    print(f"{len(texts)} chunks, {len(queries)} queries; measured here: {found['results']}")
    print(f"SentenceTransformer.encode, float32   {rates['plain']:.1f}/s   hit@1 {hits[0]:.2%}")
    print(f"ragcli, {found['precision']:10}                    {rates['ours']:.1f}/s   hit@1 {hits[1]:.2%}")
    print(
        f"ratio {rates['ours'] / rates['plain']:.2f}; "
        f"least cosine {(rows['ours'] * rows['plain']).sum(axis=1).min():.5f} (passages), "
        f"{(asked_rows * exact).sum(axis=1).min():.5f} (queries); load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
