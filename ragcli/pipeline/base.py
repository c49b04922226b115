"""A knowledge base: its folder, its settings, and where its parts lie. Opening one reads nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ragcli import config
from ragcli.config import Settings
from ragcli.errors import UsageError
from ragcli.storage.files import make_dir, write_atomic
from ragcli.storage.lock import writer_lock
from ragcli.storage.sessions import Sessions
from ragcli.storage.store import Store


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A base's folder with the settings that hold for this command."""

    folder: Path
    settings: Settings
    models_dir: Path

    @property
    def store_path(self) -> Path:
        """Where documents, chunks and vectors are."""
        return self.folder / "data" / "store.sqlite"

    @property
    def index_dir(self) -> Path:
        """Where the index revisions are."""
        return self.folder / "data" / "index"

    @property
    def aliases_path(self) -> Path:
        """The user's own names: canonical name, aliases, relations."""
        return self.folder / "aliases.toml"


def make_base(folder: Path) -> bool:
    """Make a knowledge base with a commented settings file; return False where there is one already."""
    if folder.exists() and not folder.is_dir():
        raise UsageError("not_a_folder", path=folder)
    if (folder / config.BASE_FILE).is_file():
        return False
    make_dir(folder)
    write_atomic(folder / config.BASE_FILE, config.default_file().encode())
    return True


def open_base(folder: Path, settings: Settings, environ: Mapping[str, str]) -> KnowledgeBase:
    """Return the base in a folder, or say that there is none."""
    return KnowledgeBase(config.require_base(folder), settings, config.models_dir(environ))


@contextmanager
def reading(base: KnowledgeBase) -> Iterator[Store]:
    """Open the store to read; a base that nothing was ingested into yet is made on the way."""
    store = Store(base.store_path, create=True)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def writing(base: KnowledgeBase, wait: float = 0.0) -> Iterator[Store]:
    """Open the store as its only writer."""
    with writer_lock(base.folder / "data" / "writer.lock", wait), reading(base) as store:
        yield store


@contextmanager
def conversations(base: KnowledgeBase) -> Iterator[Sessions]:
    """Open the saved sessions."""
    sessions = Sessions(base.folder / "data" / "sessions.sqlite")
    try:
        yield sessions
    finally:
        sessions.close()
