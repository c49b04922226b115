"""What a turn says: the decision's own words, or the model's over the passages found, with their places."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from ragcli.datatypes import Completion, Hit, Json
from ragcli.dialogue.clarify import Decision
from ragcli.dialogue.reading import Reading
from ragcli.dialogue.spoken import for_each
from ragcli.dialogue.state import DialogueState
from ragcli.generation.answer import Answer, answer, not_found
from ragcli.generation.focus import Looking
from ragcli.generation.wording import language_of
from ragcli.pipeline.engine import Engine, TurnOptions
from ragcli.pipeline.record import Citation
from ragcli.pipeline.shown import PassageMode, passage_mode, room_for_passages, shown_passages
from ragcli.retrieval.search import SearchResult
from ragcli.retrieval.written import as_written

OnText = Callable[[str], None]


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
class Reply:
    """One turn's reply in the making."""

    engine: Engine
    state: DialogueState
    reading: Reading
    found: SearchResult
    decision: Decision
    options: TurnOptions
    on_text: OnText | None

    def say(self) -> Said:
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
        settings = self.engine.settings
        mode = passage_mode(settings.passage_states, model, wanted=self.options.passage_states)
        question = "\n".join(self.reading.queries)
        shown = shown_passages(question, self.found.hits, settings, model.count_tokens, mode)
        loaded = time.perf_counter()
        labels = [choice.label for choice in self.decision.choices]
        asked = for_each(self.reading.question, labels, language) if labels else self.reading.question
        result = answer(
            asked,
            shown,
            model=model,
            history=told(self.state),
            summary=self.state.context.summary,
            facts=[fact.text for fact in self.state.facts],
            language=language,
            max_tokens=settings.generation.max_tokens,
            passage_tokens=room_for_passages(settings, mode),
            timeout=self.options.timeout or None,
            on_text=self.on_text,
            looking=self._looking(question),
        )
        return self._said(result, mode, loaded - started, time.perf_counter() - loaded)

    def _looking(self, question: str) -> Looking:
        """Return what to look for in the passages: short questions as they were typed, and as they are meant."""
        like = self.engine.searcher.likeness
        typed, meant = partial(like, self.reading.query), partial(like, self.reading.question)
        return Looking(as_written(question), typed, meant)

    def _said(self, result: Answer, mode: PassageMode, prepare: float, spent: float) -> Said:
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
        timings = {"prompt": prepare, "generate": spent, **(_timings(done) if done else {})}
        tokens = _tokens(done) if done else {}
        detail: Json = {
            "passage_states": mode,
            "prompt": _spoken_prompt(result),
            "unsupported": list(result.checks.unsupported),
            "missing_numbers": list(result.checks.missing_numbers),
            "attempts": result.checks.attempts,
        }  # fmt: skip
        return Said(result.action, result.text, citations, hits, timings, tokens, detail)

    def _spoken(self, text: str) -> str:
        if self.on_text:
            self.on_text(text)
        return text


def told(state: DialogueState) -> list[tuple[str, str]]:
    """Return the conversation as the generator is told it."""
    return [(turn.query, turn.answer) for turn in state.context.turns if turn.answer]


def _timings(done: Completion) -> dict[str, float]:
    return {"first_token": done.first_token_s, "evaluate": done.evaluate_s, "put_back": done.put_back_s}


def _tokens(done: Completion) -> dict[str, int]:
    return {
        "prompt": done.prompt_tokens,
        "evaluated": done.evaluated_tokens,
        "put_back": done.put_back_tokens,
        "read_ahead": done.read_ahead_tokens,
        "completion": done.completion_tokens,
    }


def _spoken_prompt(result: Answer) -> list[Json]:
    """Return what the model was asked after the fixed part."""
    if result.prompt is None:
        return []
    new = result.prompt.messages[result.prompt.fixed :]
    return [{"role": item.role, "content": item.content} for item in new]


def about_base(engine: Engine, language: str) -> str:
    """Return what is in the base, from the store: its files and the names that they use."""
    files = [document.title or document.file for document in engine.searcher.store.documents()]
    names = [term.text for term in engine.searcher.vocabulary.terms if term.kind == "name"]
    mark = "、" if language == "zh" else ", "
    lines = [f"{mark.join(files[:20])}{' …' if len(files) > 20 else ''}"]
    if names:
        lines.append(f"{mark.join(names[:20])}{' …' if len(names) > 20 else ''}")
    return "\n".join(lines)
