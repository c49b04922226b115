"""What this room needs of the disk, handed in by the pipeline: it writes no file by itself."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol


class Disk(Protocol):
    """The functions of the module that alone writes files."""

    def appending(self, path: Path) -> AbstractContextManager[BinaryIO]:
        """Open a file to append to, flushed to the disk at the end."""

    def free_bytes(self, path: Path) -> int:
        """Return the free bytes of the disk that holds a path."""

    def make_dir(self, path: Path) -> None:
        """Create a folder and its parents."""

    def publish(self, temp: Path, path: Path) -> None:
        """Flush a file or folder and rename it into place."""

    def remove(self, path: Path) -> None:
        """Take away a file or folder."""

    def temp_beside(self, path: Path) -> Path:
        """Return a fresh marked name in the same folder."""

    def truncate(self, path: Path, size: int) -> None:
        """Cut a file to its first bytes."""

    def write_atomic(self, path: Path, data: bytes) -> None:
        """Put data at a path in one step."""
