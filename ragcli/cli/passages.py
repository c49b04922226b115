"""Passages as a person reads them: hits of a search, sources of an answer, a place in a file."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.cli.render import Screen
from ragcli.datatypes import Json


def path_of(row: Json) -> str:
    """Return a heading path as it is read."""
    return " › ".join(part.strip() for part in row["heading_path"])


def print_hits(screen: Screen, result: Json) -> None:
    """Print hits with their text, and with `--explain` where each score came from."""
    text = screen.messages.text
    for hit in result["hits"]:
        screen.say(text("search.hit", **{**hit, "path": path_of(hit), "score": f"{hit['score']:.2f}"}))
        if "below" in result:
            scores = "  ".join(f"{name} {value:.3f}" for name, value in hit["scores"].items())
            screen.say(text("search.explain", scores=scores))
        for line in hit["text"].strip("\n").split("\n"):
            screen.say(f"   {line}")
        screen.say()
    for row in result.get("dropped", []):
        screen.say(text("search.dropped", file=row["file"], line=row["line_start"], reason=row["reason"]))


def print_sources(screen: Screen, citations: Sequence[Json]) -> None:
    """Print where an answer's marks point."""
    if citations:
        screen.say(screen.messages.text("answer.sources"))
    for citation in citations:
        screen.say("  " + screen.messages.text("answer.source", **{**citation, "path": path_of(citation)}))


def print_place(screen: Screen, place: Json) -> None:
    """Print a passage with its line numbers and the lines around it."""
    screen.say(f"{place['file']}  {path_of(place)}")
    for mark, rows in ((" ", place["before"]), ("│", place["lines"]), (" ", place["after"])):
        for number, line in rows:
            screen.say(f"{number:>6} {mark} {line}")
