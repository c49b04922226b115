"""The language models of a base, loaded when they are first needed and once for both roles where they share a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragcli.datatypes import Completion, LanguageModel, Message
from ragcli.errors import StorageFailed
from ragcli.generation.llm import LlamaModel
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.models import file_hash, model_path
from ragcli.storage.files import make_dir, write_atomic


@dataclass
class LanguageModels:
    """The rewriter and the generator of a base; `close` gives their memory back."""

    base: KnowledgeBase
    verbose: bool = False
    _loaded: dict[Path, LlamaModel] = field(default_factory=dict)

    @cached_property
    def generator(self) -> LlamaModel:
        """The model that writes answers."""
        return self._load(self.base.settings.generation.model)

    @cached_property
    def rewriter(self) -> LanguageModel:
        """The model that completes questions; loaded at its first call."""
        return LazyModel(
            lambda: self._load(self.base.settings.rewrite.model or self.base.settings.generation.model)
        )

    def close(self) -> None:
        """Give the memory back."""
        for model in self._loaded.values():
            model.close()
        self._loaded.clear()

    def _load(self, name: str) -> LlamaModel:
        path = model_path(name, "generator", self.base.models_dir)
        if path not in self._loaded:
            settings = self.base.settings.generation
            self._loaded[path] = LlamaModel(
                path,
                settings.context_tokens,
                settings.threads,
                model_hash=file_hash(path, self.base.models_dir),
                verbose=self.verbose,
            )
        return self._loaded[path]


class LazyModel:
    """A language model that is loaded by the first call: most turns never make one."""

    def __init__(self, load: Callable[[], LanguageModel]) -> None:
        self._load = load

    @cached_property
    def _model(self) -> LanguageModel:
        return self._load()

    @property
    def context_tokens(self) -> int:
        """How many tokens the prompt and the answer may take together."""
        return self._model.context_tokens

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text takes."""
        return self._model.count_tokens(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        grammar: str | None = None,
        timeout: float | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Write an answer."""
        return self._model.complete(
            messages, max_tokens=max_tokens, grammar=grammar, timeout=timeout, on_text=on_text
        )

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        """Return the mean log-probability a token of each answer."""
        return self._model.likelihoods(messages, answers)


def restore_fixed(model: LlamaModel, messages: Sequence[Message], folder: Path) -> bool:
    """Put the evaluated fixed part of a prompt back from the disk, or keep it there for the next command.

    Returns whether it was there. Losing or damaging the file costs time only.
    """
    path = folder / f"{model.prefix_name(messages)}.state"
    try:
        if model.load_prefix_state(path.read_bytes()):
            return True
    except OSError:
        pass
    state = model.save_prefix_state(messages)
    try:
        make_dir(folder)
        write_atomic(path, state, mode=0o600)
    except StorageFailed:
        return False
    return False
