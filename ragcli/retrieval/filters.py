"""What the dialogue resolved, as explicit weights and filters over candidates.

Which file, chapter or passages a turn is about is decided elsewhere; here it is only applied, and each
candidate that is left out is named with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ragcli.datatypes import StoredChunk
from ragcli.retrieval.terms import Fold


@dataclass(frozen=True, slots=True)
class Filters:
    """What a candidate must satisfy, and what counts for or against it.

    `file_glob` and `heading` (a part of the path) shut others out. `files` maps a file to a factor on the
    score of its chunks (above 1 for, below 1 against; 0 shuts out). `headings` are texts that a path should
    hold. `seen` are chunks shown before: with `only_new` they are left out, else they keep their place.
    `excluded` are chunks that are never wanted.
    """

    file_glob: str = ""
    heading: str = ""
    files: Mapping[str, float] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    seen: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    only_new: bool = False


def reason_to_drop(stored: StoredChunk, filters: Filters, fold: Fold) -> str:
    """Return why a candidate is left out, or nothing where it stays."""
    chunk = stored.chunk
    if chunk.chunk_id in filters.excluded:
        return "excluded"
    if filters.only_new and chunk.chunk_id in filters.seen:
        return "seen"
    if filters.files.get(stored.file, 1.0) <= 0.0:
        return "file"
    if filters.file_glob and not matches_file(stored.file, filters.file_glob):
        return "file"
    if filters.heading and fold(filters.heading) not in fold(" > ".join((stored.title, *chunk.heading_path))):
        return "heading"
    return ""


def matches_file(file: str, glob: str) -> bool:
    """Return whether a file's path, or its name alone, matches a pattern."""
    return fnmatchcase(file, glob) or fnmatchcase(file.rsplit("/", 1)[-1], glob)


def factor(stored: StoredChunk, filters: Filters, fold: Fold) -> float:
    """Return what the filters multiply a candidate's score by: its file's weight, and 1.2 for a heading."""
    weight = filters.files.get(stored.file, 1.0)
    if filters.headings:
        path = fold(" > ".join((stored.title, *stored.chunk.heading_path)))
        weight *= 1.2 if any(fold(text) in path for text in filters.headings) else 1.0
    return weight


def narrows(filters: Filters) -> bool:
    """Return whether many candidates may be left out, so that more must be fetched."""
    return bool(filters.file_glob or filters.heading or filters.only_new or filters.excluded or filters.files)
