"""The vector cache: bytes by key, so that nothing that was computed once is computed again.

The key is made by `vector_key` from everything that changes a vector; a row carries its checksum. Vectors
are little-endian float32 as the embedder gave them.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence

from ragcli.errors import Damaged
from ragcli.storage.database import database_errors, transaction
from ragcli.storage.store import Store

_PART = 500


def vector_key(identity: Mapping[str, str], text: str) -> bytes:
    """Return the cache key of a text under an embedder's identity (model, file hash, precision, prefix …)."""
    head = json.dumps(dict(identity), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{len(head)}\x00{head}{text}".encode("utf-8", "surrogatepass")).digest()[:20]


def present(store: Store, keys: Sequence[bytes]) -> set[bytes]:
    """Return which of the keys have a vector."""
    found: set[bytes] = set()
    with database_errors(store.path):
        for start in range(0, len(keys), _PART):
            part = keys[start : start + _PART]
            marks = ",".join("?" * len(part))
            found.update(
                row[0]
                for row in store.connection.execute(f"SELECT key FROM vectors WHERE key IN ({marks})", part)  # noqa: S608
            )
    return found


def load(store: Store, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the vectors of the keys that have one, each checked."""
    found: dict[bytes, bytes] = {}
    with database_errors(store.path):
        for start in range(0, len(keys), _PART):
            part = keys[start : start + _PART]
            marks = ",".join("?" * len(part))
            for row in store.connection.execute(
                f"SELECT key, vector, crc32 FROM vectors WHERE key IN ({marks})",  # noqa: S608
                part,
            ):
                if zlib.crc32(row["vector"]) != row["crc32"]:
                    raise Damaged("damaged_vector", path=store.path, key=row["key"].hex())
                found[row["key"]] = row["vector"]
    return found


def save(store: Store, vectors: Mapping[bytes, bytes]) -> None:
    """Commit a batch of vectors; from here on they outlive any kill."""
    with transaction(store.connection, store.path):
        store.connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(key, vector, zlib.crc32(vector)) for key, vector in vectors.items()],
        )
        store.connection.executemany("DELETE FROM failures WHERE key = ?", [(key,) for key in vectors])


def save_failures(store: Store, failures: Mapping[bytes, tuple[int, str]]) -> None:
    """Record texts that could not be embedded: key → (chunk id, reason)."""
    with transaction(store.connection, store.path):
        store.connection.executemany(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, ?)",
            [(key, chunk_id, reason) for key, (chunk_id, reason) in failures.items()],
        )


def failures(store: Store) -> dict[bytes, tuple[int, str]]:
    """Return the recorded failures: key → (chunk id, reason)."""
    with database_errors(store.path):
        rows = store.connection.execute("SELECT key, chunk, reason FROM failures").fetchall()
    return {row["key"]: (row["chunk"], row["reason"]) for row in rows}


def drop_unused(store: Store, used: set[bytes]) -> int:
    """Drop the vectors that nothing in `used` needs; return how many went."""
    with database_errors(store.path):
        unused = [row[0] for row in store.connection.execute("SELECT key FROM vectors") if row[0] not in used]
    with transaction(store.connection, store.path):
        store.connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in unused])
    return len(unused)
