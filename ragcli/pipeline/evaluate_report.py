"""Reports on the disk: an earlier one read to compare with, the present one written for a person."""

from __future__ import annotations

import json
from pathlib import Path

from ragcli.datatypes import Json
from ragcli.errors import UsageError
from ragcli.evaluation.comparison import compare_reports
from ragcli.evaluation.html import html_report
from ragcli.evaluation.markdown import markdown_report
from ragcli.storage.files import write_atomic


def old_report(path: Path) -> Json:
    """Return the JSON of an earlier run, or say that the file holds none."""
    if not path.is_file():
        raise UsageError("no_such_path", path=path)
    try:
        old = json.loads(path.read_bytes())
    except ValueError as err:
        raise UsageError("not_a_report", path=path, reason=str(err)) from err
    if not isinstance(old, dict) or not isinstance(old.get("turns"), list):
        raise UsageError("not_a_report", path=path, reason='"turns"')
    return old


def compared_with(old: Json, new: Json) -> Json:
    """Return what was won and lost since an earlier run."""
    return compare_reports(old, new)


def write_report(report: Json, path: Path, language: str) -> None:
    """Write a report as one HTML file or as Markdown, by the name's ending."""
    text = html_report(report, language) if path.suffix == ".html" else markdown_report(report, language)
    write_atomic(path, text.encode("utf-8", "replace"))
