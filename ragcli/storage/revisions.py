"""Published states of the index: write beside, checksum, publish by one rename, open what is whole.

A revision is a folder `rev-000042` that never changes once it has its name; the highest number is the
current one. Its manifest names every file with size and SHA-256, what it was made from, and carries a
digest of itself. A reader keeps the revision that it opened: the one before the current stays on the disk.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragcli.datatypes import Json
from ragcli.errors import Damaged, NotReady
from ragcli.storage.files import make_dir, publish, remove, sweep, temp_beside, write_atomic

FORMAT = 1
_MANIFEST = "manifest.json"
_VERIFIED = "verified.json"


@dataclass(frozen=True, slots=True)
class Revision:
    """A published revision: its folder, number and manifest."""

    folder: Path
    number: int
    manifest: Json


def begin_revision(index: Path) -> Path:
    """Return a fresh folder to write the next revision's files into; leftovers of killed runs go first."""
    make_dir(index)
    sweep(index)
    folder = temp_beside(index / "revision")
    make_dir(folder)
    return folder


def publish_revision(index: Path, folder: Path, facts: Mapping[str, object]) -> Revision:
    """Checksum what was written, add the manifest, and publish the folder by one rename."""
    number = max([0, *_numbers(index)]) + 1
    body: Json = {"format": FORMAT, **facts, "files": _checksums(folder)}
    body["digest"] = _digest(body)
    write_atomic(folder / _MANIFEST, json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode())
    place = index / f"rev-{number:06d}"
    publish(folder, place)
    for old in _numbers(index):
        if old < number - 1:
            remove(index / f"rev-{old:06d}")
    return Revision(place, number, body)


def current_revision(index: Path) -> Revision:
    """Return the newest published revision, its manifest checked but not yet its files."""
    numbers = _numbers(index)
    if not numbers:
        raise NotReady("no_index", path=index.parent.parent)
    folder = index / f"rev-{max(numbers):06d}"
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        digest = manifest.pop("digest")
        whole = digest == _digest(manifest)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as err:
        raise Damaged("damaged_index", path=folder / _MANIFEST) from err
    if not whole:
        raise Damaged("damaged_index", path=folder / _MANIFEST)
    if manifest["format"] > FORMAT:
        raise Damaged("newer_format", path=folder, found=manifest["format"], known=FORMAT)
    return Revision(folder, max(numbers), {**manifest, "digest": digest})


def verify_revision(revision: Revision, *, again: bool = False) -> None:
    """Check every file against the manifest before any parser sees it.

    A file is hashed once for its path, size, times and inode; `again` hashes it whatever is remembered.
    """
    remembered = {} if again else _read_verified(revision.folder.parent)
    seen: dict[str, str] = {}
    for name, facts in revision.manifest["files"].items():
        path = revision.folder / name
        try:
            stat = path.stat()
        except OSError as err:
            raise Damaged("damaged_index", path=path) from err
        stamp = f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}:{facts['sha256']}"
        key = f"{revision.folder.name}/{name}"
        if stat.st_size != facts["bytes"] or (
            remembered.get(key) != stamp and _sha256(path) != facts["sha256"]
        ):
            raise Damaged("damaged_index", path=path)
        seen[key] = stamp
    if seen != remembered and os.access(revision.folder.parent, os.W_OK):
        write_atomic(revision.folder.parent / _VERIFIED, json.dumps(seen).encode())


def _read_verified(index: Path) -> dict[str, str]:
    try:
        value = json.loads((index / _VERIFIED).read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _numbers(index: Path) -> list[int]:
    names = [child.name for child in index.iterdir()] if index.is_dir() else []
    return sorted(int(name[4:]) for name in names if name.startswith("rev-") and name[4:].isdigit())


def _checksums(folder: Path) -> dict[str, dict[str, object]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": _sha256(path)}
        for path in files
    }


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
