"""What a run over files did: the numbers of the contract's ingest, embed, index and sync report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ragcli.datatypes import Json


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file that was skipped or failed: what it is called, and why (a kind and its facts)."""

    file: str
    kind: str
    fields: Json = field(default_factory=dict)
    failed: bool = True


@dataclass(frozen=True, slots=True)
class FilesReport:
    """What became of the files."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    removed_names: tuple[str, ...] = ()
    skipped: tuple[Trouble, ...] = ()
    failed: tuple[Trouble, ...] = ()
    warned: tuple[Trouble, ...] = ()

    @property
    def read(self) -> int:
        """How many sources could be read."""
        return self.added + self.updated + self.unchanged

    def count(self, name: str) -> FilesReport:
        """Return the report with one more of `added`, `updated`, `unchanged` or `removed`."""
        return replace(self, **{name: getattr(self, name) + 1})


@dataclass(frozen=True, slots=True)
class ChunksReport:
    """What became of the chunks."""

    added: int = 0
    removed: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class VectorsReport:
    """What became of the vectors."""

    computed: int = 0
    cached: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The published index."""

    kind: str
    revision: int
    total: int
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class RunReport:
    """The parts that a command did; None for what it didn't do."""

    files: FilesReport | None = None
    chunks: ChunksReport | None = None
    vectors: VectorsReport | None = None
    index: IndexReport | None = None
    seconds: float = 0.0

    def merged(self, other: RunReport) -> RunReport:
        """Return the report of two commands that ran one after the other."""
        return RunReport(
            other.files or self.files,
            other.chunks or self.chunks,
            other.vectors or self.vectors,
            other.index or self.index,
            self.seconds + other.seconds,
        )
