"""What turns are made with: the index, the names in it, the models; and what a turn was asked for besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from ragcli.config import Settings
from ragcli.datatypes import LanguageModel
from ragcli.dialogue.linking import Lexicon, build_lexicon
from ragcli.dialogue.understand import Mode
from ragcli.documents.normalise import fold
from ragcli.generation.prompt import Budget, build_prompt, fixed_messages
from ragcli.generation.wording import wording
from ragcli.pipeline.language import LanguageModels, restore_fixed
from ragcli.pipeline.searcher import Searcher


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What the person asked for besides the question."""

    k: int = 5
    rewrite: Mode = "hybrid"
    generate: bool = True
    timeout: float = 300.0
    file_glob: str = ""
    heading: str = ""
    passage_states: bool = True


@dataclass(frozen=True)
class Engine:
    """What turns are made with: the index, the names in it, the models. Shared by all turns of a process."""

    searcher: Searcher
    models: LanguageModels
    settings: Settings
    today: date

    def read_ahead(self, history: Sequence[tuple[str, str]], summary: str, language: str) -> None:
        """Let the generator read what the next prompt of a conversation begins with."""
        model = self.models.generator
        read = getattr(model, "read", None)
        if read is None:
            return
        prepare_generator(model, language)
        budget = Budget(model.context_tokens, self.settings.generation.max_tokens)
        prompt = build_prompt(
            "", (), history, summary, language=language, budget=budget, count_tokens=model.count_tokens
        )
        read(prompt.messages[:-1], wording(language)["passages"])

    @cached_property
    def lexicon(self) -> Lexicon:
        """The base's names, laid out for the dialogue."""
        return build_lexicon(self.searcher.vocabulary, fold)

    def generator(self, language: str) -> LanguageModel:
        """Return the generator with the fixed part of its prompt already read."""
        model = self.models.generator
        prepare_generator(model, language)
        return model


def prepare_generator(model: LanguageModel, language: str) -> None:
    """Make a model know the rules and examples of a language, and the words before the passages."""
    fixed = fixed_messages(language, model.context_tokens)
    restore_fixed(model, fixed, wording(language)["passages"])
