"""What ragcli says, in the user's language: `en.toml` and `zh.toml` beside this file hold the same keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ragcli.errors import RagcliError


@dataclass(frozen=True, slots=True)
class Messages:
    """The texts of one language."""

    language: str

    def text(self, key: str, **fields: object) -> str:
        """Return the text under a dotted key with its fields filled in."""
        value: Any = _catalogue(self.language)
        for part in key.split("."):
            value = value[part]
        return _fill(str(value), fields)

    def note(self, kind: str, **fields: object) -> str:
        """Return the sentence for a note about a file or a reason why it was left out."""
        catalogue = _catalogue(self.language)
        if kind in catalogue["notes"]:
            return _fill(catalogue["notes"][kind], fields)
        if kind in catalogue["errors"]:
            return _fill(catalogue["errors"][kind]["message"], fields)
        return _fill(kind, fields)

    def error(self, error: RagcliError) -> tuple[str, str]:
        """Return what happened, and what to type next."""
        entry = _catalogue(self.language)["errors"].get(error.kind, {})
        return _fill(entry.get("message", str(error)), error.fields), _fill(
            entry.get("remedy", ""), error.fields
        )


@cache
def _catalogue(language: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8"))


class _Missing(dict[str, object]):
    """Leave a field that wasn't given as it stands: a message must never fail."""

    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"


def _fill(text: str, fields: Mapping[str, object]) -> str:
    return text.format_map(_Missing(fields)) if fields else text


def choose_language(setting: str, environ: Mapping[str, str]) -> str:
    """Return `zh` or `en`: the setting, else the locale's language, else English."""
    if setting in ("zh", "en"):
        return setting
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"
