"""Keep evaluated states beside a base, within a size: the least recently used ones leave first.

What a state is and whether it is sound is for its reader to check; whatever is lost here costs time only, so
nothing here ever fails a command.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path

from ragcli.errors import RagcliError
from ragcli.storage.files import make_dir, mark_used, remove, sweep, write_atomic
from ragcli.storage.lock import writer_lock

PASSAGE = "passage-"
_ENDING = ".state"
_WAIT = 2.0
_IN_MEMORY = 128 * 2**20


class StateFiles:
    """The states in a folder; a few of the last used ones stay in memory too."""

    def __init__(self, folder: Path, max_bytes: int, in_memory: int = _IN_MEMORY) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        self.protected: Collection[str] = frozenset()
        self._recent: OrderedDict[str, bytes] = OrderedDict()
        self._in_memory = in_memory

    def get(self, name: str) -> bytes | None:
        """Return a state as it was put, or None; it counts as used now."""
        if name in self._recent:
            self._recent.move_to_end(name)
            return self._recent[name]
        path = self._path(name)
        try:
            data = path.read_bytes()
            mark_used(path)
        except (OSError, RagcliError):
            return None
        self._remember(name, data)
        return data

    def has(self, name: str) -> bool:
        """Tell whether a state lies on the disk."""
        return self._path(name).is_file()

    def put(self, name: str, data: bytes) -> bool:
        """Keep a state; False where it doesn't fit, or where the disk refuses it."""
        self._remember(name, data)
        try:
            make_dir(self.folder)
            with writer_lock(self.folder / "states.lock", _WAIT):
                sweep(self.folder)
                if not self._make_room(len(data)):
                    return False
                write_atomic(self._path(name), data, mode=0o600)
        except RagcliError:
            return False
        return True

    def names(self) -> set[str]:
        """Return the names of all states on the disk."""
        return {path.name.removesuffix(_ENDING) for path, _, _ in self._files()}

    def fixed_names(self) -> set[str]:
        """Return the names of the states that are not a passage's."""
        return {name for name in self.names() if not name.startswith(PASSAGE)}

    def size(self) -> int:
        """Return the bytes that the states take on the disk."""
        return sum(size for _, size, _ in self._files())

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_ENDING}"

    def _files(self) -> Iterator[tuple[Path, int, float]]:
        for path in self.folder.glob(f"*{_ENDING}"):
            try:
                facts = path.stat()
            except OSError:
                continue  # another process has just removed it
            yield path, facts.st_size, facts.st_mtime

    def _make_room(self, size: int) -> bool:
        """Remove the least recently used states, passages before fixed parts; False where that isn't enough."""
        files = list(self._files())
        left = self.max_bytes - size - sum(taken for _, taken, _ in files)
        for path, taken, _ in sorted(files, key=lambda item: (not item[0].name.startswith(PASSAGE), item[2])):
            if left >= 0:
                break
            if path.name.removesuffix(_ENDING) not in self.protected:
                remove(path)
                left += taken
        return left >= 0

    def _remember(self, name: str, data: bytes) -> None:
        self._recent[name] = data
        self._recent.move_to_end(name)
        while sum(map(len, self._recent.values())) > self._in_memory:
            self._recent.popitem(last=False)
