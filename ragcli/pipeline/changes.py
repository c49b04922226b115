"""What changed between the published index and the store: which chunks went, which are new.

An index carries its rows (chunk id, vector key, whether it has a vector). A chunk whose key changed counts as gone
and new: its vector and its words are others. Nothing here reads a text or a vector.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import NotReady
from ragcli.pipeline.embed import chunk_keys
from ragcli.storage import vectors as cache
from ragcli.storage.store import Store

ROWS_FILE = "rows.bin"
_ROW = struct.Struct("<q20s?")


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk as an index holds it."""

    key: bytes
    has_vector: bool


Rows = dict[int, Row]


@dataclass(frozen=True, slots=True)
class Change:
    """Chunks that an index holds and shouldn't, and chunks that it should hold and doesn't, by id."""

    gone: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many rows have to be touched."""
        return len(self.gone) + len(self.new)


def rows_of(store: Store, identity: dict[str, str]) -> Rows:
    """Return the rows of the store's chunks by id, or say how many vectors are missing; keeps new keys."""
    keys = chunk_keys(store, identity, keep=True)
    have = cache.present(store, list(set(keys.values())))
    failed = cache.failures(store)
    missing = sum(key not in have and key not in failed for key in keys.values())
    if missing:
        raise NotReady("vectors_missing", number=missing, total=len(keys))
    return {chunk: Row(key, key in have) for chunk, key in keys.items()}


def pack_rows(rows: Rows) -> bytes:
    """Return the bytes of an index's rows."""
    return b"".join(_ROW.pack(chunk, row.key, row.has_vector) for chunk, row in rows.items())


def read_rows(path: Path) -> Rows:
    """Return the rows of a published index, whose files were checked."""
    return {chunk: Row(key, has) for chunk, key, has in _ROW.iter_unpack(path.read_bytes())}


def change_between(old: Rows, new: Rows) -> Change:
    """Return what has to be done to an index with the old rows."""
    return Change(
        tuple(chunk for chunk, row in old.items() if new.get(chunk) != row),
        tuple(chunk for chunk, row in new.items() if old.get(chunk) != row),
    )
