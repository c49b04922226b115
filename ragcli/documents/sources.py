"""Which files are meant by paths, folders and patterns, and reading one of them safely.

Every name that isn't taken is listed with its reason. Nothing but a regular file is ever opened to the end: a
pipe or a device would wait or never stop. Nothing here looks into a file's text.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from tomllib import loads

from ragcli.errors import SourceUnreadable, UsageError

_SPECIAL = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: the folder that was named, its name below that with `/`, and where it is."""

    root: Path
    file: str
    path: Path


@dataclass(frozen=True, slots=True)
class Skipped:
    """A name that isn't read, escaped for showing, and whether that changes the exit code."""

    file: str
    kind: str
    path: Path
    fields: Mapping[str, object] = field(default_factory=dict)
    counts_as_failure: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What some paths stand for."""

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def find_sources(paths: Sequence[str], include: Sequence[str], max_bytes: int) -> Found:
    """List the files that paths, folders and patterns stand for, each file once, in the order of their names.

    Raises:
        UsageError: `no_such_path`, for a path that isn't there and a pattern that nothing matches.

    """
    walk = _Walk(tuple(include), max_bytes)
    for name in paths:
        for path in _expand(name):
            if path.is_dir():
                walk.folder(path.resolve(), path.resolve(), ())
            else:
                walk.named_file(path)
    return Found(tuple(walk.sources), tuple(walk.skipped))


def _expand(name: str) -> list[Path]:
    if os.path.lexists(name):
        return [Path(name)]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    if not matches:
        raise UsageError("no_such_path", path=shown(name))
    return [Path(match) for match in matches]


class _Walk:
    """One search: what was taken, what was left out, and which files were met already."""

    def __init__(self, include: tuple[str, ...], max_bytes: int) -> None:
        self.include = include
        self.max_bytes = max_bytes
        self.sources: list[Source] = []
        self.skipped: list[Skipped] = []
        self.met: set[tuple[int, int]] = set()

    def skip(self, name: str, kind: str, path: Path, *, fails: bool = True, **fields: object) -> None:
        self.skipped.append(Skipped(shown(name), kind, path, fields, fails))

    def named_file(self, path: Path) -> None:
        """Take a file that was named itself: whatever its ending, and wherever a link leads."""
        try:
            info = os.stat(path)
        except OSError as err:
            self.skip(str(path), _kind_of(err, is_link=path.is_symlink()), path)
            return
        whole = Path(os.path.abspath(path))
        self._take(whole.parent, whole.name, whole, info)

    def folder(self, root: Path, folder: Path, above: tuple[tuple[int, int], ...]) -> None:
        """Take what a folder holds; `above` are the folders that lead to it."""
        try:
            info = os.stat(folder)
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as err:
            self.skip(_relative(root, folder) or str(folder), _kind_of(err), folder)
            return
        trail = (*above, (info.st_dev, info.st_ino))
        for entry in entries:
            self._entry(root, entry, trail)

    def _entry(self, root: Path, entry: os.DirEntry[str], trail: tuple[tuple[int, int], ...]) -> None:
        path = Path(entry.path)
        name = _relative(root, path)
        try:
            info = entry.stat()
        except OSError as err:
            self._unreachable(name, path, err, is_link=entry.is_symlink())
            return
        if entry.is_symlink() and not _stays_below(path, root):
            self.skip(name, "link_leaves_folder", path)
        elif stat.S_ISDIR(info.st_mode):
            if (info.st_dev, info.st_ino) in trail:
                self.skip(name, "link_loop", path)
            elif not entry.name.startswith("."):
                self.folder(root, path, trail)
        elif any(fnmatchcase(entry.name, pattern) for pattern in self.include):
            self._take(root, name, path, info)
        elif not entry.name.startswith(".") and stat.S_ISREG(info.st_mode):
            self._other_type(name, path)

    def _unreachable(self, name: str, path: Path, err: OSError, *, is_link: bool) -> None:
        self.skip(name, _kind_of(err, is_link=is_link), path)

    def _take(self, root: Path, name: str, path: Path, info: os.stat_result) -> None:
        special = next((kind for test, kind in _SPECIAL if test(info.st_mode)), "")
        if special:
            self.skip(name, special, path)
        elif not _encodable(name):
            self.skip(name, "name_not_text", path)
        elif info.st_size > self.max_bytes:
            self.skip(name, "too_large", path, mb=-(-info.st_size // 2**20), limit_mb=self.max_bytes // 2**20)
        elif not os.access(path, os.R_OK):
            self.skip(name, "unreadable", path)
        elif (info.st_dev, info.st_ino) not in self.met:
            self.met.add((info.st_dev, info.st_ino))
            self.sources.append(Source(root, name, path))

    def _other_type(self, name: str, path: Path) -> None:
        command = _commands().get(path.suffix.lower().lstrip("."), "")
        if command:
            stem = shown(path.stem)
            self.skip(
                name,
                "convert_first",
                path,
                fails=False,
                command=command.format(name=shown(path.name), stem=stem),
            )
        else:
            self.skip(name, "other_type", path, fails=False, ending=shown(path.suffix) or "-")


@cache
def _commands() -> dict[str, str]:
    """Return the command that makes a text file of each other type."""
    text = files("ragcli.documents").joinpath("data/convert.toml").read_text("utf-8")
    table = loads(text)["commands"]
    return {ending: row["run"] for row in table for ending in row["endings"]}


def _kind_of(err: OSError, *, is_link: bool = False) -> str:
    if err.errno == errno.ELOOP:
        return "link_loop"
    if err.errno == errno.ENOENT:
        return "broken_link" if is_link else "vanished"
    return "unreadable"


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path != root else ""


def _stays_below(path: Path, root: Path) -> bool:
    """Say whether a link leads to something below the folder, and not to the folder or above it."""
    place = Path(os.path.realpath(path))
    return root in place.parents or place == root


def _encodable(name: str) -> bool:
    return name.isprintable() or not any(0xD800 <= ord(char) < 0xE000 for char in name)


def shown(name: str) -> str:
    r"""Return a file's name as it can be shown: what isn't text or steers a terminal as its code.

    >>> shown("a\x1b[31m.txt")
    'a\\x1b[31m.txt'
    """
    out = []
    for char in name:
        code = ord(char)
        if 0xDC80 <= code < 0xDD00:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif char.isprintable() or char == " ":
            out.append(char)
        else:
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
    return "".join(out)


def read_source(path: Path, max_bytes: int) -> bytes:
    """Return a file's bytes; only a regular file is read, and never more than the limit.

    Raises:
        SourceUnreadable: `vanished`, `unreadable`, `not_a_file` or `too_large`.

    """
    name = shown(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        raise SourceUnreadable(_kind_of(err), path=name, reason=err.strerror or "") from err
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise SourceUnreadable("not_a_file", path=name)
        data = b"".join(_pieces(descriptor, max_bytes + 1))
    except OSError as err:
        raise SourceUnreadable("unreadable", path=name, reason=err.strerror or "") from err
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        size = max(info.st_size, len(data))
        raise SourceUnreadable("too_large", path=name, mb=-(-size // 2**20), limit_mb=max_bytes // 2**20)
    return data


def _pieces(descriptor: int, limit: int) -> Iterator[bytes]:
    while limit > 0 and (piece := os.read(descriptor, min(limit, 2**20))):
        limit -= len(piece)
        yield piece
