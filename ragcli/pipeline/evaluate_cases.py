"""Case files on the disk, and the base that holds the documents they are about.

Nothing is scored here: a run begins when every line was read and every piece of evidence stands in its file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from ragcli.config import Settings
from ragcli.datatypes import Progress
from ragcli.errors import NotReady, UsageError
from ragcli.evaluation.cases import CaseSet, Problem, named_evidence
from ragcli.evaluation.compare import squeezed
from ragcli.evaluation.forms import corpus_documents, file_stem, read_set, same_texts
from ragcli.pipeline.badcases import cases_of
from ragcli.pipeline.base import KnowledgeBase, make_base, reading
from ragcli.pipeline.runs import Intake, sync_run
from ragcli.storage.files import make_dir, write_atomic
from ragcli.storage.store import Store

CORPUS = "corpus.jsonl"

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class CaseFiles:
    """The files of cases that a path means, and where their documents lie beside them."""

    files: dict[str, Path]
    documents: Path | None = None
    corpus: Path | None = None


def case_files(path: Path) -> CaseFiles:
    """Return what a file or a folder of cases means.

    A folder's `cases.jsonl` or `conversations*.jsonl` are its cases, else all its JSON lines; `docs/`, else
    text files in the folder itself, are its documents, and `corpus.jsonl` a corpus of them.
    """
    if not path.exists():
        raise UsageError("no_such_path", path=path)
    folder = path if path.is_dir() else path.parent
    found = [path]
    if path.is_dir():
        patterns = ("cases.jsonl", "conversations*.jsonl", "*.jsonl")
        found = next((rows for pattern in patterns if (rows := sorted(path.glob(pattern)))), [])
        if not found:
            raise UsageError("no_cases", path=path)
    corpus = folder / CORPUS
    if corpus.is_file():
        return CaseFiles({file.name: file for file in found}, corpus=corpus)
    documents = folder / "docs"
    if not documents.is_dir():
        documents = folder
    has_text = documents.is_dir() and any(documents.glob("*.[tT][xX][tT]"))
    return CaseFiles({file.name: file for file in found}, documents if has_text else None)


def read_cases(found: CaseFiles) -> tuple[CaseSet, list[Problem]]:
    """Return the cases and what is wrong with their lines; ids of documents become names of files."""
    data = {}
    for name, path in found.files.items():
        try:
            data[name] = path.read_bytes()
        except OSError as err:
            raise UsageError("cannot_read", path=path, reason=err.strerror or str(err)) from err
    return read_set(data)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run starts from: cases, the base that is searched and whether it was made for them, what is wrong."""

    cases: CaseSet
    base: KnowledgeBase
    made: bool
    same: dict[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Home:
    """Where bases for measuring are kept, and how their settings are read."""

    cache: Path
    settings_of: Callable[[Path], Settings]
    models_dir: Path
    clock: Clock


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: a path of cases (empty: the base's bad cases), the documents' folder, how many cases."""

    cases: str
    docs: str = ""
    limit: int = 0


def prepare(wanted: Wanted, chosen: KnowledgeBase | None, home: Home, progress: Progress) -> Prepared:
    """Read the cases and open the base that holds what they are about; nothing runs while something is wrong."""
    bare = chosen or KnowledgeBase(home.cache, home.settings_of(home.cache), home.models_dir)
    if wanted.cases:
        found = case_files(Path(wanted.cases))
        cases, problems = read_cases(found)
    else:
        if chosen is None:
            raise NotReady("no_base", path=home.cache)
        found = CaseFiles({})
        cases, problems = read_set({"badcases": cases_of(chosen)})
    if wanted.limit:
        cases = cases.first(wanted.limit)
    if problems or cases.form == "rewriting":
        return Prepared(cases, bare, False, {}, tuple(problems))
    base, made = bare, False
    if wanted.cases:
        base, made = base_for(
            cases, found, chosen, Path(wanted.docs) if wanted.docs else None, home, progress
        )
    with reading(base) as store:
        missing = missing_evidence(cases, store)
    return Prepared(cases, base, made, same_documents(found), tuple(missing))


def base_for(
    cases: CaseSet,
    found: CaseFiles,
    chosen: KnowledgeBase | None,
    docs: Path | None,
    home: Home,
    progress: Progress,
) -> tuple[KnowledgeBase, bool]:
    """Return the base to search, and whether it was made for the cases.

    It is the chosen base where that holds every file that the cases name; else one of the documents beside
    the cases (or in `docs`), kept in the cache and brought up to date.
    """
    if docs is None and chosen is not None and not _absent(cases, chosen):
        return chosen, False
    folder = docs or found.documents
    if docs is None and found.corpus:
        folder = _unpacked(found.corpus, home)
    if folder is None:
        raise NotReady("no_base_for_cases", files=", ".join(_wanted(cases)[:3]) or "-")
    if not folder.is_dir():
        raise UsageError("not_a_folder", path=folder)
    return _made(folder, home, progress), True


def _wanted(cases: CaseSet) -> list[str]:
    """Return the names of files that the cases need: of evidence, or of right documents."""
    if cases.form == "corpus":
        ids = (name for case in cases.cases for turn in case.turns for name in turn.documents)
        return [f"{name}.txt" for name in dict.fromkeys(ids)]
    return [PurePath(name).name for name in named_evidence(cases.cases)]


def _absent(cases: CaseSet, base: KnowledgeBase) -> list[str]:
    with reading(base) as store:
        here = {PurePath(document.file).name for document in store.documents()}
    wanted = _wanted(cases)
    return [name for name in wanted if name not in here] if wanted else ["-"]


def _place(folder: Path, home: Home) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return home.cache / "bases" / f"{file_stem(folder.resolve().name)}-{name}"


def _made(folder: Path, home: Home, progress: Progress) -> KnowledgeBase:
    place = _place(folder, home)
    make_base(place)
    base = KnowledgeBase(place, home.settings_of(place), home.models_dir)
    # Whole folders are measured: what the documents' folder lost is meant to go.
    sync_run(base, Intake((str(folder),), prune=True), 600.0, home.clock, progress)
    return base


def _unpacked(corpus: Path, home: Home) -> Path:
    """Write a corpus as one text file a document, where it isn't there already."""
    data = corpus.read_bytes()
    folder = home.cache / "corpora" / f"{corpus.parent.name}-{hashlib.sha256(data).hexdigest()[:12]}"
    if (folder / ".whole").is_file():
        return folder
    make_dir(folder)
    try:
        for document, text in corpus_documents(data):
            write_atomic(folder / f"{file_stem(document)}.txt", f"{text}\n".encode())
    except (ValueError, KeyError, TypeError) as err:
        raise UsageError("bad_corpus", path=corpus, reason=str(err)) from err
    write_atomic(folder / ".whole", b"")
    return folder


def missing_evidence(cases: CaseSet, store: Store) -> list[Problem]:
    """Return a problem for each piece of evidence whose file or text the base doesn't hold."""
    texts = {PurePath(document.file).name: (document.root, document.file) for document in store.documents()}
    problems = []
    for file, entries in named_evidence(cases.cases).items():
        name = PurePath(file).name
        text = squeezed(text_of(store, *texts[name])) if name in texts else ""
        for case, turn, item in entries:
            place = {"id": case.name, "turn": turn.number, "file": file}
            if name not in texts:
                problems.append(Problem(f"{case.group}.jsonl", case.line, "case_no_file", place))
            elif not any(squeezed(wording) in text for wording in item.wordings):
                problems.append(
                    Problem(
                        f"{case.group}.jsonl",
                        case.line,
                        "case_no_evidence",
                        {**place, "text": item.wordings[0]},
                    )
                )
    return problems


def text_of(store: Store, root: str, file: str) -> str:
    """Return a file's text, put together from its chunks, which cover it whole and may overlap."""
    text = ""
    for stored in store.chunks_of(root, file):
        chunk = stored.chunk
        if chunk.char_end > len(text):
            text += " " * (chunk.char_start - len(text)) + chunk.body[max(0, len(text) - chunk.char_start) :]
    return text


def same_documents(found: CaseFiles) -> dict[str, tuple[str, ...]]:
    """Return which documents of the cases' corpus have the same text: to find either is right."""
    return same_texts(found.corpus.read_bytes()) if found.corpus else {}
