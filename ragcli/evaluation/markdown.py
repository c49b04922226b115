"""A report as Markdown."""

from ragcli.datatypes import Json


def markdown_report(report: Json, language: str) -> str:
    """Return a report as Markdown."""
    return ""
