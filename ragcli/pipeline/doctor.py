"""Does this machine, do these models, does this base work? Each check answers with what to type."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ragcli import config
from ragcli.config import Settings
from ragcli.errors import RagcliError
from ragcli.generation.llm import memory_need
from ragcli.pipeline.base import open_base
from ragcli.pipeline.embedders import chosen_precision
from ragcli.pipeline.models import check_llama, file_hash, model_path
from ragcli.pipeline.upkeep import check

_LIBRARIES = ("faiss-cpu", "llama-cpp-python", "sentence-transformers", "tantivy", "torch")
# What the system and the rest of ragcli need beside the models.
_SPARE_BYTES = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what it looked at, whether that is fine, what it found, and the error where it isn't."""

    what: str
    fine: bool
    found: str
    error: RagcliError | None = None


def diagnose(
    folder: Path, settings: Settings, environ: Mapping[str, str], clock: Callable[[], float]
) -> list[Finding]:
    """Return every check's finding, none of them stopping the others."""
    models = config.models_dir(environ)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("python", _libraries),
        ("models", lambda: _models(settings, models)),
        ("llama", lambda: check_llama(models)),
        ("memory", lambda: _memory(settings, models)),
        ("terminal", lambda: _terminal(environ)),
    ]
    if (folder / config.BASE_FILE).is_file():
        base = open_base(folder, settings, environ)
        checks.append(("base", lambda: f"{base.folder}: {check(base, clock)}"))
    return [_run(what, look) for what, look in checks]


def _run(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, look())
    except RagcliError as err:
        return Finding(what, False, "", err)


def _libraries() -> str:
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError as err:
            raise RagcliError("library_missing", name=name) from err
    return f"Python {platform.python_version()}, {', '.join(found)} ({sys.platform})"


def _models(settings: Settings, models: Path) -> str:
    names = {("embedding", settings.embedding.model), ("generator", settings.generation.model)}
    if settings.rewrite.model:
        names.add(("generator", settings.rewrite.model))
    paths = [model_path(name, role, models) for role, name in sorted(names)]
    for path in paths:
        if path.is_file():
            file_hash(path, models)
    return f"{', '.join(path.name for path in paths)}; {chosen_precision(settings)}"


def _memory(settings: Settings, models: Path) -> str:
    need = memory_need(
        model_path(settings.generation.model, "generator", models), settings.generation.context_tokens
    )
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if need + _SPARE_BYTES > have:
        raise RagcliError("too_little_memory", need_gb=round(need / 2**30, 1), have_gb=round(have / 2**30, 1))
    return f"{need / 2**30:.1f} GB / {have / 2**30:.1f} GB"


def _terminal(environ: Mapping[str, str]) -> str:
    encoding = sys.stdout.encoding
    return f"TERM={environ.get('TERM', '-')}, {encoding}, {'tty' if sys.stdout.isatty() else 'pipe'}"
