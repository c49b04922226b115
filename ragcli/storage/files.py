"""Write, publish and remove files: the only code in ragcli that does.

Everything is written beside its place, flushed, and renamed into it, so that a reader sees the old file or
the new one and never half of one. What a killed run leaves behind carries `TEMP_MARK` and is swept away by
the next writer; it is never treated as an error.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragcli.errors import StorageFailed

TEMP_MARK = ".ragcli-tmp-"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into ours, naming the path and the free space."""
    try:
        yield
    except OSError as err:
        if err.errno in _FULL:
            raise StorageFailed("disk_full", path=path, free_mb=free_bytes(path) // 2**20) from err
        raise StorageFailed("cannot_write", path=path, reason=err.strerror or str(err)) from err


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk that holds `path` or its nearest existing parent."""
    for place in (path, *path.parents):
        if place.exists():
            return shutil.disk_usage(place).free
    return 0


def make_dir(path: Path, mode: int = 0o755) -> None:
    """Create a folder and its parents where they don't exist."""
    with storage_errors(path):
        path.mkdir(mode=mode, parents=True, exist_ok=True)


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Put `data` at `path` in one step that survives a power cut."""
    temp = temp_beside(path)
    with storage_errors(path):
        try:
            with open(temp, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            publish(temp, path)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise


def temp_beside(path: Path) -> Path:
    """Return a fresh name in the same folder, marked so that `sweep` finds it."""
    return path.with_name(f"{TEMP_MARK}{uuid.uuid4().hex}")


def publish(temp: Path, path: Path) -> None:
    """Flush what `temp` holds (a file or a whole folder) and rename it into place."""
    with storage_errors(path):
        sync_tree(temp)
        os.replace(temp, path)
        sync_dir(path.parent)


def sync_tree(path: Path) -> None:
    """Flush a file, or every file and folder below a folder, to the disk."""
    if path.is_dir():
        for child in sorted(path.iterdir()):
            sync_tree(child)
        sync_dir(path)
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_dir(path: Path) -> None:
    """Flush a folder's entries, so that a rename in it outlives a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def mark_used(path: Path) -> None:
    """Set a file's time to now: among files that are kept for speed, the longest unused leave first."""
    with storage_errors(path):
        os.utime(path)


@contextmanager
def appending(path: Path) -> Iterator[BinaryIO]:
    """Open a file to append to, creating it where it is missing; flushed to the disk at the end."""
    with storage_errors(path), open(path, "ab") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def truncate(path: Path, size: int) -> None:
    """Cut a file to its first `size` bytes: what follows was not committed."""
    with storage_errors(path), open(path, "r+b") as file:
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())


def link_files(source: Path, target: Path) -> None:
    """Make a folder that holds a folder's files under the same names, without copying them where the disk can.

    Only for files that are never written in place: what is renamed over one leaves the other as it was.
    """
    make_dir(target)
    with storage_errors(target):
        for path in sorted(source.iterdir()):
            try:
                os.link(path, target / path.name)
            except OSError as err:
                if err.errno in _FULL:
                    raise
                shutil.copyfile(path, target / path.name)


def remove(path: Path) -> None:
    """Take away a file or a folder; one that is gone already is fine."""
    with storage_errors(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def sweep(folder: Path) -> list[Path]:
    """Take away what killed runs left in a folder; return what was removed."""
    left = list(folder.glob(f"{TEMP_MARK}*")) if folder.is_dir() else []
    for path in left:
        remove(path)
    return left
