"""Give every chunk of a base a seeded vector, so that what doesn't depend on the vectors can be measured at once.

    python benchmarks/filled.py BASE

Embedding ten thousand chunks takes an hour's part; starting, finding what is missing and publishing don't care
whether a vector says anything. Never for a base that is to answer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from ragcli import config
from ragcli.pipeline.base import open_base, writing
from ragcli.pipeline.embed import batches, missing_vectors
from ragcli.pipeline.embedders import passage_embedding
from ragcli.storage import vectors as cache


def main() -> None:
    """Fill the base."""
    folder = Path(sys.argv[1])
    base = open_base(folder, config.load_settings(folder, os.environ), os.environ)
    identity, source = passage_embedding(base).identity, np.random.default_rng(2)
    with writing(base) as store:
        missing, _ = missing_vectors(store, identity)
        for part in batches(missing, 1000):
            rows = source.normal(size=(len(part), int(identity["dimension"]))).astype("<f4")
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            cache.save(store, {item.key: row.tobytes() for item, row in zip(part, rows, strict=True)})
    print(f"{len(missing)} vectors made up")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
