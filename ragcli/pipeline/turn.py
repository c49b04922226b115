"""The question corridor: dialogue state → rewrite → retrieve → decide → answer with citations → new state.

Everything that a turn needs is handed in; the state that comes out is saved by the conversation. Nothing
here knows a session, a file or a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ragcli.datatypes import Json
from ragcli.dialogue.clarify import Decision, decide
from ragcli.dialogue.events import apply
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.reading import Reading
from ragcli.dialogue.state import DialogueState
from ragcli.dialogue.understand import understand
from ragcli.documents.normalise import fold
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.prompts import rewriting_of
from ragcli.pipeline.record import LEAST_HITS, turn_json
from ragcli.pipeline.reply import OnText, Reply, Said
from ragcli.pipeline.searcher import least_score
from ragcli.pipeline.settle import settle
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.search import SearchOptions, SearchResult


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
    limits = rewriting_of(engine)
    reading = understand(
        state,
        query,
        engine.lexicon,
        mode=options.rewrite,
        model=engine.models.rewriter,
        fold=fold,
        today=engine.today,
        options=limits,
    )
    rewritten = time.perf_counter()
    running = next(iter(state.retrieval.files), "")
    reading, found = settle(reading, running, lambda one: _retrieve(engine, state, one, options))
    if on_rewrite:
        on_rewrite(reading)
    retrieved = time.perf_counter()
    decision = (
        decide(reading, found.hits, state, engine.lexicon, limits)
        if options.rewrite != "off"
        else _plain_decision(found)
    )
    said = Reply(engine, state, reading, found, decision, options, on_text).say()
    timings = {
        "rewrite": rewritten - started, "retrieve": retrieved - rewritten, **said.timings, "total": time.perf_counter() - started,
    }  # fmt: skip
    event = turn_done(
        state, reading, engine.lexicon, action=said.action, answer=said.text, hits=said.hits,
        cited_ids=[citation.stored.chunk.chunk_id for citation in said.citations], pending=decision.pending,
        left_open=decision.left_open,
    )  # fmt: skip
    record = turn_json(
        session=session, turn=state.turn + 1, query=query, rewritten=reading.queries, status=reading.status,
        reason=reading.reason, action=said.action, answer=said.text, citations=said.citations, hits=said.hits, timings=timings,
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
    named = [entity.name for entity in reading.entities]
    edition = bool(reading.slots.get("edition") and engine.lexicon.editions)
    leans = not reading.verdict.complete and bool(state.retrieval.hits)
    known = options.rewrite != "off" and (leans or edition or engine.searcher.holds(named))
    searching = SearchOptions(
        k=max(options.k, LEAST_HITS),
        threshold=least_score(engine.settings.retrieval.threshold, known, options.rewrite != "off"),
        first_query_weight=wishes.raw_weight,
        separate=reading.separate,
    )
    queries = list(dict.fromkeys([reading.query, *reading.queries]))
    return engine.searcher.search(queries, filters, searching)


def _plain_decision(found: SearchResult) -> Decision:
    return Decision("answer" if found.hits else "not_found", why="rewriting is off")


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
