"""What `ask` and `chat` share: the options of a turn, and a conversation that is opened and closed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date

from ragcli.cli.context import Environment
from ragcli.config import Settings
from ragcli.errors import UsageError
from ragcli.pipeline.base import KnowledgeBase, conversations, reading
from ragcli.pipeline.conversation import Conversation, new_name, open_conversation
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.language import LanguageModels
from ragcli.pipeline.rerankers import chosen_reranker
from ragcli.pipeline.searcher import open_searcher

_MODES = ("off", "rules", "llm", "hybrid")


def turn_options(
    settings: Settings,
    *,
    k: int = 0,
    rewrite: str = "",
    timeout: float = -1.0,
    generate: bool = True,
    file_glob: str = "",
    passage_states: bool = True,
) -> TurnOptions:
    """Return a turn's options: flags where they were given, else the settings."""
    mode = rewrite or settings.rewrite.mode
    if mode not in _MODES:
        raise UsageError(
            "bad_option", option="--rewrite", value=mode, wanted=" | ".join(_MODES), command="ask"
        )
    limit = settings.generation.timeout if timeout < 0 else timeout
    return TurnOptions(
        k or settings.retrieval.k,
        mode,  # type: ignore[arg-type]
        generate,
        limit,
        file_glob,
        passage_states=passage_states,
    )


@contextmanager
def opened(env: Environment, base: KnowledgeBase, session: str) -> Iterator[Conversation]:
    """Open a base's index, models and one conversation; everything is closed at the end."""
    with ExitStack() as stack:
        store = stack.enter_context(reading(base))
        models = LanguageModels(base, env.screen.verbose)
        stack.callback(models.close)
        searcher = open_searcher(base, store, chosen_reranker(base.settings, lambda: models.generator))
        if searcher.stale:
            env.screen.warn("search.stale")
        sessions = stack.enter_context(conversations(base))
        sessions.forget_traces(time.time() - base.settings.trace.keep_days * 86400)
        engine = Engine(searcher, models, base.settings, date.today())
        conversation = open_conversation(engine, sessions, session or new_name())
        if conversation.damaged:
            env.screen.warn("chat.damaged", number=conversation.damaged)
        yield conversation
