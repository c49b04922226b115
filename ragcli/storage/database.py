"""Open a SQLite file: journal mode, schema by numbered steps, and SQLite's errors turned into ours.

Two files share this: `store.sqlite` (documents, chunks, vectors) and `sessions.sqlite` (conversations,
private to their owner). Both are in WAL mode: readers never wait for the writer.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ragcli.errors import Damaged, NotReady, StorageFailed
from ragcli.storage.files import free_bytes, make_dir

Migrations = Sequence[str]


def open_database(
    path: Path, migrations: Migrations, *, create: bool = False, private: bool = False
) -> sqlite3.Connection:
    """Open the file, bringing its schema up to the newest step; a newer schema than ours is refused.

    Without `create` a missing file is `NotReady`. Where the folder can't be written to, the file is opened
    read-only, which is enough to search and to show.
    """
    if not path.exists():
        if not create:
            raise NotReady("no_base", path=path.parent.parent)
        make_dir(path.parent)
    with database_errors(path):
        writable = os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
        connection = _connect(path, writable)
        try:
            if writable:
                if private or not path.exists():
                    os.chmod(path, 0o600 if private else 0o644)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
            _migrate(connection, path, migrations, writable)
        except BaseException:
            connection.close()
            raise
    return connection


def _connect(path: Path, writable: bool) -> sqlite3.Connection:
    # A WAL file can be read without its -shm beside it only when SQLite is told that nobody writes.
    mode = "rwc" if writable else "ro&immutable=1"
    address = f"file:{path.absolute().as_posix().replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations, writable: bool) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise Damaged("newer_format", path=path, found=version, known=len(migrations))
    for number, script in enumerate(migrations[version:], version + 1):
        if not writable:
            raise StorageFailed("cannot_write", path=path, reason="read-only")
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's refusals into ours: damage, a full disk, or another process that holds the file."""
    try:
        yield
    except sqlite3.OperationalError as err:
        text = str(err)
        if "full" in text:
            raise StorageFailed("disk_full", path=path, free_mb=free_bytes(path) // 2**20) from err
        if "malformed" in text:
            raise Damaged("damaged_store", path=path, reason=text) from err
        raise StorageFailed("cannot_write", path=path, reason=text) from err
    except sqlite3.DatabaseError as err:
        raise Damaged("damaged_store", path=path, reason=str(err)) from err


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Commit everything that happens inside, or nothing of it."""
    with database_errors(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
