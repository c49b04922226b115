"""Stand-ins for the models in fast tests: an embedder by hashed characters, a language model by script."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import numpy as np

from ragcli.datatypes import Completion, Message


class HashEmbedder:
    """Characters and bigrams hashed into a few dimensions: like texts get like vectors."""

    def __init__(self, name: str = "hash", dimension: int = 64) -> None:
        self.identity: Mapping[str, str] = {
            "model": name,
            "file": name,
            "dimension": str(dimension),
            "precision": "x",
        }
        self.dimension = dimension
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return np.stack([self._embed(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed(text)

    def count_tokens(self, text: str) -> int:
        return len(text)

    def _embed(self, text: str) -> np.ndarray:
        row = np.full(self.dimension, 0.01, dtype=np.float32)
        for size in (1, 2):
            for start in range(len(text) - size + 1):
                digest = sha256(
                    (self.identity["model"] + text[start : start + size]).encode("utf-8", "replace")
                ).digest()
                row[int.from_bytes(digest[:4], "big") % self.dimension] += 1
        return row / np.linalg.norm(row)


class ScriptedModel:
    """Says what it was told to, in turn; remembers what it was asked."""

    context_tokens = 4096
    opens_thought = False
    keeps_passages = False

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[Sequence[Message]] = []

    def count_tokens(self, text: str) -> int:
        return len(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        grammar: str | None = None,
        timeout: float | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        self.asked.append(messages)
        text = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if on_text:
            on_text(text)
        return Completion(text, "stop", 10, 10, len(text), 0.0, 0.0)

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        self.asked.append(messages)
        return [-float(len(answer)) for answer in answers]
