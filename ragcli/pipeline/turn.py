"""The question corridor: dialogue state → rewrite → retrieve → decide → answer with citations → new state.

Everything that a turn needs is handed in; the state that comes out is saved by the conversation. Nothing
here knows a session, a file or a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from ragcli.config import Settings
from ragcli.datatypes import Hit, Json, LanguageModel, Passage
from ragcli.dialogue.clarify import Decision, decide
from ragcli.dialogue.events import apply
from ragcli.dialogue.linking import Lexicon, build_lexicon
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.reading import Reading, RewriteOptions
from ragcli.dialogue.state import DialogueState
from ragcli.dialogue.understand import Mode, understand
from ragcli.documents.normalise import fold
from ragcli.generation.answer import Answer, answer, not_found
from ragcli.generation.prompt import fixed_messages
from ragcli.generation.wording import language_of
from ragcli.pipeline.language import LanguageModels, restore_fixed
from ragcli.pipeline.record import LEAST_HITS, Citation, turn_json
from ragcli.pipeline.searcher import Searcher
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.passages import passages
from ragcli.retrieval.search import SearchOptions, SearchResult

OnText = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What the person asked for besides the question."""

    k: int = 5
    rewrite: Mode = "hybrid"
    generate: bool = True
    timeout: float = 300.0
    file_glob: str = ""
    heading: str = ""


@dataclass(frozen=True)
class Engine:
    """What turns are made with: the index, the names in it, the models. Shared by all turns of a process."""

    searcher: Searcher
    models: LanguageModels
    settings: Settings
    today: date
    _fixed: set[str] = field(default_factory=set)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The base's names, laid out for the dialogue."""
        return build_lexicon(self.searcher.vocabulary, fold)

    def generator(self, language: str) -> LanguageModel:
        """Return the generator with the fixed part of its prompt already read."""
        model = self.models.generator
        if language not in self._fixed:
            restore_fixed(model, fixed_messages(language), self.searcher.base.folder / "data" / "states")
            self._fixed.add(language)
        return model


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A finished turn: what is shown and kept of it, and the state after it."""

    record: Json
    trace: Json
    state: DialogueState


def take_turn(
    engine: Engine,
    state: DialogueState,
    query: str,
    options: TurnOptions,
    session: str,
    *,
    on_rewrite: Callable[[Reading], None] | None = None,
    on_text: OnText | None = None,
) -> TurnResult:
    """Read a question in its conversation, search, decide and answer."""
    started = time.perf_counter()
    rules = engine.settings.rewrite
    reading = understand(
        state,
        query,
        engine.lexicon,
        mode=options.rewrite,
        model=engine.models.rewriter,
        fold=fold,
        today=engine.today,
        options=RewriteOptions(rules.max_tokens, rules.timeout, clarify_after=engine.settings.clarify.after),
    )
    rewritten = time.perf_counter()
    if on_rewrite:
        on_rewrite(reading)
    found = _retrieve(engine, state, reading, options)
    retrieved = time.perf_counter()
    decision = (
        decide(reading, found.hits, state, engine.lexicon)
        if options.rewrite != "off"
        else _plain_decision(found)
    )
    step = _Answering(engine, state, reading, found, decision, options, on_text)
    said = step.run()
    timings = {
        "rewrite": rewritten - started, "retrieve": retrieved - rewritten, **said.timings, "total": time.perf_counter() - started,
    }  # fmt: skip
    event = turn_done(
        state, reading, engine.lexicon, action=said.action, answer=said.text, hits=said.hits,
        cited_ids=[citation.stored.chunk.chunk_id for citation in said.citations], pending=decision.pending,
    )  # fmt: skip
    record = turn_json(
        session=session, turn=state.turn + 1, query=query, rewritten=reading.queries, status=reading.status, reason=reading.reason,
        action=said.action, answer=said.text, citations=said.citations, hits=said.hits, timings=timings,
        tokens={**said.tokens, "rewriter_evaluated": reading.rewriter_tokens},
    )  # fmt: skip
    return TurnResult(record, _trace(reading, found, decision, said, state), apply(state, event))


def _retrieve(engine: Engine, state: DialogueState, reading: Reading, options: TurnOptions) -> SearchResult:
    """Search the raw question and its standalone forms; the raw one is always searched."""
    if reading.smalltalk:
        return SearchResult((), (), (), {})
    wishes = reading.wishes
    filters = Filters(
        file_glob=options.file_glob, heading=options.heading, files=wishes.files, seen=frozenset(state.retrieval.seen),
        excluded=frozenset(wishes.rejected), only_new=wishes.only_new,
    )  # fmt: skip
    searching = SearchOptions(
        k=max(options.k, LEAST_HITS),
        threshold=engine.settings.retrieval.threshold,
        first_query_weight=wishes.raw_weight,
    )
    queries = list(dict.fromkeys([reading.query, *reading.queries]))
    return engine.searcher.search(queries, filters, searching)


def _plain_decision(found: SearchResult) -> Decision:
    return Decision("answer" if found.hits else "not_found", why="rewriting is off")


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn says, where it stands, and what it cost."""

    action: str
    text: str
    citations: tuple[Citation, ...]
    hits: tuple[Hit, ...]
    timings: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    detail: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Answering:
    engine: Engine
    state: DialogueState
    reading: Reading
    found: SearchResult
    decision: Decision
    options: TurnOptions
    on_text: OnText | None

    def run(self) -> Said:
        """Return what is said: the decision's own words, or the model's over the passages."""
        language = language_of(self.reading.query)
        if self.decision.action in ("smalltalk", "clarify"):
            text = self.decision.question
            if self.reading.verdict.kind == "about_base":
                text = f"{text}\n{about_base(self.engine, language)}"
            return Said(self.decision.action, self._spoken(text), (), self.found.hits)
        if self.decision.action == "not_found":
            return Said("not_found", self._spoken(not_found(language).text), (), self.found.hits)
        if not self.options.generate:
            return Said("answer", "", (), self.found.hits)
        return self._generated(language)

    def _generated(self, language: str) -> Said:
        started = time.perf_counter()
        model = self.engine.generator(language)
        shown = self._passages(model)
        loaded = time.perf_counter()
        result = answer(
            "\n".join(self.reading.queries),
            shown,
            model=model,
            history=[(turn.query, turn.answer) for turn in self.state.context.turns if turn.answer],
            summary=self.state.context.summary,
            facts=[fact.text for fact in self.state.facts],
            language=language,
            max_tokens=self.engine.settings.generation.max_tokens,
            passage_tokens=self.engine.settings.generation.passage_tokens,
            timeout=self.options.timeout or None,
            on_text=self.on_text,
        )
        return self._said(result, loaded - started, time.perf_counter() - loaded)

    def _passages(self, model: LanguageModel) -> list[Passage]:
        """Return what the model sees, best first, numbered in the order of the documents."""
        limits = self.engine.settings
        hits = self.found.hits[: limits.retrieval.passages]
        question = " ".join(self.reading.queries)
        chosen = passages(question, hits, limits.generation.passage_tokens, model.count_tokens, fold)
        order = sorted(range(len(chosen)), key=lambda n: (chosen[n].file, chosen[n].line_start))
        numbers = {place: n for n, place in enumerate(order, 1)}
        return [
            Passage(
                numbers[place],
                item.file,
                item.heading_path,
                item.text,
                item.chunk_ids,
                item.title,
                item.header.count("\n") if item.table else 0,
            )
            for place, item in enumerate(chosen)
        ]

    def _said(self, result: Answer, prepare: float, spent: float) -> Said:
        shown_ids = {
            chunk
            for passage in (result.prompt.passages if result.prompt else ())
            for chunk in passage.chunk_ids
        }
        hits = tuple(replace(hit, shown=hit.stored.chunk.chunk_id in shown_ids) for hit in self.found.hits)
        by_id = {hit.stored.chunk.chunk_id: hit.stored for hit in hits}
        citations = tuple(
            Citation(n, by_id[chunk]) for n, chunk in enumerate(result.citations, 1) if chunk in by_id
        )
        done = result.completion
        timings = {"prompt": prepare, "generate": spent, "first_token": done.first_token_s if done else 0.0}
        tokens = (
            {
                "prompt": done.prompt_tokens,
                "evaluated": done.evaluated_tokens,
                "completion": done.completion_tokens,
            }
            if done
            else {}
        )
        detail: Json = {
            "prompt": [{"role": item.role, "content": item.content} for item in result.prompt.messages[result.prompt.fixed :]] if result.prompt else [],
            "unsupported": list(result.checks.unsupported),
            "missing_numbers": list(result.checks.missing_numbers),
            "attempts": result.checks.attempts,
        }  # fmt: skip
        return Said(result.action, result.text, citations, hits, timings, tokens, detail)

    def _spoken(self, text: str) -> str:
        if self.on_text:
            self.on_text(text)
        return text


def about_base(engine: Engine, language: str) -> str:
    """Return what is in the base, from the store: its files and the names that they use."""
    files = [document.title or document.file for document in engine.searcher.store.documents()]
    names = [term.text for term in engine.searcher.vocabulary.terms if term.kind == "name"]
    mark = "、" if language == "zh" else ", "
    lines = [f"{mark.join(files[:20])}{' …' if len(files) > 20 else ''}"]
    if names:
        lines.append(f"{mark.join(names[:20])}{' …' if len(names) > 20 else ''}")
    return "\n".join(lines)


def _trace(
    reading: Reading, found: SearchResult, decision: Decision, said: Said, state: DialogueState
) -> Json:
    """Return every step of a turn, for `ragcli trace`."""
    return {
        "query": reading.query,
        "gate": {
            "kind": reading.verdict.kind,
            "complete": reading.verdict.complete,
            "reasons": list(reading.verdict.reasons),
        },
        "state": {
            "focus": [focus.entity.name for focus in state.retrieval.focus],
            "topic": state.task.current.topic,
            "slots": dict(state.task.current.slots),
            "pending": state.pending.question if state.pending else "",
            "profile": dict(state.profile),
        },
        "candidates": [
            {"text": item.text, "way": item.way, "taken": item.taken, "why": item.why}
            for item in reading.candidates
        ],
        "queries": list(reading.queries),
        "entities": [entity.name for entity in reading.entities],
        "wishes": {"files": dict(reading.wishes.files), "only_new": reading.wishes.only_new},
        "dropped": found.dropped[:20],
        "below": [[hit.stored.file, hit.stored.chunk.line_start, hit.score] for hit in found.below[:5]],
        "timings": found.timings,
        "decision": {
            "action": decision.action,
            "why": decision.why,
            "choices": [choice.label for choice in decision.choices],
        },
        "answer": said.detail,
    }


def queries_of(reading: Reading) -> Sequence[str]:
    """Return what was searched besides the question as typed."""
    return [query for query in reading.queries if query != reading.query]
