"""A reranker that asks a language model of each candidate whether it answers the question.

The score is the probability of the word for yes against the word for no, read from the model's likelihoods:
no text is written. A prompt a candidate makes it slow, so it looks at the first few only.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from ragcli.datatypes import LanguageModel, Message
from ragcli.retrieval.cross_encoder import passage_of
from ragcli.retrieval.evidence import Candidate, QueryView

_CJK = re.compile(r"[\u4e00-\u9fff]")


class JudgeReranker:
    """Yes or no by likelihood for the first `depth` candidates; the others keep their order behind them."""

    name = "judge"

    def __init__(self, model: LanguageModel, depth: int = 8) -> None:
        self._model, self._depth = model, depth

    def rerank(self, query: QueryView, candidates: Sequence[Candidate]) -> list[float]:
        """Return the probability of yes; for candidates that weren't asked about, less than any of them."""
        order = sorted(range(len(candidates)), key=lambda n: -candidates[n].fused)
        scores = [candidate.fused - 1.0 for candidate in candidates]
        for n in order[: self._depth]:
            scores[n] = self._ask(query.text, passage_of(candidates[n]))
        return scores

    def _ask(self, question: str, passage: str) -> float:
        words = _wording()["zh" if _CJK.search(question) else "en"]
        prompt = words["prompt"].replace("{passage}", passage).replace("{question}", question)
        yes, no = self._model.likelihoods([Message("user", prompt)], [words["yes"], words["no"]])
        return 1.0 / (1.0 + math.exp(max(-50.0, min(50.0, no - yes))))


@cache
def _wording() -> dict[str, dict[str, str]]:
    text = files("ragcli.retrieval").joinpath("data/judge.toml").read_text("utf-8")
    data: dict[str, dict[str, str]] = tomllib.loads(text)
    return data
