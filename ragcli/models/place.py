"""Say where a model lies and whether it is whole: by a registry name, by the name of an added file, or by a path.

It only looks: nothing is fetched, nothing is mended, and no network is reached for.
"""

from __future__ import annotations

import json
from pathlib import Path

from ragcli.errors import ModelUnusable
from ragcli.models.gguf_check import check_gguf, split_files
from ragcli.models.registry import ModelEntry, Registry
from ragcli.models.remembered import Remembered

# In the embedding model's folder: its form for single queries, and the sha256 of every file as they were made.
QUERY_FILE = "query.safetensors"
MANIFEST = "files.json"


def is_path(name: str) -> bool:
    """Return whether a value is meant as a path rather than as a model's name."""
    return "/" in name or "\\" in name or name.startswith(("~", ".")) or name.casefold().endswith(".gguf")


def find_model(name: str, role: str, registry: Registry, known: Remembered) -> Path:
    """Return the file or folder of a model, checked for a role (empty: whichever it has).

    Raises ModelUnusable where it is missing, not whole, or not meant for the role.
    """
    entry = registry.find(name)
    if entry:
        return _of_registry(entry, role, known)
    added = known.models_dir / f"{name}.gguf"
    if is_path(name):
        return _of_path(Path(name).expanduser(), role)
    if added.is_file() and added.parent == known.models_dir:
        return _of_path(added, role)
    raise ModelUnusable("model_unknown", name=name, nearest=registry.nearest(name))


def _of_registry(entry: ModelEntry, role: str, known: Remembered) -> Path:
    place = known.models_dir / entry.place
    if role and role not in entry.roles:
        raise ModelUnusable("model_wrong_role", name=entry.name, role=role, roles=", ".join(entry.roles))
    if not is_here(entry, known.models_dir):
        raise ModelUnusable("model_missing", name=entry.name, path=place)
    fault = fault_of(entry, known)
    if fault:
        raise ModelUnusable("model_altered", name=entry.name, path=fault)
    return place / QUERY_FILE if entry.form == "e5" and role == "query" else place


def is_here(entry: ModelEntry, models_dir: Path) -> bool:
    """Return whether a model's files are all in place."""
    if entry.form == "e5":
        return (models_dir / entry.place / MANIFEST).is_file()
    return all((models_dir / item.file).is_file() for item in entry.files)


def fault_of(entry: ModelEntry, known: Remembered, *, anew: bool = False) -> Path | None:
    """Return the first file of a model that isn't what it should be; None where all are."""
    for path, sha256 in _due(entry, known.models_dir).items():
        if not path.is_file() or known.sha256(path, anew=anew) != sha256:
            return path
    return None


def _due(entry: ModelEntry, models_dir: Path) -> dict[Path, str]:
    if entry.form != "e5":
        return {models_dir / item.file: item.sha256 for item in entry.files}
    folder = models_dir / entry.place
    try:
        made = json.loads((folder / MANIFEST).read_bytes())
        # A folder that an earlier version made lacks the form; it is made anew by the next pull.
        if made["made_from"] == entry.sha256 and QUERY_FILE in made["files"]:
            return {folder / str(name): str(sha256) for name, sha256 in made["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return {folder / MANIFEST: entry.sha256}


def _of_path(path: Path, role: str) -> Path:
    if not path.exists():
        raise ModelUnusable("model_file_missing", path=path)
    if path.is_dir() and role in ("", "embedding", "query"):
        return path
    files = split_files(path)
    for one in files:
        if not one.exists():
            raise ModelUnusable("model_file_missing", path=one)
        check_gguf(one)
    return files[0]
