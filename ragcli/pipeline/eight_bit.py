"""The eight-bit form of an embedding model: made once beside the model, and checked before it is read."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ragcli.errors import ModelUnusable, RagcliError
from ragcli.pipeline.models import file_hash
from ragcli.storage.files import make_dir, publish, remove, temp_beside, write_atomic

PRECISION = "int8"
# Raised by one whenever the same weights come out as another form.
_VERSION = 1
_SUMS = "sums.json"


def library() -> str:
    """Return OpenVINO's version; empty where it isn't installed."""
    try:
        return version("openvino")
    except PackageNotFoundError:
        return ""


def eight_bit_form(folder: Path, models_dir: Path) -> Path:
    """Return where the eight-bit form of a model's folder lies, made there where it is missing or damaged.

    Raises ModelUnusable: `no_openvino`, `not_converted`.
    """
    if not library():
        raise ModelUnusable("no_openvino", precision=PRECISION)
    weights = file_hash(folder / "model.safetensors", models_dir)
    made_of = hashlib.sha256(f"{_VERSION} {library()} {weights}".encode()).hexdigest()[:16]
    place = folder / f"{PRECISION}-{made_of}"
    if not _whole(place, models_dir):
        _make(folder, place, models_dir)
    return place


def _make(folder: Path, place: Path, models_dir: Path) -> None:
    """Write the form beside its place and publish it; those of other versions go."""
    from ragcli.embedding.rounding import make_form

    temp = temp_beside(place)
    try:
        make_dir(temp)
        make_form(folder, temp)
        sums = {path.name: file_hash(path, models_dir) for path in sorted(temp.iterdir())}
        write_atomic(temp / _SUMS, json.dumps(sums).encode())
        for old in folder.glob(f"{PRECISION}-*"):
            remove(old)
        publish(temp, place)
    finally:
        remove(temp)


def _whole(place: Path, models_dir: Path) -> bool:
    try:
        sums = json.loads((place / _SUMS).read_bytes())
        return bool(sums) and all(file_hash(place / name, models_dir) == sums[name] for name in sums)
    except (OSError, ValueError, TypeError, AttributeError, RagcliError):
        return False
