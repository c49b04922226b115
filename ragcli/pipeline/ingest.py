"""Files into chunks: find the sources, read what is new or changed, store it a file at a time, drop what is gone.

One bad file never stops the run; it is listed. A run that would empty most of a folder's files from the
base is refused before anything is changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ragcli.datatypes import Document, Progress, SplitOptions
from ragcli.documents.sources import Found, find_sources
from ragcli.errors import UsageError
from ragcli.pipeline.base import KnowledgeBase
from ragcli.pipeline.readings import STDIN, Reading, ReadOptions, read_all
from ragcli.pipeline.report import ChunksReport, FilesReport, RunReport, Trouble
from ragcli.storage.store import Store, StoredDocument

# Raised by one whenever reading or splitting changes what comes out of the same bytes.
READER_VERSION = 2


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How this run reads: split sizes, encoding for every file, and whether a great loss is meant."""

    split: SplitOptions
    encoding: str | None = None
    prune: bool = False
    jobs: int = 1
    stdin: bytes = b""


def ingest(
    store: Store,
    base: KnowledgeBase,
    paths: Sequence[str],
    options: IngestOptions,
    clock: Callable[[], float],
    progress: Progress | None = None,
) -> RunReport:
    """Bring the base up to date with files and folders; the caller holds the writer's lock."""
    started = clock()
    limits = base.settings.ingest
    found = find_sources(paths, limits.include, limits.max_file_mb * 2**20)
    known = {(document.root, document.file): document for document in store.documents()}
    gone = _gone(found, known, folders_of(paths))
    if not (found.sources or gone or options.stdin or any(item.counts_as_failure for item in found.skipped)):
        raise UsageError("no_text_files", paths=", ".join(paths), include=", ".join(limits.include))
    if not options.prune:
        _refuse_great_loss(found, known, gone)
    report = FilesReport(
        skipped=tuple(
            Trouble(item.file, item.kind, dict(item.fields), item.counts_as_failure) for item in found.skipped
        )
    )
    reading = ReadOptions(options.split, options.encoding, limits.max_file_mb * 2**20, options.stdin)
    sources = [*found.sources, *([STDIN] if options.stdin else [])]
    split = split_key(options)
    same = {key: document.sha256 for key, document in known.items() if document.split == split}
    added = removed = 0
    for number, item in enumerate(read_all(sources, same, reading, options.jobs)):
        report, came, went = _keep(
            store, item, known.get((str(item.source.root), item.source.file)), split, report
        )
        added, removed = added + came, removed + went
        if progress:
            progress(number + 1, len(sources))
    for root, file in sorted(gone):
        removed += store.drop_document(root, file)
        report = replace(report.count("removed"), removed_names=(*report.removed_names, file))
    return RunReport(report, ChunksReport(added, removed, store.count_chunks()), seconds=clock() - started)


def _keep(
    store: Store, item: Reading, known: StoredDocument | None, split: str, report: FilesReport
) -> tuple[FilesReport, int, int]:
    """Store one reading; return the report with it, and how many chunks came and went."""
    if item.trouble:
        # A file that says nothing any more takes its old text with it; one that can't be read now keeps it.
        empty = item.trouble.kind == "no_text"
        went = store.drop_document(known.root, known.file) if known and empty else 0
        if empty:
            return replace(report, skipped=(*report.skipped, item.trouble)), 0, went
        return replace(report, failed=(*report.failed, item.trouble)), 0, went
    if item.document is None:
        return report.count("unchanged"), 0, 0
    came, went = store.put_document(stored_document(item, split, item.document), item.document.chunks)
    report = report.count("updated" if known else "added")
    warnings = tuple(
        Trouble(item.source.file, note.kind, {"line": note.line, **note.fields})
        for note in item.document.notes
        if note.warning
    )
    return replace(report, warned=report.warned + warnings), came, went


def stored_document(item: Reading, split: str, document: Document) -> StoredDocument:
    """Return the row that a read file is kept as."""
    return StoredDocument(
        root=str(item.source.root),
        file=item.source.file,
        sha256=item.sha256,
        size=item.size,
        encoding=document.encoding,
        title=document.title.text.strip() if document.title else "",
        split=split,
        lines=document.text.count("\n") + 1,
        notes=[
            {"kind": note.kind, "line": note.line, "warning": note.warning, **note.fields}
            for note in document.notes
        ],
        terms=[asdict(term) for term in item.terms],
    )


def split_key(options: IngestOptions) -> str:
    """Return what a file's chunks depend on besides its bytes; a change reads the file again."""
    split = options.split
    facts = {
        "version": READER_VERSION,
        "sizes": [
            split.min_chars,
            split.max_chars,
            split.overlap_chars,
            split.table_max_chars,
            split.max_tokens,
        ],
        "rules": [[rule.pattern, rule.level] for rule in split.heading_rules],
        "encoding": options.encoding,
    }
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def folders_of(paths: Iterable[str]) -> list[Path]:
    """Return the folders among the paths: what they no longer hold is dropped."""
    return [Path(path).resolve() for path in paths if Path(path).is_dir()]


def _gone(
    found: Found, known: dict[tuple[str, str], StoredDocument], folders: Sequence[Path]
) -> set[tuple[str, str]]:
    """Return the stored files of the ingested folders that aren't there any more."""
    here = {(str(source.root), source.file) for source in found.sources}
    unread = {str(item.path) for item in found.skipped}
    lost = set()
    for root, file in known.keys() - here:
        place = Path(root) / file
        below = any(place == folder or folder in place.parents for folder in folders)
        if below and str(place) not in unread and not place.exists():
            lost.add((root, file))
    return lost


def _refuse_great_loss(
    found: Found, known: dict[tuple[str, str], StoredDocument], gone: set[tuple[str, str]]
) -> None:
    """Stop where more than half of a folder's files would go; a renamed file isn't a loss."""
    new = [source for source in found.sources if (str(source.root), source.file) not in known]
    # Sizes are enough to tell a rename here: a wrong guess only lets a drop through that --prune would allow.
    sizes = Counter(source.path.stat().st_size for source in new if source.path.exists())
    lost: Counter[str] = Counter()
    for key in sorted(gone):
        size = known[key].size
        if sizes[size] > 0:
            sizes[size] -= 1
        else:
            lost[key[0]] += 1
    for root, number in lost.items():
        total = sum(1 for document in known.values() if document.root == root)
        if number * 2 > total:
            raise UsageError("would_drop_most", path=root, number=number, total=total)
