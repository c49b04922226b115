"""The vector cache: bytes by key, so that nothing that was computed once is computed again.

The key is made by `vector_key` from everything that changes a vector; a row carries its checksum. Vectors
are little-endian float32 as the embedder gave them. Each chunk's key is kept beside it, so that nothing has to be
read and hashed again to see that nothing changed.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence

from ragcli.errors import Damaged
from ragcli.storage.database import database_errors, transaction
from ragcli.storage.store import Store

_PART = 500


def vector_key(identity: Mapping[str, str], text: str) -> bytes:
    """Return the cache key of a text under an embedder's identity (model, file hash, precision, prefix …)."""
    head = json.dumps(dict(identity), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{len(head)}\x00{head}{text}".encode("utf-8", "surrogatepass")).digest()[:20]


def identity_digest(identity: Mapping[str, str]) -> bytes:
    """Return the short name of an embedder's identity that chunks' keys are kept under."""
    return vector_key(identity, "")[:8]


def unkeyed(store: Store, identity: Mapping[str, str]) -> list[int]:
    """Return the chunks whose key under an identity isn't kept, in the order of their ids."""
    sql = (
        "SELECT c.id FROM chunks c LEFT JOIN vector_keys k ON k.chunk = c.id AND k.identity = ? "
        "WHERE k.chunk IS NULL ORDER BY c.id"
    )
    with database_errors(store.path):
        return [row[0] for row in store.connection.execute(sql, (identity_digest(identity),))]


def save_keys(store: Store, identity: Mapping[str, str], keys: Mapping[int, bytes]) -> None:
    """Keep the keys of chunks under an identity."""
    digest = identity_digest(identity)
    with transaction(store.connection, store.path):
        store.connection.executemany(
            "INSERT OR REPLACE INTO vector_keys VALUES (?, ?, ?)",
            [(chunk, digest, key) for chunk, key in keys.items()],
        )


def kept_keys(store: Store, identity: Mapping[str, str]) -> dict[int, bytes]:
    """Return the keys that are kept under an identity by chunk, in the order of the chunks' ids."""
    sql = "SELECT chunk, key FROM vector_keys WHERE identity = ? ORDER BY chunk"
    with database_errors(store.path):
        return {row[0]: row[1] for row in store.connection.execute(sql, (identity_digest(identity),))}


def drop_keys(store: Store) -> None:
    """Forget every chunk's key."""
    with transaction(store.connection, store.path):
        store.connection.execute("DELETE FROM vector_keys")


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


def load(store: Store, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield (key, vector) of the keys that have one, each checked, a part of them in memory at a time."""
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
                yield row["key"], row["vector"]


def drop_damaged(store: Store) -> int:
    """Drop the vectors whose bytes aren't what was stored; return how many: they can be computed again."""
    with database_errors(store.path):
        rows = store.connection.execute("SELECT key, vector, crc32 FROM vectors")
        bad = [(row["key"],) for row in rows if zlib.crc32(row["vector"]) != row["crc32"]]
    with transaction(store.connection, store.path):
        store.connection.executemany("DELETE FROM vectors WHERE key = ?", bad)
    return len(bad)


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
