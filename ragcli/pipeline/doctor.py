"""Does this machine, do these models, does this base work? Each check answers with what to type."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ragcli import config
from ragcli.config import Settings
from ragcli.errors import RagcliError
from ragcli.generation.llm import can_shift
from ragcli.pipeline.base import open_base
from ragcli.pipeline.memory import machine_bytes, need_of
from ragcli.pipeline.models import check_llama, file_hash, model_path
from ragcli.pipeline.precision import measured
from ragcli.pipeline.served import ask_server, local_models, served_facts, served_model
from ragcli.pipeline.shown import AUTO
from ragcli.pipeline.upkeep import check

_LIBRARIES = ("faiss-cpu", "llama-cpp-python", "sentence-transformers", "tantivy", "torch")
# What the system and other programs need beside ragcli.
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
        ("embedding", lambda: _embedding(settings, models, clock)),
        ("llama", lambda: check_llama(models)),
        *(
            [("servers", lambda: _servers(settings))]
            if settings.generation.url or settings.rewrite.url
            else []
        ),
        ("memory", lambda: _memory(settings, models, folder / "data" / "index")),
        ("passage_states", lambda: _passage_states(settings, models)),
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
    names = {("generator", name) for name in local_models(settings)}
    if settings.embedding.backend != "endpoint":
        names.add(("embedding", settings.embedding.model))
    paths = [model_path(name, role, models) for role, name in sorted(names)]
    for path in paths:
        if path.is_file():
            file_hash(path, models)
    return ", ".join(path.name for path in paths)


def _embedding(settings: Settings, models: Path, clock: Callable[[], float]) -> str:
    """Say in which precision passages are embedded, and what each did when it was measured."""
    chosen = settings.embedding
    if chosen.backend == "endpoint":
        return f"{served_facts(settings)['file']}: {chosen.model}"
    found = measured(settings, models, clock)
    rows = [
        f"{name} {item['rate']:.1f}/s, cos {item['cosine']:.4f}, {'=' if item['agrees'] else '≠'}"
        for name, item in found["results"].items()
    ]
    precision = found["precision"] if chosen.precision == "auto" else chosen.precision
    return f"{precision} ({'; '.join(rows)})" if rows else precision


def _servers(settings: Settings) -> str:
    """Ask each language model's server for a token; say which there are."""
    found = [served_model(settings, role) for role in ("generator", "rewriter")]
    asked = {(model.address, model.name): model for model in found if model}
    for model in asked.values():
        ask_server(model)
    return ", ".join(f"{address}: {name}" for address, name in asked)


def _memory(settings: Settings, models: Path, index: Path) -> str:
    need, have = need_of(settings, models, index).total, machine_bytes()
    if need + _SPARE_BYTES > have:
        raise RagcliError("too_little_memory", need_gb=round(need / 2**30, 1), have_gb=round(have / 2**30, 1))
    return f"{need / 2**30:.1f} GB / {have / 2**30:.1f} GB"


def _passage_states(settings: Settings, models: Path) -> str:
    """Say whether passages that were read can be put back; a model that can't do it works without."""
    if settings.passage_states.mode == "off":
        return "off"
    served = served_model(settings, "generator")
    if served:
        return f"off: {served.address}"
    if not can_shift(model_path(settings.generation.model, "generator", models)):
        return f"off: {settings.generation.model}"
    return AUTO if settings.passage_states.mode == "auto" else settings.passage_states.mode


def _terminal(environ: Mapping[str, str]) -> str:
    encoding = sys.stdout.encoding
    return f"TERM={environ.get('TERM', '-')}, {encoding}, {'tty' if sys.stdout.isatty() else 'pipe'}"
