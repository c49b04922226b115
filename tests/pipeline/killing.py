"""A ragcli whose embedder is a double, as a process of its own that can be killed; run: python killing.py ARGS."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ragcli.cli import app
from ragcli.pipeline import embedders, index, runs, searcher, upkeep
from tests.doubles import HashEmbedder


class Slow(HashEmbedder):
    """Writes down each batch that it embeds, and takes its time, so that a kill can meet it."""

    def embed_passages(self, texts):
        with open(os.environ["KILLING_LOG"], "a", encoding="utf-8") as log:
            log.write(f"{len(texts)}\n")
        time.sleep(0.002)
        return super().embed_passages(texts)


def main() -> None:
    embedder = Slow()
    for module in (runs, upkeep):
        module.passage_embedding = lambda _base: embedders.EmbeddingChoice(
            dict(embedder.identity), lambda: embedder
        )
    runs.token_counter = lambda *_: None
    searcher.model_facts = lambda _base: dict(embedder.identity)
    for module in (index, searcher):
        module.query_embedding = lambda _base: embedder
    app.main()


if __name__ == "__main__":
    main()
