"""The document corridor as its commands run it: lock, settings, steps, one report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.config import Settings
from ragcli.datatypes import Document, Progress, SplitOptions
from ragcli.documents.read import read_document
from ragcli.documents.sources import find_sources, read_source
from ragcli.errors import SourceUnreadable, UsageError
from ragcli.pipeline.base import KnowledgeBase, writing
from ragcli.pipeline.embed import embed
from ragcli.pipeline.embedders import passage_embedding, token_counter
from ragcli.pipeline.index import build_index
from ragcli.pipeline.ingest import IngestOptions, ingest
from ragcli.pipeline.precision import settle_precision
from ragcli.pipeline.report import RunReport, Trouble
from ragcli.storage.store import Store

Clock = Callable[[], float]


def split_options(settings: Settings, models_dir: Path) -> SplitOptions:
    """Return how files are cut under these settings; tokens are counted exactly where the model is here."""
    split = settings.split
    return SplitOptions(
        split.min_chars,
        split.max_chars,
        split.overlap_chars,
        split.table_max_chars,
        count_tokens=token_counter(settings, models_dir),
        heading_rules=settings.headings,
    )


@dataclass(frozen=True, slots=True)
class Intake:
    """What a run is to read: paths (`stdin` holds what `-` stands for), and how."""

    paths: tuple[str, ...]
    encoding: str = ""
    prune: bool = False
    jobs: int = 1
    stdin: bytes = b""


def ingest_run(
    base: KnowledgeBase, intake: Intake, wait: float, clock: Clock, progress: Progress
) -> RunReport:
    """Read files into the base."""
    with writing(base, wait) as store:
        return _ingest(store, base, intake, clock, progress)


def _ingest(store: Store, base: KnowledgeBase, intake: Intake, clock: Clock, progress: Progress) -> RunReport:
    options = IngestOptions(
        split_options(base.settings, base.models_dir),
        intake.encoding or base.settings.ingest.encoding or None,
        intake.prune,
        intake.jobs,
        intake.stdin,
    )
    return ingest(store, base, [path for path in intake.paths if path != "-"], options, clock, progress)


def embed_run(
    base: KnowledgeBase, batch_size: int, retry_failed: bool, wait: float, clock: Clock, progress: Progress
) -> RunReport:
    """Embed what has no vector yet."""
    with writing(base, wait) as store:
        settle_precision(base, clock)
        choice = passage_embedding(base)
        size = batch_size or base.settings.embedding.batch_size
        return embed(
            store, choice.identity, choice.load, size, clock, retry_failed=retry_failed, progress=progress
        )


def index_run(base: KnowledgeBase, kind: str, wait: float, clock: Clock) -> RunReport:
    """Publish a searchable index."""
    if kind and kind not in ("auto", "flat", "hnsw", "ivf"):
        raise UsageError(
            "bad_setting", key="--kind", where="ragcli index", value=kind, wanted="auto | flat | hnsw | ivf"
        )
    with writing(base, wait) as store:
        return build_index(
            store, base, passage_embedding(base).identity, kind or base.settings.index.kind, clock
        )


def sync_run(base: KnowledgeBase, intake: Intake, wait: float, clock: Clock, progress: Progress) -> RunReport:
    """Ingest, embed and index as one run under one lock."""
    settings = base.settings
    with writing(base, wait) as store:
        report = _ingest(store, base, intake, clock, progress)
        if store.count_chunks() == 0:
            return report
        settle_precision(base, clock)
        choice = passage_embedding(base)
        size = settings.embedding.batch_size
        report = report.merged(embed(store, choice.identity, choice.load, size, clock, progress=progress))
        return report.merged(build_index(store, base, choice.identity, settings.index.kind, clock))


def read_one(settings: Settings, models_dir: Path, file: str, encoding: str) -> Document:
    """Read and split one file without storing anything."""
    path = Path(file)
    if not path.exists():
        raise UsageError("no_such_path", path=file)
    if path.is_dir():
        raise UsageError("is_a_folder", path=file)
    data = read_source(path, settings.ingest.max_file_mb * 2**20)
    return read_document(
        data, path.name, split_options(settings, models_dir), encoding or settings.ingest.encoding or None
    )


@dataclass(frozen=True, slots=True)
class DryRun:
    """What ingesting a file would make of it."""

    file: str
    encoding: str = ""
    headings: int = 0
    tables: int = 0
    chunks: int = 0
    trouble: Trouble | None = None


def dry_run(settings: Settings, models_dir: Path, paths: Sequence[str], encoding: str) -> Iterator[DryRun]:
    """Read and split files without storing anything, a line a file."""
    found = find_sources(paths, settings.ingest.include, settings.ingest.max_file_mb * 2**20)
    options = split_options(settings, models_dir)
    for source in found.sources:
        try:
            data = read_source(source.path, settings.ingest.max_file_mb * 2**20)
            document = read_document(data, source.file, options, encoding or settings.ingest.encoding or None)
        except SourceUnreadable as err:
            yield DryRun(source.file, trouble=Trouble(source.file, err.kind, dict(err.fields)))
            continue
        yield DryRun(
            source.file, document.encoding, len(document.headings), len(document.tables), len(document.chunks)
        )
    for item in found.skipped:
        yield DryRun(item.file, trouble=Trouble(item.file, item.kind, dict(item.fields)))
