from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from ragcli.config import models_dir
from ragcli.datatypes import Completion, Message, Passage
from ragcli.generation.streaming import Characters


class ScriptedModel:
    """Writes what it was told to, answer by answer; the last one over and over. One token a character."""

    def __init__(
        self, *answers: Sequence[str | bytes] | str, context: int = 4096, finish: str = "stop"
    ) -> None:
        self.context_tokens = context
        self.prompts: list[tuple[Message, ...]] = []
        self._answers = list(answers)
        self._finish = finish

    def count_tokens(self, text: str) -> int:
        return len(text)

    def complete(self, messages, *, max_tokens, grammar=None, timeout=None, on_text=None):
        self.prompts.append(tuple(messages))
        script = self._answers[min(len(self.prompts), len(self._answers)) - 1]
        characters, text = Characters(), ""
        for piece in [script] if isinstance(script, str) else script:
            new = characters.feed(piece if isinstance(piece, bytes) else piece.encode())[
                : max_tokens - len(text)
            ]
            text += new
            if on_text and new:
                on_text(new)
        size = sum(len(message.content) for message in messages)
        return Completion(text, self._finish, size, size, len(text), 0.0, 0.0)

    def likelihoods(self, messages, answers):
        return [-float(len(answer)) for answer in answers]


@pytest.fixture
def scripted():
    return ScriptedModel


def passage(
    n: int, text: str, file: str = "手册.txt", path: tuple[str, ...] = (), header_lines: int = 0
) -> Passage:
    return Passage(n, file, path, text, (n * 100,), header_lines=header_lines)


@pytest.fixture
def make_passage():
    return passage


@pytest.fixture(scope="session")
def model_file():
    """The small real model's file, among the models of this machine."""
    found = sorted(models_dir(os.environ).rglob("*0.5b*.gguf"))
    if not found:
        pytest.fail("the 0.5B model is not here: ragcli models pull small")
    return found[0]


class MemoryStore(dict[str, bytes]):
    """States kept in memory."""

    def put(self, name: str, data: bytes) -> bool:
        self[name] = data
        return True

    def has(self, name: str) -> bool:
        return name in self


@pytest.fixture
def memory_store():
    return MemoryStore()


@pytest.fixture(scope="session")
def small_model(model_file):
    from ragcli.generation.llm import LlamaModel

    model = LlamaModel(model_file, 2048, model_hash="test", store=MemoryStore())
    yield model
    model.close()
