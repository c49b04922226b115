"""Which reranker the settings choose. The one by words is the default: the others cost seconds a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.config import Settings
from ragcli.datatypes import LanguageModel
from ragcli.errors import UsageError
from ragcli.retrieval.evidence import Candidate, QueryView
from ragcli.retrieval.rank import Reranker, WordReranker


@dataclass(frozen=True, slots=True)
class InFusedOrder:
    """No reranking: the order of the first stage."""

    name: str = "none"

    def rerank(self, _query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return the scores of the first stage."""
        return [candidate.fused for candidate in candidates]


def chosen_reranker(settings: Settings, model: Callable[[], LanguageModel]) -> Reranker:
    """Return the reranker that the settings name; `model` is only asked for by the judge.

    Raises UsageError where a cross-encoder has no folder, ModelUnusable where the folder holds none.
    """
    chosen = settings.retrieval
    if chosen.rerank == "cross-encoder":
        from ragcli.retrieval.cross_encoder import CrossEncoderReranker

        if not chosen.rerank_model:
            raise UsageError("reranker_without_folder")
        return CrossEncoderReranker(Path(chosen.rerank_model).expanduser())
    if chosen.rerank == "judge":
        from ragcli.retrieval.judge import JudgeReranker

        return JudgeReranker(model(), chosen.rerank_depth)
    return InFusedOrder() if chosen.rerank == "off" else WordReranker()
