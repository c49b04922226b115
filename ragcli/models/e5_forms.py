"""Make both forms of the embedding model from its pack, in one folder that is published by one rename."""

from __future__ import annotations

import json
import mmap
from pathlib import Path

from ragcli.models.disk import Disk
from ragcli.models.e5_folder import write_folder
from ragcli.models.e5_pack import parse
from ragcli.models.e5_query import write_query_form
from ragcli.models.join import sha256_of
from ragcli.models.place import MANIFEST, QUERY_FILE
from ragcli.models.registry import ModelEntry

# What both forms take together: 16-bit weights, tokenizer, and the layers once more in 32 bits.
EXTRA_BYTES = 350_000_000


def make_forms(entry: ModelEntry, packed: Path, place: Path, disk: Disk) -> None:
    """Write the folder `place` from the checked file `packed`; a folder that is there already is replaced."""
    temp = disk.temp_beside(place)
    disk.make_dir(temp)
    try:
        with packed.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            pack = parse(data, packed)
            write_folder(pack, temp, disk)
            write_query_form(pack, temp / QUERY_FILE, disk)
            del pack  # its arrays look into the map, which can't be closed under them
        made = {
            str(path.relative_to(temp)): sha256_of(path) for path in sorted(temp.rglob("*")) if path.is_file()
        }
        disk.write_atomic(
            temp / MANIFEST, json.dumps({"made_from": entry.sha256, "files": made}, indent=1).encode()
        )
        if place.exists():
            disk.remove(place)
        disk.publish(temp, place)
    except BaseException:
        disk.remove(temp)
        raise
