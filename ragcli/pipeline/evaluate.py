"""The measuring corridor: cases asked of an opened engine, one turn after the other, each kept as it is done.

What was asked before a run was killed is kept in a file of sessions and isn't asked again. A turn is taken
exactly as in a chat; what counts as right is the evaluation room's affair.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcli.datatypes import Json
from ragcli.dialogue.history import replay
from ragcli.dialogue.linking import mentions
from ragcli.dialogue.snapshot import to_json
from ragcli.dialogue.state import empty_state
from ragcli.dialogue.understand import understand
from ragcli.documents.normalise import fold
from ragcli.errors import NoUsableAnswer
from ragcli.evaluation.cases import CaseSet
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.rewriting import Known
from ragcli.evaluation.ways import Asked, Way, plan
from ragcli.pipeline.conversation import Conversation, open_conversation
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.prompts import rewriting_of
from ragcli.pipeline.turn import take_turn
from ragcli.storage.sessions import SavedTurn, Sessions

Tick = Callable[[], None]
Same = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Runner:
    """What asks cases: the engine, the options of a turn, where turns are kept, and who is told of each."""

    engine: Engine
    options: TurnOptions
    kept: Sessions
    tick: Tick
    clock: Callable[[], float] = time.time

    def run(self, way: Way, cases: CaseSet, same: Same | None = None) -> list[Outcome]:
        """Ask all cases in one way; return a measured turn each."""
        options = replace(self.options, rewrite=way.mode or self.options.rewrite)
        take = {"documents": self._in_conversation, "corpus": self._after_history, "rewriting": self._reading}
        outcomes = []
        asked = plan(way, cases)
        for number, one in _numbered(asked):
            saved = self.kept.turn(one.session, number)
            if saved is None:
                take[cases.form](one, number, options, way)
                saved = self.kept.turn(one.session, number)
            assert saved is not None  # noqa: S101  it was kept a line ago
            if one.turn.judged:
                outcomes.append(Outcome(one.case, one.turn, saved.record, saved.trace, same or {}))
            self.tick()
        return outcomes

    def _in_conversation(self, one: Asked, number: int, options: TurnOptions, _way: Way) -> None:
        talk = open_conversation(self.engine, self.kept, one.session)
        try:
            talk.ask(one.text, options, self.clock, number=number)
        except NoUsableAnswer as err:
            self._failed(talk, one, number, err)

    def _failed(self, talk: Conversation, one: Asked, number: int, err: NoUsableAnswer) -> None:
        """Keep a turn that the model failed in, so that the conversation goes on after it."""
        record: Json = {
            "query": one.text,
            "rewritten": [one.text],
            "action": "error",
            "hits": [],
            "error": err.kind,
        }
        state = replace(talk.state, turn=number)
        self.kept.save_turn(
            SavedTurn(one.session, number, self.clock(), one.text, record, {}, to_json(state))
        )

    def _after_history(self, one: Asked, number: int, options: TurnOptions, way: Way) -> None:
        state = empty_state()
        if options.rewrite != "off" and not way.alone:
            state = replay(_pairs(one), self.engine.lexicon, fold=fold, today=self.engine.today)
        result = take_turn(self.engine, state, one.text, options, one.session)
        turn = SavedTurn(one.session, number, self.clock(), one.text, result.record, result.trace, {})
        self.kept.save_turn(turn)

    def _reading(self, one: Asked, number: int, options: TurnOptions, way: Way) -> None:
        """Read a question without searching: what only rewriting is scored on."""
        record, trace = read_only(self.engine, one, options, alone=way.alone)
        self.kept.save_turn(SavedTurn(one.session, number, self.clock(), one.text, record, trace, {}))


def _numbered(asked: Sequence[Asked]) -> Iterator[tuple[int, Asked]]:
    counts: dict[str, int] = {}
    for one in asked:
        counts[one.session] = counts.get(one.session, 0) + 1
        yield counts[one.session], one


def _pairs(one: Asked) -> list[dict[str, str]]:
    return [{"user": user, "assistant": assistant} for user, assistant in one.turn.history or ()]


def read_only(engine: Engine, one: Asked, options: TurnOptions, *, alone: bool) -> tuple[Json, Json]:
    """Return the record and the trace of a question that is read after its history and not searched."""
    started = time.perf_counter()
    state = empty_state()
    if not alone:
        state = replay(_pairs(one), engine.lexicon, fold=fold, today=engine.today)
    reading = understand(
        state, one.text, engine.lexicon, mode=options.rewrite, model=engine.models.rewriter, fold=fold,
        today=engine.today, options=rewriting_of(engine),
    )  # fmt: skip
    spent = round((time.perf_counter() - started) * 1000, 1)
    record: Json = {
        "query": one.text,
        "rewritten": list(reading.queries),
        "rewrite": {"status": reading.status, "reason": reading.reason},
        "action": "clarify" if reading.clarify else "answer",
        "hits": [],
        "timings_ms": {"rewrite": spent},
        "tokens": {"rewriter_evaluated": reading.rewriter_tokens},
    }
    candidates = [
        {"text": item.text, "way": item.way, "taken": item.taken, "why": item.why}
        for item in reading.candidates
    ]
    gate = {
        "kind": reading.verdict.kind,
        "complete": reading.verdict.complete,
        "reasons": list(reading.verdict.reasons),
    }
    return record, {
        "query": one.text,
        "gate": gate,
        "candidates": candidates,
        "queries": list(reading.queries),
    }


def known_names(engine: Engine) -> Known:
    """Return what the base's vocabulary finds in a text: things, and what can be asked about them.

    A kind of thing right before its name (净水器 JS-500) is one thing with it: the name says which.
    """

    def things(text: str) -> frozenset[str]:
        found = [item for item in mentions(text, engine.lexicon) if item.anchors]
        followed = {
            before.start
            for before, after in pairwise(found)
            if not text[before.end : after.start].strip(" \t（(")
        }
        return frozenset(item.entity.name for item in found if item.start not in followed)

    def asked(text: str) -> frozenset[str]:
        return frozenset(item.entity.name for item in mentions(text, engine.lexicon) if not item.anchors)

    return Known(things, asked)
