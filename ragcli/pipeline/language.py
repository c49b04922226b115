"""The language models of a base, loaded when they are first needed and once for both roles where they share a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragcli.datatypes import Completion, LanguageModel, Message
from ragcli.generation.llm import LlamaModel
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.idle import Idle
from ragcli.pipeline.memory import check_load
from ragcli.pipeline.models import file_hash, model_path
from ragcli.pipeline.served import served_model
from ragcli.storage.states import StateFiles


@dataclass
class LanguageModels:
    """The rewriter and the generator of a base; `close` gives their memory back."""

    base: KnowledgeBase
    verbose: bool = False
    cancelled: Callable[[], bool] | None = None
    idle: Idle = field(default_factory=Idle)
    _loaded: dict[Path, LlamaModel] = field(default_factory=dict)

    @cached_property
    def generator(self) -> LanguageModel:
        """The model that writes answers: the user's server, or a file of this machine."""
        return served_model(self.base.settings, "generator", self._stopped) or self.local

    @cached_property
    def local(self) -> LlamaModel:
        """The generator as a file of this machine."""
        return self._load(self.base.settings.generation.model)

    @cached_property
    def rewriter(self) -> LanguageModel:
        """The model that completes questions; loaded at its first call, its examples put back from the disk."""
        settings = self.base.settings
        return LazyModel(
            lambda: (
                served_model(settings, "rewriter", self._stopped)
                or self._load(settings.rewrite.model or settings.generation.model)
            )
        )

    @cached_property
    def states(self) -> StateFiles:
        """What the models have read, kept across commands."""
        return state_files(self.base)

    def close(self) -> None:
        """Give the memory back."""
        for model in self._loaded.values():
            model.close()
        self._loaded.clear()

    @property
    def _stopped(self) -> Callable[[], bool]:
        return self.cancelled or self.idle.cancelled

    def _load(self, name: str) -> LlamaModel:
        path = model_path(name, "generator", self.base.models_dir)
        if path not in self._loaded:
            settings = self.base.settings.generation
            check_load(path, settings.context_tokens)
            self._loaded[path] = LlamaModel(
                path,
                settings.context_tokens,
                settings.threads,
                model_hash=file_hash(path, self.base.models_dir),
                verbose=self.verbose,
                cancelled=self._stopped,
                store=self.states,
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

    def prepare(self, messages: Sequence[Message], opening: str = "") -> bool:
        """Make the model know what its prompts begin with."""
        return restore_fixed(self._model, messages, opening)

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
        """Write an answer; what stands before the last message is taken to come again."""
        restore_fixed(self._model, messages[:-1])
        return self._model.complete(
            messages, max_tokens=max_tokens, grammar=grammar, timeout=timeout, on_text=on_text
        )

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        """Return the mean log-probability a token of each answer."""
        restore_fixed(self._model, messages[:-1])
        return self._model.likelihoods(messages, answers)


def restore_fixed(model: LanguageModel, messages: Sequence[Message], opening: str = "") -> bool:
    """Make the model know the messages that a role's prompts begin with; return whether nothing was evaluated.

    From its memory, else from the disk, else evaluated and kept for the next command. A model that runs
    elsewhere looks after itself.
    """
    prepare = getattr(model, "prepare", None)
    return bool(prepare and prepare(tuple(messages), opening))


def state_files(base: KnowledgeBase) -> StateFiles:
    """Return the kept states of a base."""
    return StateFiles(base.folder / "data" / "states", int(base.settings.passage_states.max_gb * 1e9))
