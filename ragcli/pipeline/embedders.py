"""Which embedding model a base uses, in which form, and what its vectors depend on.

Passages are embedded in bulk by sentence-transformers or OpenVINO, single queries by the mapped form of the same
weights: no torch for a question. Everything here but the `load` functions is cheap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragcli.config import Settings
from ragcli.datatypes import Embedder
from ragcli.embedding.prompts import prompts_of
from ragcli.errors import ModelUnusable, RagcliError
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.eight_bit import PRECISION as EIGHT_BIT
from ragcli.pipeline.models import file_hash, model_path
from ragcli.pipeline.precision import load_embedder, precision_of


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """How passages are embedded: what their vectors depend on, and how to load what makes them."""

    identity: dict[str, str]
    load: Callable[[], Embedder]


def passage_embedding(base: KnowledgeBase) -> EmbeddingChoice:
    """Return how this base's passages are embedded on this machine, without loading anything heavy."""
    if served(base.settings):
        from ragcli.pipeline.served import served_embedder, served_facts

        return EmbeddingChoice(served_facts(base.settings), lambda: served_embedder(base.settings))
    folder = _folder(base.settings, base.models_dir)
    facts = model_facts(base)
    precision = precision_of(base)
    identity = {
        **facts, "backend": "openvino" if precision == EIGHT_BIT else "sentence-transformers", "precision": precision,
        "prefix": prompts_of(folder)["passage"], "pooling": "mean", "normalised": "yes",
    }  # fmt: skip
    return EmbeddingChoice(identity, lambda: load_embedder(folder, identity, precision, base.models_dir))


def query_embedding(base: KnowledgeBase) -> Embedder:
    """Return what embeds this base's queries: the model's quick form where there is one, else the folder.

    Where a server is set up to embed, it embeds queries too.
    """
    if served(base.settings):
        from ragcli.pipeline.served import served_embedder

        return served_embedder(base.settings)
    folder = _folder(base.settings, base.models_dir)
    prompts = prompts_of(folder)
    try:
        path = model_path(base.settings.embedding.model, "query", base.models_dir)
    except ModelUnusable:
        path = folder
    if path.is_dir():
        from ragcli.embedding.sentence import SentenceEmbedder

        return SentenceEmbedder(folder, model_facts(base))
    from ragcli.embedding.query import QueryEmbedder

    return QueryEmbedder(
        path, model_facts(base), query_prefix=prompts["query"], passage_prefix=prompts["passage"]
    )


def model_facts(base: KnowledgeBase) -> dict[str, str]:
    """Return what names the embedding model: its name, the hash of its weights, its width."""
    if served(base.settings):
        from ragcli.pipeline.served import served_facts

        return {name: served_facts(base.settings)[name] for name in ("model", "file", "dimension")}
    folder = _folder(base.settings, base.models_dir)
    return {
        "model": base.settings.embedding.model,
        "file": file_hash(folder / "model.safetensors", base.models_dir),
        "dimension": str(_width(folder)),
    }


def served(settings: Settings) -> bool:
    """Return whether a server embeds instead of this machine."""
    return settings.embedding.backend == "endpoint"


def token_counter(settings: Settings, models_dir: Path) -> Callable[[str], int] | None:
    """Return a function that counts a passage's tokens, loaded when it is first called; None without a model."""
    try:
        path = model_path(settings.embedding.model, "embedding", models_dir) / "tokenizer.json"
    except RagcliError:
        return None
    if not path.is_file():
        return None
    return _Counter(path, prompts_of(path.parent)["passage"])


class _Counter:
    """Counts tokens with the model's own tokenizer."""

    def __init__(self, path: Path, prefix: str) -> None:
        self._path, self._prefix = path, prefix
        self._count: Callable[[str], int] | None = None

    def __call__(self, text: str) -> int:
        if self._count is None:
            from ragcli.embedding.tokens import counter

            self._count = counter(self._path)
        return self._count(self._prefix + text)


def _folder(settings: Settings, models_dir: Path) -> Path:
    folder = model_path(settings.embedding.model, "embedding", models_dir)
    if not folder.is_dir():
        raise ModelUnusable("model_not_a_folder", path=folder)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise ModelUnusable("model_incomplete", path=folder, missing=name)
    return folder


def _width(folder: Path) -> int:
    try:
        config: Mapping[str, object] = json.loads((folder / "config.json").read_bytes())
        return int(str(config["hidden_size"]))
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise ModelUnusable("model_corrupt", path=folder / "config.json", reason=str(err)) from err
