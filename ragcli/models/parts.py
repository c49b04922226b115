"""Open a part's bytes: out of a wheel, fetched or found in a folder, or from a plain file in that folder.

It finds and opens; whether the bytes are right is decided where they are joined.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from ragcli.errors import ModelUnusable
from ragcli.models.disk import Disk
from ragcli.models.packages import download_wheel
from ragcli.models.registry import ModelFile, Part


@contextmanager
def from_registry(part: Part, models_dir: Path, disk: Disk) -> Iterator[BinaryIO]:
    """Download a part's wheel beside the models, open its member, and throw the wheel away afterwards."""
    folder = disk.temp_beside(models_dir / "wheel")
    disk.make_dir(folder)
    try:
        with _member(download_wheel(part, folder), part) as stream:
            yield stream
    finally:
        disk.remove(folder)


@contextmanager
def from_folder(part: Part, folder: Path) -> Iterator[BinaryIO]:
    """Open a part that lies in a folder, as its wheel or as the bare member."""
    wheel = find_wheel(part, folder)
    if wheel:
        with _member(wheel, part) as stream:
            yield stream
        return
    bare = folder / part.package / PurePosixPath(part.member).name
    for path in (bare, folder / PurePosixPath(part.member).name):
        if path.is_file() and path.stat().st_size == part.bytes:
            with path.open("rb") as file:
                yield file
            return
    raise ModelUnusable("part_missing", folder=folder, package=part.package, version=part.version)


def find_wheel(part: Part, folder: Path) -> Path | None:
    """Return a part's wheel in a folder: names compare as package names do, the platform tag is free."""
    wanted = (_normal(part.package), part.version)
    for path in sorted(folder.glob("*.whl")):
        name, version, *_ = [*path.name.split("-"), ""]
        if (_normal(name), version) == wanted:
            return path
    return None


def find_whole(item: ModelFile, folder: Path) -> Path | None:
    """Return a whole file of this name and size that lies in a folder."""
    path = folder / item.file
    if path.is_file() and item.bytes in (0, path.stat().st_size):
        return path
    return None


@contextmanager
def _member(wheel: Path, part: Part) -> Iterator[BinaryIO]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as stream:
            yield cast(BinaryIO, stream)
    # zipfile raises NotImplementedError for a member packed in a way that it doesn't know.
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError) as err:
        raise ModelUnusable("part_corrupt", path=wheel, reason=str(err)) from err


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
