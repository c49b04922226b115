"""Remember the sha256 of files that didn't change: path, size, time and inode stand for the bytes.

A file of a gigabyte is hashed once, not at every command. The record only saves work: where it is missing, broken
or can't be written, files are hashed again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import ModelUnusable, StorageFailed
from ragcli.models.disk import Disk
from ragcli.models.join import sha256_of

RECORD = "verified.json"


@dataclass(frozen=True, slots=True)
class Remembered:
    """The hashes that are known in one models' folder."""

    models_dir: Path
    disk: Disk

    def sha256(self, path: Path, *, anew: bool = False) -> str:
        """Return a file's sha256, computed only where the file isn't the one remembered."""
        place = path.resolve()
        known = self._read()
        try:
            facts = _facts(place)
            entry = known.get(str(place))
            if entry and entry[:-1] == facts and not anew:
                return str(entry[-1])
            digest = sha256_of(place)
        except OSError as err:
            raise ModelUnusable("model_unreadable", path=path, reason=err.strerror or str(err)) from err
        self._write(
            {
                **{name: value for name, value in known.items() if Path(name).exists()},
                str(place): [*facts, digest],
            }
        )
        return digest

    def _read(self) -> dict[str, list[object]]:
        try:
            known = json.loads((self.models_dir / RECORD).read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(known, dict):
            return {}
        return {name: entry for name, entry in known.items() if isinstance(entry, list) and len(entry) == 4}

    def _write(self, known: dict[str, list[object]]) -> None:
        try:
            self.disk.make_dir(self.models_dir)
            self.disk.write_atomic(self.models_dir / RECORD, json.dumps(known, indent=0).encode())
        except StorageFailed:
            return  # a folder that can't be written to: the next command hashes again


def _facts(path: Path) -> list[object]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]
