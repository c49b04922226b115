"""Settings: what they are, where they come from, and which value wins.

Flags beat the environment (`RAGCLI_<SECTION>_<KEY>`), which beats the base's `ragcli.toml`, which beats
`$XDG_CONFIG_HOME/ragcli/config.toml`, which beats the defaults here. A key that isn't known is an error.
A base may have come from somewhere else, so its file cannot set what is marked `personal`: addresses that
text would be sent to, and paths outside the base.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from ragcli.datatypes import HeadingRule
from ragcli.errors import NotReady, UsageError

BASE_FILE = "ragcli.toml"


def _key(
    default: Any,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    low: float = 0,
    personal: bool = False,
    secret: bool = False,
) -> Any:
    facts = {"doc": doc, "choices": choices, "low": low, "personal": personal}
    return field(default=default, repr=not secret, metadata=facts)


@dataclass(frozen=True, slots=True)
class UiSettings:
    """What the person sees."""

    language: str = _key("auto", "help, messages and the chat: auto, zh or en", choices=("auto", "zh", "en"))


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Which files are read."""

    include: tuple[str, ...] = _key(("*.txt", "*.TXT", "*.text"), "names of files that are read")
    encoding: str = _key("", "encoding of every file; empty: found out file by file")
    max_file_mb: int = _key(128, "larger files are refused", low=1)


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """How files are cut into chunks."""

    min_chars: int = _key(300, "neighbours under one heading are joined up to this size", low=20)
    max_chars: int = _key(500, "a chunk of running text is at most this long", low=40)
    overlap_chars: int = _key(80, "how much of the text before is repeated, in whole sentences")
    table_max_chars: int = _key(1200, "a table up to this size stays in one piece", low=80)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """What makes vectors."""

    model: str = _key("multilingual-e5-small", "a name from `ragcli models list`, or a path")
    backend: str = _key(
        "auto",
        "auto, sentence-transformers or endpoint",
        choices=("auto", "sentence-transformers", "endpoint"),
    )
    precision: str = _key(
        "auto",
        "auto, float32, bfloat16, or int8 where OpenVINO is installed",
        choices=("auto", "float32", "bfloat16", "int8"),
    )
    batch_size: int = _key(32, "texts that are embedded and committed together", low=1)
    url: str = _key("", "address of an OpenAI-compatible server, up to /v1", personal=True)
    api_key: str = _key("", "the key that the server asks for", personal=True, secret=True)
    api_key_file: str = _key("", "a file that holds the key", personal=True)
    dimension: int = _key(0, "width of the server's vectors")
    query_prefix: str = _key("", "what the server's model wants before a query")
    passage_prefix: str = _key("", "what the server's model wants before a passage")
    batch_tokens: int = _key(8192, "tokens that one request to the server may carry", low=64)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What searches vectors."""

    kind: str = _key("auto", "auto, flat, hnsw or ivf", choices=("auto", "flat", "hnsw", "ivf"))


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Which passages are taken."""

    k: int = _key(5, "hits listed", low=1)
    passages: int = _key(4, "passages that the model sees at most", low=1)
    threshold: float = _key(0.4, "score (0 to 1) that the best hit must reach, or nothing was found")
    rerank: str = _key(
        "words",
        "words: names, numbers, paths (a millisecond); cross-encoder; judge: the language model (seconds); off",
        choices=("words", "cross-encoder", "judge", "off"),
    )
    rerank_model: str = _key("", "folder of a sentence-transformers CrossEncoder", personal=True)
    rerank_depth: int = _key(8, "passages that the language model judges", low=1)


@dataclass(frozen=True, slots=True)
class RewriteSettings:
    """How a question is made self-contained."""

    mode: str = _key("hybrid", "off, rules, llm or hybrid", choices=("off", "rules", "llm", "hybrid"))
    model: str = _key("", "model of the rewriter; empty: the generator's")
    timeout: float = _key(10.0, "seconds after which the rules' question is used")
    max_tokens: int = _key(200, "tokens that a rewrite may take", low=16)
    url: str = _key("", "a server of the rewriter's own, up to /v1", personal=True)
    api_key: str = _key("", "the key that this server asks for", personal=True, secret=True)
    api_key_file: str = _key("", "a file that holds the key", personal=True)
    verify: bool = _key(False, "ask the model a second time whether its rewrite means the same")


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """What writes the answer."""

    model: str = _key(
        "qwen2.5-coder-1.5b-instruct", "a name from `ragcli models list`, or a path to a GGUF file"
    )
    context_tokens: int = _key(4096, "tokens of prompt and answer together", low=512)
    max_tokens: int = _key(400, "tokens that an answer may take", low=16)
    passage_tokens: int = _key(900, "tokens of passages in a prompt at most", low=64)
    threads: int = _key(0, "processor threads; 0: as many as there are cores")
    url: str = _key(
        "", "address of an OpenAI-compatible server, up to /v1; `model` is its name there", personal=True
    )
    api_key: str = _key("", "the key that the server asks for", personal=True, secret=True)
    api_key_file: str = _key("", "a file that holds the key", personal=True)
    timeout: float = _key(300.0, "seconds that an answer may take; 0: no limit")


@dataclass(frozen=True, slots=True)
class PassageStateSettings:
    """What the model has read of passages, kept so that the first word comes at once."""

    mode: str = _key(
        "auto",
        "all-kept: fastest; best-fresh: the best passage is read anew; off; auto",
        choices=("auto", "all-kept", "best-fresh", "off"),
    )
    max_gb: float = _key(4.0, "disk that kept states may take; the longest unused leave first")
    tokens: int = _key(1200, "tokens of passages in a prompt at most where they are shown whole", low=64)
    idle: str = _key("on", "on: a waiting chat reads passages ahead", choices=("on", "off"))


@dataclass(frozen=True, slots=True)
class ClarifySettings:
    """When ragcli asks back."""

    after: int = _key(
        1, "1: asks at once when a question fits several things; 2: answers first, asks the second time"
    )


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is remembered of each turn."""

    keep_days: int = _key(90, "days that the steps of a turn are kept")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, a section a part of ragcli."""

    ui: UiSettings = UiSettings()
    ingest: IngestSettings = IngestSettings()
    split: SplitSettings = SplitSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    index: IndexSettings = IndexSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rewrite: RewriteSettings = RewriteSettings()
    clarify: ClarifySettings = ClarifySettings()
    generation: GenerationSettings = GenerationSettings()
    passage_states: PassageStateSettings = PassageStateSettings()
    trace: TraceSettings = TraceSettings()
    headings: tuple[HeadingRule, ...] = ()


SECTIONS = {item.name: item for item in fields(Settings) if item.name != "headings"}


def xdg(variable: str, fallback: str, environ: Mapping[str, str]) -> Path:
    """Return an XDG folder; a relative value is ignored, as the specification says."""
    value = environ.get(variable, "")
    return Path(value) if os.path.isabs(value) else Path(environ.get("HOME") or "/") / fallback


def models_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder that holds the model files."""
    if environ.get("RAGCLI_MODELS"):
        return Path(environ["RAGCLI_MODELS"])
    return xdg("XDG_DATA_HOME", ".local/share", environ) / "ragcli" / "models"


def state_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder for logs and the chat's input history."""
    return xdg("XDG_STATE_HOME", ".local/state", environ) / "ragcli"


def base_dir(flag: str | None, environ: Mapping[str, str], cwd: Path) -> Path:
    """Return the knowledge base that a command means: flag, RAGCLI_KB, the nearest above, the default one."""
    named = flag or environ.get("RAGCLI_KB")
    if named:
        return Path(named).expanduser()
    for folder in (cwd, *cwd.parents):
        if (folder / BASE_FILE).is_file():
            return folder
    return xdg("XDG_DATA_HOME", ".local/share", environ) / "ragcli" / "default"


def require_base(folder: Path) -> Path:
    """Return the base's folder, or say that there is none."""
    if not (folder / BASE_FILE).is_file():
        raise NotReady("no_base", path=folder)
    return folder


def load_settings(base: Path | None, environ: Mapping[str, str]) -> Settings:
    """Read the settings of a base (or of none) with everything that overrides them."""
    settings = Settings()
    personal = xdg("XDG_CONFIG_HOME", ".config", environ) / "ragcli" / "config.toml"
    for path, trusted in ((personal, True), (base / BASE_FILE if base else None, False)):
        if path and path.is_file():
            settings = apply_table(settings, read_toml(path), str(path), trusted=trusted)
    return apply_environment(settings, environ)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, naming it and the place where it is wrong."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as err:
        raise UsageError("bad_toml", path=path, reason=str(err)) from err
    except OSError as err:
        raise UsageError("cannot_read", path=path, reason=err.strerror or str(err)) from err


def apply_table(
    settings: Settings, table: Mapping[str, Any], where: str, *, trusted: bool = True
) -> Settings:
    """Return the settings with a parsed file's values laid over them."""
    for section, values in table.items():
        if section == "headings":
            settings = replace(settings, headings=_heading_rules(values, where))
            continue
        if section not in SECTIONS or not isinstance(values, dict):
            raise unknown_key(section, [*SECTIONS, "headings"], where)
        for key, value in values.items():
            settings = set_value(settings, section, key, value, where, trusted=trusted)
    return settings


def apply_environment(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings with `RAGCLI_<SECTION>_<KEY>` laid over them."""
    for name in sorted(environ):
        words = name.removeprefix("RAGCLI_").lower()
        section = next((known for known in SECTIONS if words.startswith(f"{known}_")), "")
        key = words.removeprefix(f"{section}_")
        if name.startswith("RAGCLI_") and section and key:
            settings = set_value(settings, section, key, environ[name], name, trusted=True)
    return settings


def set_value(
    settings: Settings, section: str, key: str, value: Any, where: str, *, trusted: bool
) -> Settings:
    """Return the settings with one value changed, checked for its type, range and origin."""
    part = getattr(settings, section)
    known = {item.name: item for item in fields(part)}
    if key not in known:
        raise unknown_key(f"{section}.{key}", [f"{section}.{name}" for name in known], where)
    if known[key].metadata["personal"] and not trusted:
        raise UsageError("personal_setting", key=f"{section}.{key}", where=where)
    typed = _typed(value, type(getattr(part, key)), known[key].metadata, f"{section}.{key}", where)
    return replace(settings, **{section: replace(part, **{key: typed})})


def unknown_key(key: str, known: list[str], where: str) -> UsageError:
    """Return the error for a key that doesn't exist, naming the nearest one that does."""
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    return UsageError("unknown_setting", key=key, where=where, nearest=near[0] if near else known[0])


def _typed(value: Any, kind: type, rules: Mapping[str, Any], key: str, where: str) -> Any:
    try:
        typed = _convert(value, kind)
    except (TypeError, ValueError) as err:
        raise UsageError("bad_setting", key=key, where=where, value=value, wanted=kind.__name__) from err
    if rules["choices"] and typed not in rules["choices"]:
        raise UsageError(
            "bad_setting", key=key, where=where, value=value, wanted=" | ".join(rules["choices"])
        )
    if isinstance(typed, int | float) and typed < rules["low"]:
        raise UsageError("bad_setting", key=key, where=where, value=value, wanted=f">= {rules['low']}")
    return typed


def _convert(value: Any, kind: type) -> Any:
    """Return the value as its setting's type; a bool is no number, and text only becomes one from a string."""
    if kind is tuple:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise TypeError("a list of strings")
        return tuple(item.strip() for item in items)
    if kind is str and not isinstance(value, str):
        raise TypeError("a string")
    if isinstance(value, bool) and kind is not bool:
        raise TypeError("not a boolean")
    if kind is int and isinstance(value, float):
        raise TypeError("a whole number")
    return kind(value)


def _heading_rules(values: Any, where: str) -> tuple[HeadingRule, ...]:
    rules = []
    for number, item in enumerate(values if isinstance(values, list) else [values], 1):
        if not isinstance(item, dict) or set(item) != {"pattern", "level"}:
            raise UsageError("bad_heading_rule", number=number, where=where, reason="pattern, level")
        pattern, level = item["pattern"], item["level"]
        try:
            re.compile(pattern)
        except (re.error, TypeError) as err:
            raise UsageError("bad_heading_rule", number=number, where=where, reason=str(err)) from err
        if not isinstance(level, int) or isinstance(level, bool) or not 1 <= level <= 9:
            raise UsageError("bad_heading_rule", number=number, where=where, reason="level 1-9")
        rules.append(HeadingRule(pattern, level))
    return tuple(rules)


def default_file() -> str:
    """Return the commented `ragcli.toml` that `init` writes: every setting, none of them set."""
    lines = ["# Settings of this knowledge base. Remove the # before a line to change it.", ""]
    hints = get_type_hints(Settings)
    for name in SECTIONS:
        section = hints[name]
        assert is_dataclass(section)  # noqa: S101  narrows the type for the reader and for mypy
        lines.append(f"[{name}]")
        for item in fields(section):
            if not item.metadata["personal"]:
                lines.append(f"# {item.name} = {_toml(item.default)}  # {item.metadata['doc']}")
        lines.append("")
    lines += [
        "# Heading patterns of your own: a regular expression for the whole line, and its level.",
        "# [[headings]]",
        "# pattern = '^◆ .+'",
        "# level = 1",
        "",
    ]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
