"""The precision that this machine embeds in: set, or kept from the base's index, or measured once and remembered.

The record lies beside the models, under what the measurement depends on: processor, library, weights. Where it can't
be written, float32 is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ragcli.config import Settings
from ragcli.datatypes import Embedder
from ragcli.embedding.prompts import prompts_of
from ragcli.errors import ModelUnusable, RagcliError
from ragcli.models.processor import processor_flags
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.eight_bit import PRECISION as EIGHT_BIT
from ragcli.pipeline.eight_bit import eight_bit_form, library
from ragcli.pipeline.models import file_hash, model_path
from ragcli.storage.files import write_atomic
from ragcli.storage.revisions import current_revision

RECORD = "precision.json"
# Flags of processors that compute in bfloat16.
_HALF = {"avx512_bf16", "amx_bf16", "bf16"}
_EXACT = "float32"


def precision_of(base: KnowledgeBase) -> str:
    """Return the precision of a base's passages, without measuring."""
    chosen = base.settings.embedding.precision
    return chosen if chosen != "auto" else _of_index(base) or remembered(base.settings, base.models_dir)


def settle_precision(base: KnowledgeBase, clock: Callable[[], float]) -> None:
    """Measure this machine where that was never done and the answer isn't clear; takes some seconds, once."""
    settings = base.settings
    if settings.embedding.backend == "endpoint" or settings.embedding.precision != "auto":
        return
    with suppress(RagcliError):  # a model that is missing is told where it is needed
        if not _of_index(base):
            measured(settings, base.models_dir, clock)


def measured(settings: Settings, models_dir: Path, clock: Callable[[], float]) -> dict[str, Any]:
    """Return what was measured here (`precision`, `results`), measuring where it never was."""
    if not _quicker():
        return {"precision": _EXACT, "results": {}}
    key, known = _key(settings, models_dir), _read(models_dir)
    if key not in known:
        from ragcli.embedding.precision import best, measure

        results = measure(_loader(settings, models_dir), _quicker(), clock)
        shown = {name: asdict(item) for name, item in results.items()}
        known[key] = {"precision": best(results), "results": shown}
        write_atomic(models_dir / RECORD, json.dumps(known, indent=1).encode())
    entry: dict[str, Any] = known[key]
    return entry


def remembered(settings: Settings, models_dir: Path) -> str:
    """Return the measured precision; float32 where nothing was measured."""
    if not _quicker():
        return _EXACT
    entry = _read(models_dir).get(_key(settings, models_dir), {})
    return str(entry.get("precision", _EXACT))


def _of_index(base: KnowledgeBase) -> str:
    """Return the precision that the base's index was made in by the same weights; empty where there is none."""
    with suppress(RagcliError, KeyError, TypeError):
        made = current_revision(base.index_dir).manifest["embedding"]
        if made["file"] == _weights(base.settings, base.models_dir) and made["precision"] in _usable():
            return str(made["precision"])
    return ""


def load_embedder(folder: Path, identity: Mapping[str, str], precision: str, models_dir: Path) -> Embedder:
    """Load what embeds passages in a precision."""
    if precision == EIGHT_BIT:
        if not library():
            raise ModelUnusable("no_openvino", precision=precision)
        from ragcli.embedding.compiled import CompiledEmbedder

        return CompiledEmbedder(eight_bit_form(folder, models_dir), folder, identity)
    from ragcli.embedding.sentence import SentenceEmbedder

    return SentenceEmbedder(folder, identity, precision)


def _quicker() -> list[str]:
    """Return the precisions that may be quicker than float32 here."""
    half = ["bfloat16"] if processor_flags() & _HALF else []
    return half + ([EIGHT_BIT] if library() else [])


def _usable() -> list[str]:
    return [_EXACT, "bfloat16", *([EIGHT_BIT] if library() else [])]


def _loader(settings: Settings, models_dir: Path) -> Callable[[str], Embedder]:
    folder = model_path(settings.embedding.model, "embedding", models_dir)
    identity = {"prefix": prompts_of(folder)["passage"]}
    return lambda precision: load_embedder(folder, identity, precision, models_dir)


def _weights(settings: Settings, models_dir: Path) -> str:
    folder = model_path(settings.embedding.model, "embedding", models_dir)
    return file_hash(folder / "model.safetensors", models_dir)


def _key(settings: Settings, models_dir: Path) -> str:
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "-"
    facts = [sorted(processor_flags()), torch, library(), _weights(settings, models_dir)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _read(models_dir: Path) -> dict[str, Any]:
    try:
        known = json.loads((models_dir / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
