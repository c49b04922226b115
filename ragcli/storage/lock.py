"""One writer at a time, by flock: the lock dies with its holder, so a killed one blocks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragcli.errors import Locked
from ragcli.storage.files import make_dir, storage_errors


@contextmanager
def writer_lock(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock file `path`, waiting up to `wait` seconds for another writer to end."""
    # filelock takes flock(2) on Linux and macOS; the file itself stays and means nothing.
    from filelock import FileLock, Timeout

    make_dir(path.parent)
    lock = FileLock(path, timeout=wait)
    with storage_errors(path):
        try:
            lock.acquire()
        except Timeout as err:
            raise Locked("locked", path=path.parent, wait=wait) from err
    try:
        yield
    finally:
        lock.release()
