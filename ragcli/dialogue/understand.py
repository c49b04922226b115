"""The dialogue's corridor: from what was typed to what is to be searched.

gate → pending reply, small talk or complete → rules → model where rules don't settle it → checks.
The question as typed is never lost: retrieval searches it besides whatever comes out here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Literal

from ragcli.datatypes import LanguageModel
from ragcli.dialogue.gate import GateVerdict, judge, near
from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.pending import complete
from ragcli.dialogue.phrases import phrase, topic_of
from ragcli.dialogue.reading import DEFAULTS, Candidate, Reading, RewriteOptions, Wishes
from ragcli.dialogue.rewrite_rules import Ruled, rewrite
from ragcli.dialogue.state import DialogueState, Entity
from ragcli.dialogue.wording import Fold, strip_fillers
from ragcli.dialogue.words import language_of

Mode = Literal["off", "rules", "llm", "hybrid"]

RUNNING_FILE = 1.15
NAMED_FILE = 2.0
RAW_OF_DEPENDENT = 0.4


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
    verdict = judge(query, state, lexicon)
    if verdict.complete:
        return _as_it_stands(query, state, lexicon, verdict)
    if verdict.kind == "reply" and state.pending:
        ruled = complete(query, state.pending, lexicon)
    elif verdict.kind == "denial":
        return _denied(query, state, verdict)
    else:
        ruled = rewrite(query, state, lexicon, verdict)
    return _ruled(query, state, verdict, ruled)


def _as_it_stands(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict) -> Reading:
    if verdict.kind != "complete":
        return Reading(query, (query,), "none", verdict.kind, verdict)
    text = strip_fillers(query)
    named = mentions(text, lexicon, near(state))
    entities = tuple(dict.fromkeys(mention.entity for mention in named if mention.anchors))
    if not entities and language_of(text) == "en":
        topic = topic_of(text)
        entities = (Entity(topic, "topic"),) if topic else ()
    files = weights(entities, state if not entities else None)
    return Reading(
        query,
        (query,),
        "none",
        "complete",
        verdict,
        entities=entities,
        content=(phrase(text, [(m.start, m.end) for m in named if m.anchors]),),
        wishes=Wishes(files=files),
        relation="new" if _moved(entities, state) else "same",
    )


def _moved(entities: tuple[Entity, ...], state: DialogueState) -> bool:
    old = {entity.name for entity in state.task.current.entities}
    return bool(entities) and bool(old) and not old & {entity.name for entity in entities}


def _ruled(query: str, state: DialogueState, verdict: GateVerdict, ruled: Ruled) -> Reading:
    changed = ruled.queries != (query,)
    entities = ruled.entities
    return Reading(
        query,
        ruled.queries or (query,),
        "rules" if changed else "none",
        ruled.reason,
        verdict,
        entities=entities,
        content=ruled.content,
        wishes=Wishes(files=weights(entities, state), raw_weight=RAW_OF_DEPENDENT),
        relation="new" if _moved(entities, state) and ruled.relation == "same" else ruled.relation,
        candidates=tuple(Candidate(text, "rules", True, ruled.reason) for text in ruled.queries),
        resolved_by=ruled.reason,
    )


def _denied(query: str, state: DialogueState, verdict: GateVerdict) -> Reading:
    """Go back to the turn before, without the passages that weren't meant."""
    last = state.last
    if last is None:
        return Reading(query, (query,), "none", "correction", verdict)
    reading = Reading(query, (last.standalone,), "rules", "correction", verdict)
    return replace(
        reading,
        entities=last.entities,
        content=last.content,
        wishes=Wishes(rejected=last.hits[:5], raw_weight=0.0),
    )


def weights(entities: tuple[Entity, ...], state: DialogueState | None) -> dict[str, float]:
    """Return how much each file should count: those that name what is meant, and the running one."""
    files: dict[str, float] = {}
    if state:
        files.update(dict.fromkeys(state.retrieval.files[:1], RUNNING_FILE))
    for entity in entities:
        if 0 < len(entity.files) <= 3:
            files.update(dict.fromkeys(entity.files, NAMED_FILE))
    return files
