"""Examples of a base's own for the rewriting prompt: `prompts/*.jsonl` in its folder, joined to the built-in ones.

A base may have come from somebody else, so what is taken is limited in size and number, `status` shows it, and an
example can only show how questions are made complete: what a model makes of it is checked like any other rewrite.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcli.datatypes import Json
from ragcli.dialogue.reading import Example, RewriteOptions
from ragcli.errors import UsageError
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.engine import Engine

FOLDER = "prompts"
MOST_BYTES = 65_536
MOST_EXAMPLES = 8
MOST_CHARS = 300
_MOST_TURNS = 3


@dataclass(frozen=True)
class ReadingEngine(Engine):
    """An engine that brings its own way of rewriting, for measuring."""

    rewriting: RewriteOptions | None = None


def rewriting_of(engine: Engine) -> RewriteOptions:
    """Return how questions are made complete: the settings', with the base's examples."""
    if isinstance(engine, ReadingEngine) and engine.rewriting is not None:
        return engine.rewriting
    rules = engine.settings.rewrite
    return RewriteOptions(
        rules.max_tokens,
        rules.timeout,
        verify=rules.verify,
        clarify_after=engine.settings.clarify.after,
        examples=base_examples(engine.searcher.base),
    )


def base_examples(base: KnowledgeBase) -> tuple[Example, ...]:
    """Return the first examples of a base's files, by name; too large or broken ones are refused by line."""
    folder = base.folder / FOLDER
    if not folder.is_dir():
        return ()
    found: list[Example] = []
    for path in sorted(folder.glob("*.jsonl")):
        found += _read(path)
    return tuple(found[:MOST_EXAMPLES])


def own_prompts(base: KnowledgeBase) -> Json:
    """Return which files of examples a base brings and how many of them are used."""
    folder = base.folder / FOLDER
    names = sorted(path.name for path in folder.glob("*.jsonl")) if folder.is_dir() else []
    return {"files": names, "examples": len(base_examples(base))}


def _read(path: Path) -> list[Example]:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as err:
        raise UsageError("cannot_read", path=path, reason=err.strerror or str(err)) from err
    if len(data) > MOST_BYTES:
        raise UsageError("bad_prompts", path=path, line=0, reason=f"> {MOST_BYTES} bytes")
    found = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if raw.strip():
            try:
                found.append(_example(json.loads(raw)))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as err:
                raise UsageError("bad_prompts", path=path, line=number, reason=str(err)) from err
    return found


def _example(row: Any) -> Example:
    said = tuple((_text(pair["user"]), _text(pair.get("assistant", ""))) for pair in row.get("history", []))
    return Example(said[-_MOST_TURNS:], _text(row["query"]), _text(row["rewrite"]))


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MOST_CHARS:
        raise ValueError(f"a text of at most {MOST_CHARS} characters is wanted")
    return " ".join(value.split())
