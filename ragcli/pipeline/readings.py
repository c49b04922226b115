"""Sources into documents, one after another or several at a time, always in the order of the sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragcli.datatypes import Document, SplitOptions, Term
from ragcli.documents.read import read_document
from ragcli.documents.sources import Source, read_source
from ragcli.documents.vocabulary import mine_terms
from ragcli.errors import SourceUnreadable
from ragcli.pipeline.report import Trouble

# Where a source that came through stdin stands in the base.
STDIN = Source(Path("-"), "stdin.txt", Path("-"))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read; `encoding` None finds it out file by file."""

    split: SplitOptions
    encoding: str | None
    max_bytes: int
    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of one source: unchanged, a document with its names, or the reason why not."""

    source: Source
    sha256: str = ""
    size: int = 0
    document: Document | None = None
    terms: tuple[Term, ...] = ()
    trouble: Trouble | None = None


def read_all(
    sources: Sequence[Source], unchanged: Mapping[tuple[str, str], str], options: ReadOptions, jobs: int
) -> Iterator[Reading]:
    """Yield a reading a source; one whose bytes hash to what `unchanged` names is not split again."""
    hashes = [unchanged.get((str(source.root), source.file), "") for source in sources]
    if jobs < 2 or len(sources) < 2:
        yield from map(partial(read_one, options), sources, hashes)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(read_one, options), sources, hashes)


def read_one(options: ReadOptions, source: Source, known_sha256: str) -> Reading:
    """Read one source; whatever stops it is returned, since the run goes on."""
    try:
        data = options.stdin if source == STDIN else read_source(source.path, options.max_bytes)
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 == known_sha256:
            return Reading(source, sha256, len(data))
        document = read_document(data, source.file, options.split, options.encoding)
    except SourceUnreadable as err:
        trouble = Trouble(source.file, err.kind, dict(err.fields), failed=err.kind != "no_text")
        return Reading(source, trouble=trouble)
    return Reading(source, sha256, len(data), document, mine_terms(document))
