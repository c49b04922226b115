"""A report as HTML."""

from ragcli.datatypes import Json


def html_report(report: Json, language: str) -> str:
    """Return a report as HTML."""
    return ""
