"""An embedding server as the settings describe it: its address, its key, and what its vectors depend on."""

from __future__ import annotations

from pathlib import Path

from ragcli.config import Settings
from ragcli.datatypes import Embedder
from ragcli.embedding.endpoint import Endpoint, EndpointEmbedder, address_of, shown_address
from ragcli.errors import UsageError


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


def _key(value: str, file: str) -> str:
    if value or not file:
        return value
    try:
        return Path(file).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as err:
        raise UsageError("cannot_read", path=file, reason=getattr(err, "strerror", "") or str(err)) from err
