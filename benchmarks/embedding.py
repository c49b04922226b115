"""Measure embedding in bulk beside sentence-transformers used as its documentation shows, on the same model.

    python benchmarks/embedding.py [--texts 128] [--chars 400]

The texts are made up and of different lengths, as chunks are. ragcli sorts them by length and computes in the
precision that the processor is fastest in; the peer gets batches of 32 in the order given, in float32. The figures
are passages a second, the better of two runs, loading left out; the last line says how like the vectors are.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from lexical_peers import made_up

from ragcli.config import load_settings, models_dir
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.embedders import passage_embedding
from ragcli.pipeline.models import model_path


def rate(call: Callable[[], Any], number: int) -> float:
    """Return how many texts a second, the better of two runs."""
    best = float("inf")
    for _ in range(2):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return number / best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=128)
    parser.add_argument("--chars", type=int, default=400)
    options = parser.parse_args()
    from sentence_transformers import SentenceTransformer

    settings, folder = load_settings(None, os.environ), models_dir(os.environ)
    texts = [text[: options.chars - 7 * (n % 40)] for n, text in enumerate(made_up(options.texts))]
    choice = passage_embedding(KnowledgeBase(folder, settings, folder))
    own = choice.load()
    path = model_path(settings.embedding.model, "embedding", folder)
    peer = SentenceTransformer(str(path), model_kwargs={"dtype": "float32"})
    plain = [f"passage: {text}" for text in texts]
    found = {
        f"ragcli ({choice.identity['precision']})": rate(lambda: own.embed_passages(texts), len(texts)),
        "sentence-transformers (float32)": rate(
            lambda: peer.encode(plain, normalize_embeddings=True), len(texts)
        ),
    }
    alike = np.sum(
        own.embed_passages(texts[:16]) * peer.encode(plain[:16], normalize_embeddings=True), axis=1
    ).min()
    first = next(iter(found.values()))
    print(
        f"{len(texts)} texts of up to {options.chars} characters\n\n| | passages a second | ratio |\n|---|---|---|"
    )
    for name, value in found.items():
        print(f"| {name} | {value:.1f} | {value / first:.2f} |")
    print(f"| least cosine between the two | {alike:.4f} | |")


if __name__ == "__main__":
    main()
