"""Servers as the user's settings describe them: address, key, and what an embedding server's vectors depend on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from ragcli.config import Settings
from ragcli.datatypes import Embedder, Message
from ragcli.embedding.endpoint import Endpoint, EndpointEmbedder, address_of, shown_address
from ragcli.errors import UsageError
from ragcli.generation.server import ServerModel

_PATIENCE = 30.0  # seconds that a check waits for a server


def served_facts(settings: Settings) -> dict[str, str]:
    """Return what a served vector depends on besides its text. The address stands for the weights."""
    chosen = settings.embedding
    for name, value in (("url", chosen.url), ("dimension", chosen.dimension)):
        if not value:
            raise UsageError("endpoint_incomplete", key=f"embedding.{name}")
    return {
        "model": chosen.model, "file": shown_address(address_of(chosen.url)), "dimension": str(chosen.dimension),
        "backend": "endpoint", "precision": "served", "prefix": chosen.passage_prefix, "pooling": "served",
        "normalised": "yes",
    }  # fmt: skip


def served_embedder(settings: Settings) -> Embedder:
    """Return what asks the server; nothing is sent yet."""
    chosen, facts = settings.embedding, served_facts(settings)
    endpoint = Endpoint(
        chosen.url,
        chosen.model,
        chosen.dimension,
        _key(chosen.api_key, chosen.api_key_file),
        chosen.batch_size,
        chosen.batch_tokens,
    )
    return EndpointEmbedder(
        endpoint, facts, query_prefix=chosen.query_prefix, passage_prefix=chosen.passage_prefix
    )


def served_model(
    settings: Settings, role: Literal["generator", "rewriter"], cancelled: Callable[[], bool] | None = None
) -> ServerModel | None:
    """Return what asks a language model's server; nothing where the role's model is a file of this machine."""
    own, general = settings.rewrite, settings.generation
    if role == "rewriter" and own.url:
        url, model, key = own.url, own.model or general.model, _key(own.api_key, own.api_key_file)
    elif general.url and (role == "generator" or not own.model):
        url, model, key = general.url, general.model, _key(general.api_key, general.api_key_file)
    else:
        return None
    return ServerModel(url, model, context_tokens=general.context_tokens, api_key=key, cancelled=cancelled)


def ask_server(model: ServerModel) -> None:
    """Ask a server for one token; raises ModelUnusable, with what helps, where it doesn't answer."""
    model.complete([Message("user", "1+1=")], max_tokens=1, timeout=_PATIENCE)


def local_models(settings: Settings) -> tuple[str, ...]:
    """Return the language models that are files of this machine, each once."""
    names = () if settings.generation.url else (settings.generation.model,)
    own = settings.rewrite.model if settings.rewrite.model and not settings.rewrite.url else ""
    return tuple(dict.fromkeys((*names, *([own] if own else ()))))


def _key(value: str, file: str) -> str:
    if value or not file:
        return value
    try:
        return Path(file).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as err:
        raise UsageError("cannot_read", path=file, reason=getattr(err, "strerror", "") or str(err)) from err
