"""The dialogue's corridor: from what was typed to what is to be searched.

slips mended → gate → small talk, complete or pending reply → rules → model where rules don't settle it →
checks. The question as typed is never lost: retrieval searches it besides whatever comes out here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Literal

from ragcli.datatypes import LanguageModel
from ragcli.dialogue.correct import denied, unclear
from ragcli.dialogue.editions import edition_in
from ragcli.dialogue.files import file_weights
from ragcli.dialogue.gate import GateVerdict, judge, near
from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.linking import Mention, mentions
from ragcli.dialogue.mend import Mend, mend
from ragcli.dialogue.pending import complete
from ragcli.dialogue.phrases import linked, phrase, subject_of, topic_of
from ragcli.dialogue.reading import DEFAULTS, Candidate, Reading, RewriteOptions, Wishes
from ragcli.dialogue.rewrite_model import propose
from ragcli.dialogue.rewrite_rules import Ruled, rewrite
from ragcli.dialogue.spoken import phrases
from ragcli.dialogue.state import DialogueState, Entity
from ragcli.dialogue.times import absolute, times_in
from ragcli.dialogue.wording import Fold, asks, content, joined, strip_fillers
from ragcli.dialogue.words import language_of

Mode = Literal["off", "rules", "llm", "hybrid"]

# What a dependent question counts as it was typed: the more, the more it says itself.
RAW_A_CHARACTER = 0.08
RAW_AT_MOST = 0.5


def understand(
    state: DialogueState,
    query: str,
    lexicon: Lexicon,
    *,
    mode: Mode,
    model: LanguageModel | None,
    fold: Fold,
    today: date,
    options: RewriteOptions = DEFAULTS,
) -> Reading:
    """Read a question in its conversation."""
    if mode == "off":
        return Reading(query, (query,), "off", "off", GateVerdict(True, ("rewriting is off",), "complete"))
    said, mends = mend(query, lexicon) if language_of(query) == "zh" else (query, ())
    verdict = judge(said, state, lexicon)
    if verdict.complete:
        reading = _as_it_stands(said, state, lexicon, verdict)
    elif verdict.kind == "denial":
        reading = denied(said, state, lexicon, verdict)
    else:
        reading = _ruled(said, state, lexicon, verdict, today)
        if model and _wants_model(mode, reading):
            reading = _asked(reading, state, lexicon, model, mode, options)
    return _with_mends(reading, query, mends)


def _as_it_stands(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict) -> Reading:
    if verdict.kind != "complete":
        return Reading(query, (query,), "none", verdict.kind, verdict)
    text = strip_fillers(query)
    named = mentions(text, lexicon, near(state))
    entities = tuple(dict.fromkeys(mention.entity for mention in named if mention.anchors))
    elsewhere = not state.retrieval.focus or verdict.reasons[0].startswith("about ")
    if not entities and (language_of(text) == "en" or elsewhere):
        topic = topic_of(text) if language_of(text) == "en" else subject_of(text)
        files = next((m.entity.files for m in named if m.surface in topic and len(m.entity.files) == 1), ())
        entities = (Entity(topic, "topic", files),) if topic else ()
    return Reading(
        query,
        (query,),
        "none",
        "complete",
        verdict,
        entities=entities,
        content=(phrase(text, [(m.start, m.end) for m in named if m.anchors]),),
        slots=_slots(text),
        wishes=Wishes(
            files=file_weights(
                entities,
                () if any(e.kind != "topic" for e in entities) else state.retrieval.files,
                lexicon,
                edition_in(text),
            )
        ),
        relation="new" if _moved(entities, state) else "same",
        fallback=_loosely(query, state, named),
        sentence=_by_full_names(text, named),
    )


def _by_full_names(text: str, named: tuple[Mention, ...]) -> str:
    """Return a question with the names that it shortens (30 和 60 保修一样吗); nothing where it has none."""
    short = tuple(m for m in named if m.anchors and m.surface.isdigit() and m.surface in m.entity.name)
    return linked(text, short) if short else ""


def _loosely(query: str, state: DialogueState, named: tuple[Mention, ...]) -> tuple[str, ...]:
    """Return the question with the one before it, where it names nothing and may go on with that.

    Whether 清出来的东西还找得到吗 opens a new subject only the passages can tell.
    """
    if named or state.last is None or state.last.kind in ("smalltalk", "about_base"):
        return ()
    return (joined([state.last.query, query]),)


def _slots(text: str) -> dict[str, str]:
    times, edition = times_in(text), edition_in(text)
    return ({"time": times[-1]} if times else {}) | ({"edition": edition} if edition else {})


def _moved(entities: tuple[Entity, ...], state: DialogueState) -> bool:
    old = {entity.name for entity in state.task.current.entities}
    return bool(entities) and bool(old) and not old & {entity.name for entity in entities}


def _ruled(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict, today: date) -> Reading:
    if verdict.kind == "reply" and state.pending:
        ruled = complete(query, state.pending, lexicon)
    else:
        anchor = state.last.standalone if state.last else ""
        ruled = rewrite(absolute(query, anchor, today), state, lexicon, verdict)
    entities = ruled.entities
    # A question of its own means the edition in force again; 那总监呢 means the one that was asked of.
    edition = edition_in(query) or ("" if asks(query) else state.task.current.slots.get("edition", ""))
    reading = Reading(
        query,
        ruled.queries or (query,),
        "rules" if ruled.queries != (query,) else "none",
        ruled.reason,
        verdict,
        entities=entities,
        content=ruled.content,
        slots=_slots(query),
        wishes=Wishes(
            files=file_weights(entities, state.retrieval.files, lexicon, edition),
            raw_weight=raw_weight(query),
        ),
        relation="new" if _moved(entities, state) and ruled.relation == "same" else ruled.relation,
        candidates=tuple(Candidate(text, "rules", True, ruled.reason) for text in ruled.queries),
        resolved_by=ruled.reason,
        separate=ruled.separate,
        sentence=_whole_sentence(ruled, state),
    )
    return replace(reading, clarify=unclear(query, state, lexicon, reading))


def _whole_sentence(ruled: Ruled, state: DialogueState) -> str:
    """Return the question as it is put to the model that answers, with the one before it where it leans on that."""
    if not ruled.sentence or not ruled.leans or state.last is None:
        return ruled.sentence
    say = phrases(language_of(ruled.sentence))
    return say["going_on"].format(question=ruled.sentence, before=state.last.query.strip())


def raw_weight(query: str) -> float:
    """Return what a dependent question counts as it was typed, beside its standalone forms.

    多少钱 alone fits every price in the base; 倒完等几秒装回去 says most of what is wanted.
    """
    said = content(query)
    length = sum(len(word) for word in said) if language_of(query) == "zh" else 2 * len(said)
    return min(RAW_AT_MOST, RAW_A_CHARACTER * length)


def _wants_model(mode: Mode, reading: Reading) -> bool:
    """Say whether the model is to be asked: always where the user wants it, else where rules found no thing."""
    settled = bool(reading.entities) or reading.verdict.kind in ("reply", "return", "correction")
    return reading.clarify is None and (mode == "llm" or (mode == "hybrid" and not settled))


def _asked(
    reading: Reading,
    state: DialogueState,
    lexicon: Lexicon,
    model: LanguageModel,
    mode: Mode,
    options: RewriteOptions,
) -> Reading:
    """Add the model's rewrite to the rules' or, where the model was asked for, put it before them."""
    made = propose(reading.query, state, lexicon, model, options)
    candidates = (*reading.candidates, Candidate(made.text or made.raw, "llm", bool(made.text), made.why))
    reading = replace(reading, candidates=candidates, rewriter_tokens=made.tokens)
    if not made.text:
        return replace(reading, status="failed")
    first = (made.text, *reading.queries) if mode == "llm" else (*reading.queries, made.text)
    return replace(reading, queries=tuple(dict.fromkeys(first)), status="llm", sentence=made.text)


def _with_mends(reading: Reading, query: str, mends: tuple[Mend, ...]) -> Reading:
    """Show what was mended, and keep what was typed as the raw question."""
    if not mends:
        return reading
    shown = "; ".join(f"{one.said} → {one.meant}" for one in mends)
    candidate = Candidate(reading.query, "mended", True, shown)
    status = "rules" if reading.status == "none" else reading.status
    return replace(
        reading,
        query=query,
        status=status,
        reason=f"{reading.reason}; {shown}",
        candidates=(candidate, *reading.candidates),
    )
