"""A reranker that reads query and passage together: a sentence-transformers CrossEncoder from a local folder.

The only code of this room that imports it. Slow on a processor, so off unless it is set; it never looks
for a model anywhere but in the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragcli.errors import ModelUnusable
from ragcli.retrieval.evidence import Candidate, QueryView

_BATCH = 16


class CrossEncoderReranker:
    """Scores pairs with a model of one output; the score is its logit squeezed to 0..1."""

    name = "cross_encoder"

    def __init__(self, folder: Path, max_tokens: int = 512) -> None:
        if not (folder / "config.json").is_file():
            raise ModelUnusable("reranker_missing", path=folder)
        from sentence_transformers import CrossEncoder

        try:
            self._model = CrossEncoder(str(folder), max_length=max_tokens, local_files_only=True)
        except (OSError, ValueError) as err:
            raise ModelUnusable("reranker_unusable", path=folder, reason=str(err)) from err

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return a score a candidate."""
        if not candidates:
            return []
        pairs = [(query.text, passage_of(candidate)) for candidate in candidates]
        return [
            float(score) for score in self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        ]


def passage_of(candidate: Candidate) -> str:
    """Return what a model reads of a candidate: its path and its text."""
    chunk = candidate.stored.chunk
    path = " > ".join(part for part in (candidate.stored.title, *chunk.heading_path) if part)
    return f"{path}\n{chunk.text}" if path else chunk.text
