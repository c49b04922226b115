"""A whole measurement: models and index opened once, every way asked, one report that is the same the next time.

What a run was asked for is a value, `EvalOptions`; what it found is the report's JSON. Times and token counts,
which differ from run to run, stand under `times` and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from ragcli import __version__
from ragcli.datatypes import Json, Progress, Vocabulary
from ragcli.errors import ModelUnusable
from ragcli.evaluation.answers import costs
from ragcli.evaluation.cases import CaseSet
from ragcli.evaluation.figures import faults, figures_of, lost_turn, turn_row
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.rewriting import Known, unchanged
from ragcli.evaluation.ways import SYSTEM, Way, plan
from ragcli.pipeline.base import KnowledgeBase, reading
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.evaluate import Runner, Same, known_names
from ragcli.pipeline.evaluate_fixed import fixed_base
from ragcli.pipeline.evaluate_variants import Variant, remembering, variants, with_variant
from ragcli.pipeline.language import LanguageModels
from ragcli.pipeline.models import file_hash, model_path
from ragcli.pipeline.searcher import Searcher, open_searcher
from ragcli.storage.files import make_dir, remove
from ragcli.storage.sessions import Sessions

CORPUS_HITS = 20
ALL = -1


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What a measurement was asked for. `answers` is a number of turns, `ALL` for every one."""

    turn: TurnOptions
    answers: int = 0
    seed: int = 1
    ablate: bool = False
    with_model: bool = False
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """Everything that a measurement is made with: the cases, the base (None to score rewriting alone), the rest."""

    cases: CaseSet
    base: KnowledgeBase
    options: EvalOptions
    cache: Path
    progress: Progress
    clock: Callable[[], float]
    today: date
    same: Same
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class _NoDocuments:
    """Stands where an index would where only rewriting is scored: it knows no names."""

    base: KnowledgeBase
    vocabulary: Vocabulary = field(default_factory=Vocabulary)


@contextmanager
def _opened(job: Measurement) -> Iterator[Engine]:
    with ExitStack() as stack:
        models = LanguageModels(job.base, job.verbose)
        stack.callback(models.close)
        searcher = cast(Searcher, _NoDocuments(job.base))
        if job.cases.form != "rewriting":
            searcher = open_searcher(job.base, stack.enter_context(reading(job.base)))
        yield Engine(searcher, models, job.base.settings, job.today)


def measure(job: Measurement) -> Json:
    """Ask the cases in every way that was wanted; return the report."""
    with _opened(job) as engine:
        chosen = _variants(job)
        _need_model(job, engine, chosen)
        known = known_names(engine)
        answered = drawn(job.cases, job.options.answers, job.options.seed) if job.options.answers else None
        total = sum(len(plan(item.way, job.cases)) for item in chosen) + (answered.turns if answered else 0)
        counter = _Counter(job.progress, total)
        report = _head(job, engine)
        with _kept(job, engine) as kept_at:
            ways: Json = {}
            for item in chosen:
                with _engine_of(job, engine, item) as changed:
                    outcomes = _run(job, changed, item.way, job.cases, kept_at(item.name), counter)
                read = known if item.reads else None
                ways[item.name] = figures_of(job.cases.form, outcomes, read, job.options.seed)
                if item.way.asks == "rewrite" and not item.way.alone:
                    ways[item.name]["unchanged"] = unchanged(outcomes)
                if item.way is SYSTEM and item.name == SYSTEM.name:
                    report |= _turns(outcomes)
                    report["times"] = {"without_answers": costs(outcomes)}
            report["ways"] = ways
            if answered:
                report["answers"], spent = _answers(job, engine, answered, known, kept_at, counter)
                report["times"]["with_answers"] = spent
    return report


@contextmanager
def _engine_of(job: Measurement, engine: Engine, item: Variant) -> Iterator[Engine]:
    """Lend the engine that a row of the table asks: the opened one with a change, or one over other pieces."""
    if not item.split:
        yield with_variant(engine, item)
        return
    base = fixed_base(job.base, job.cache, job.clock, lambda _done, _total: None)
    with reading(base) as store:
        searcher = open_searcher(base, store)
        searcher.__dict__["embedder"] = remembering(engine.searcher)
        yield replace(engine, searcher=searcher)


def _variants(job: Measurement) -> list[Variant]:
    found = [Variant(SYSTEM.name, SYSTEM)]
    if job.options.ablate or job.options.only:
        found += variants(
            job.cases.form, job.options.turn.rewrite, job.options.only, with_model=job.options.with_model
        )
    return found


def _answers(
    job: Measurement,
    engine: Engine,
    cases: CaseSet,
    known: Known,
    kept_at: Callable[[str], Sessions],
    counter: _Counter,
) -> tuple[Json, Json]:
    """Return the figures of turns that are answered in full, and what they cost."""
    outcomes = _run(job, engine, SYSTEM, cases, kept_at("answers"), counter, generate=True)
    table = figures_of(cases.form, outcomes, known, job.options.seed, answered=True)
    rows = [turn_row(outcome, answered=True) for outcome in outcomes]
    lost = [lost_turn(outcome, answered=True) for outcome in outcomes if faults(outcome, answered=True)]
    return {"figures": table, "turns_answered": rows, "lost": lost}, costs(outcomes)


def _turns(outcomes: Sequence[Outcome]) -> Json:
    return {
        "turns": [turn_row(outcome, answered=False) for outcome in outcomes],
        "lost": [
            lost_turn(outcome, answered=False) for outcome in outcomes if faults(outcome, answered=False)
        ],
    }


def _run(
    job: Measurement,
    engine: Engine,
    way: Way,
    cases: CaseSet,
    kept: Sessions,
    counter: _Counter,
    *,
    generate: bool = False,
) -> list[Outcome]:
    options = replace(job.options.turn, generate=generate)
    if cases.form == "corpus":
        options = replace(options, k=max(options.k, CORPUS_HITS))
    return Runner(engine, options, kept, counter, job.clock).run(way, cases, job.same)


def drawn(cases: CaseSet, number: int, seed: int) -> CaseSet:
    """Return conversations drawn by seed until they hold a number of turns; the last one is cut to fit.

    A later turn is only answered as in a chat if those before it were, so conversations are drawn, not turns.
    """
    if number == ALL or number >= cases.turns:
        return cases
    order = list(range(len(cases.cases)))
    random.Random(seed).shuffle(order)  # noqa: S311  a sample, no secret
    kept, left = {}, number
    for place in order:
        if left <= 0:
            break
        case = cases.cases[place]
        kept[place] = replace(case, turns=case.turns[:left])
        left -= len(kept[place].turns)
    return replace(cases, cases=tuple(kept[place] for place in sorted(kept)))


def _need_model(job: Measurement, engine: Engine, chosen: Sequence[Variant]) -> None:
    """Stop before anything runs where a way asks a model that isn't here: it would be scored as another way."""
    asks = job.options.turn.rewrite in ("llm", "hybrid") or any(item.model for item in chosen)
    if asks and engine.models.rewriter.context_tokens < 1:
        raise ModelUnusable(
            "model_missing", name=job.base.settings.generation.model, path=job.base.models_dir
        )
    if job.options.answers:
        _ = engine.models.generator


def _head(job: Measurement, engine: Engine) -> Json:
    cases, settings = job.cases, job.base.settings
    head: Json = {
        "ragcli": __version__,
        "form": cases.form,
        "cases": {
            "files": list(cases.names), "sha256": cases.digest, "conversations": len(cases.cases), "turns": cases.turns,
        },
        "seed": job.options.seed,
        "settings": {
            "rewrite": job.options.turn.rewrite, "k": job.options.turn.k, "threshold": settings.retrieval.threshold,
            "generation": settings.generation.model, "embedding": settings.embedding.model,
        },
    }  # fmt: skip
    if cases.form != "rewriting":
        manifest = engine.searcher.revision.manifest
        store = engine.searcher.store
        head["base"] = {
            "files": len(store.documents()), "chunks": store.count_chunks(), "state": manifest["state"],
            "index": manifest["kind"], "embedding": manifest["embedding"], "stale": engine.searcher.stale,
        }  # fmt: skip
    return head


# ---------------------------------------------------------------- what survives a kill


@contextmanager
def _kept(job: Measurement, engine: Engine) -> Iterator[Callable[[str], Sessions]]:
    """Keep finished turns by what they depend on, so that a killed run goes on; a finished run leaves nothing."""
    folder = job.cache / "runs" / _name_of(job, engine)
    make_dir(folder, mode=0o700)
    opened: dict[str, Sessions] = {}

    def at(name: str) -> Sessions:
        if name not in opened:
            digest = hashlib.sha256(name.encode()).hexdigest()[:12]
            opened[name] = Sessions(folder / f"{digest}.sqlite")
        return opened[name]

    try:
        yield at
    finally:
        for sessions in opened.values():
            sessions.close()
    remove(folder)


def _name_of(job: Measurement, engine: Engine) -> str:
    settings = job.base.settings
    facts: Json = {
        "head": _head(job, engine),
        "today": str(job.today),
        "turn": asdict(job.options.turn),
        "settings": asdict(settings),
        "answers": job.options.answers,
        "names": hashlib.sha256(repr(engine.searcher.vocabulary).encode()).hexdigest(),
        "model": _model_hash(job),
        "code": code_digest(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def _model_hash(job: Measurement) -> str:
    if job.base.settings.generation.url:
        return job.base.settings.generation.url
    try:
        path = model_path(job.base.settings.generation.model, "generator", job.base.models_dir)
        return file_hash(path, job.base.models_dir)
    except ModelUnusable:
        return ""


def code_digest() -> str:
    """Return the digest of ragcli's own modules and data: turns of other code aren't taken over."""
    digest = hashlib.sha256()

    def walk(place: Traversable) -> None:
        for item in sorted(place.iterdir(), key=lambda one: one.name):
            if item.is_dir():
                walk(item)
            elif not item.name.endswith((".pyc", ".pyo")):
                digest.update(item.read_bytes())

    walk(files("ragcli"))
    return digest.hexdigest()


class _Counter:
    """Tells the progress of each finished turn."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        self._progress(self._done, self._total)
