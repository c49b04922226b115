"""The prefixes that an embedding model was trained with, as its folder states them."""

from __future__ import annotations

import json
from pathlib import Path


def prompts_of(folder: Path) -> dict[str, str]:
    """Return the prefixes that the model wants before a query and before a passage."""
    try:
        stated = json.loads((folder / "config_sentence_transformers.json").read_bytes()).get("prompts") or {}
    except (OSError, ValueError, AttributeError):
        stated = {}
    return {
        "query": str(stated.get("query", "")),
        "passage": str(stated.get("passage", stated.get("document", ""))),
    }
