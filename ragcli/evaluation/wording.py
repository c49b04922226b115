"""What reports say, by language, and how figures are written in them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ragcli.datatypes import Json


@cache
def _data() -> Mapping[str, Any]:
    raw = files(__package__).joinpath("data/report.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)


def style() -> str:
    """Return the style sheet of the HTML report."""
    return str(_data()["style"])


def words(language: str) -> Mapping[str, str]:
    """Return the texts of a report in one language."""
    texts: Mapping[str, str] = _data()["zh" if language == "zh" else "en"]
    return texts


def about(report: Json, texts: Mapping[str, str]) -> str:
    """Return the sentence that says what was measured."""
    facts = {
        **report["cases"], **report["settings"], "ragcli": report["ragcli"], "seed": report["seed"],
        "files": ", ".join(report["cases"]["files"]),
    }  # fmt: skip
    if "base" not in report:
        return texts["about_short"].format(**facts)
    return texts["about"].format(**facts, base_files=report["base"]["files"], chunks=report["base"]["chunks"])


def share(value: float | None) -> str:
    """Return a share as a report shows it; a dash for one of nothing.

    >>> share(0.5), share(1.0)
    ('0.500', '1.000')
    """
    return "–" if value is None else f"{value:.3f}"


def range_of(interval: Mapping[str, list[float]], name: str) -> str:
    """Return an interval as a report shows it."""
    low, high = interval[name]
    return f"{low:.2f}–{high:.2f}"
