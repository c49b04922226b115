"""The source of truth: which files are in the base, and their chunks. One transaction a file.

A chunk's text is checked against its hash whenever it is read: SQLite itself does not notice a flipped bit.
`state` names the set of chunks that is stored now, whatever the order in which they came; the index carries
the state that it was made from, so a stale one is noticed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.datatypes import Chunk, Json, StoredChunk
from ragcli.errors import Damaged
from ragcli.storage.database import database_errors, open_database, transaction

MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY, root TEXT NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
        encoding TEXT NOT NULL, title TEXT NOT NULL, split TEXT NOT NULL, lines INTEGER NOT NULL,
        notes TEXT NOT NULL, terms TEXT NOT NULL, UNIQUE (root, file));
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL, heading_path TEXT NOT NULL, kind TEXT NOT NULL, header TEXT NOT NULL, body TEXT NOT NULL,
        embed_text TEXT, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
        char_start INTEGER NOT NULL, char_end INTEGER NOT NULL, sha256 BLOB NOT NULL);
    CREATE INDEX chunks_of_document ON chunks (document, ordinal);
    CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, crc32 INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE failures (key BLOB PRIMARY KEY, chunk INTEGER NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
    """,
    # Which vector is a chunk's under the identity that was used last: no text is read to find what is missing.
    """
    CREATE TABLE vector_keys (
        chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE, identity BLOB NOT NULL, key BLOB NOT NULL);
    """,
)
_COLUMNS = "c.*, d.file, d.title"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A file of the base as it was last read."""

    root: str
    file: str
    sha256: str
    size: int
    encoding: str
    title: str
    split: str
    lines: int
    notes: list[Json]
    terms: list[Json]
    chunks: int = 0


class Store:
    """The open `store.sqlite`. Reading needs no lock; writers hold the base's writer lock."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self.connection = open_database(path, MIGRATIONS, create=create)
        self.connection.execute("PRAGMA foreign_keys = ON")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def compact(self) -> None:
        """Give the space of what was dropped back to the disk."""
        with database_errors(self.path):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # ------------------------------------------------------------ documents

    def documents(self, root: str | None = None) -> list[StoredDocument]:
        """Return the files of the base (of one ingested folder), by name."""
        where = "WHERE d.root = ?" if root is not None else ""
        rows = self._rows(
            f"SELECT d.*, (SELECT count(*) FROM chunks c WHERE c.document = d.id) AS chunks FROM documents d {where} "  # noqa: S608
            "ORDER BY d.file, d.root",
            (root,) if root is not None else (),
        )
        return [
            StoredDocument(
                row["root"], row["file"], row["sha256"], row["bytes"], row["encoding"], row["title"], row["split"],
                row["lines"], json.loads(row["notes"]), json.loads(row["terms"]), row["chunks"],
            )
            for row in rows
        ]  # fmt: skip

    def put_document(self, document: StoredDocument, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """Replace a file and its chunks in one transaction; return how many chunks came and went.

        Chunks whose id stays are not counted. An id that another file holds (the same folder layout and the
        same text twice) is moved on to the next free number, so that both can be cited.
        """
        with transaction(self.connection, self.path):
            old = self._drop(document.root, document.file)
            cursor = self.connection.execute(
                "INSERT INTO documents (root, file, sha256, bytes, encoding, title, split, lines, notes, terms) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    document.root, document.file, document.sha256, document.size, document.encoding, document.title,
                    document.split, document.lines, json.dumps(document.notes, ensure_ascii=False),
                    json.dumps(document.terms, ensure_ascii=False),
                ),
            )  # fmt: skip
            new = {
                self._put_chunk(cursor.lastrowid or 0, ordinal, chunk) for ordinal, chunk in enumerate(chunks)
            }
        return len(new - old), len(old - new)

    def drop_document(self, root: str, file: str) -> int:
        """Take a file out of the base; return how many chunks went with it."""
        with transaction(self.connection, self.path):
            return len(self._drop(root, file))

    def _drop(self, root: str, file: str) -> set[int]:
        rows = self.connection.execute(
            "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.root = ? AND d.file = ?",
            (root, file),
        ).fetchall()
        self.connection.execute("DELETE FROM documents WHERE root = ? AND file = ?", (root, file))
        return {row["id"] for row in rows}

    def _put_chunk(self, document: int, ordinal: int, chunk: Chunk) -> int:
        chunk_id = chunk.chunk_id
        while self.connection.execute("SELECT 1 FROM chunks WHERE id = ?", (chunk_id,)).fetchone():
            chunk_id = (chunk_id + 1) % 2**60
        self.connection.execute(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chunk_id, document, ordinal, json.dumps(chunk.heading_path, ensure_ascii=False), chunk.kind, chunk.header,
                chunk.body, chunk.embed_text, chunk.line_start, chunk.line_end, chunk.char_start, chunk.char_end,
                _digest(chunk.header, chunk.body),
            ),
        )  # fmt: skip
        return chunk_id

    # ------------------------------------------------------------ chunks

    def count_chunks(self) -> int:
        """Return how many chunks are stored."""
        return int(self._rows("SELECT count(*) AS n FROM chunks")[0]["n"])

    def fetch(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order of their ids, each checked; an id that is gone is left out."""
        found: dict[int, StoredChunk] = {}
        for start in range(0, len(chunk_ids), 500):
            part = list(chunk_ids[start : start + 500])
            marks = ",".join("?" * len(part))
            for row in self._rows(
                f"SELECT {_COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id IN ({marks})",  # noqa: S608
                part,
            ):
                found[row["id"]] = self._checked(row)
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def all_chunks(self) -> Iterator[StoredChunk]:
        """Yield every chunk, by id, each checked."""
        with database_errors(self.path):
            for row in self.connection.execute(
                f"SELECT {_COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document ORDER BY c.id"  # noqa: S608
            ):
                yield self._checked(row)

    def chunks_of(self, root: str, file: str) -> list[StoredChunk]:
        """Return a file's chunks in the order of the file."""
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document WHERE d.root = ? AND d.file = ? "  # noqa: S608
            "ORDER BY c.ordinal",
            (root, file),
        )
        return [self._checked(row) for row in rows]

    def state(self) -> str:
        """Return the name of the set of chunks that is stored: their number and the sum of their ids."""
        # In halves: a sum of 60-bit numbers doesn't fit SQLite's integers.
        number, high, low = self._rows("SELECT count(*), sum(id >> 32), sum(id & 4294967295) FROM chunks")[0]
        return f"{number}-{(((high or 0) << 32) + (low or 0)) % 2**64:016x}"

    def _checked(self, row: sqlite3.Row) -> StoredChunk:
        if _digest(row["header"], row["body"]) != row["sha256"]:
            raise Damaged("damaged_chunk", path=self.path, file=row["file"], line=row["line_start"])
        chunk = Chunk(
            row["id"], tuple(json.loads(row["heading_path"])), row["kind"], row["body"], row["line_start"],
            row["line_end"], row["char_start"], row["char_end"], row["header"], row["embed_text"],
        )  # fmt: skip
        return StoredChunk(chunk, row["file"], row["title"])

    def _rows(self, sql: str, values: Iterable[object] = ()) -> list[sqlite3.Row]:
        with database_errors(self.path):
            return self.connection.execute(sql, tuple(values)).fetchall()


def _digest(header: str, body: str) -> bytes:
    # A lone surrogate can't reach the store, but a hash must not be what finds that out.
    return hashlib.sha256(f"{len(header)}\x00{header}{body}".encode("utf-8", "surrogatepass")).digest()[:16]
