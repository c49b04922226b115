"""All figures of one way of asking, and each turn as a row: the values that reports and comparisons are made of."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.actions import actions
from ragcli.evaluation.answers import answers
from ragcli.evaluation.cases import Form
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import corpus_parts, retrieval
from ragcli.evaluation.rewriting import Known, rewriting

_SHOWN = 5
_HIT_CHARS = 240
# What a trace holds that differs from run to run.
_TIMES = ("timings",)


def figures_of(
    form: Form, outcomes: Sequence[Outcome], known: Known | None, seed: int, *, answered: bool = False
) -> Json:
    """Return what can be said of these turns: found, rewritten, done and, where answers were written, answered.

    Without `known` names nothing is said of rewriting.
    """
    table: Json = {"turns": len(outcomes)}
    if form != "rewriting":
        table["retrieval"] = retrieval(outcomes, seed)
    if form == "corpus":
        table["parts"] = corpus_parts(outcomes)
    if known is not None and any(outcome.turn.rewrite for outcome in outcomes):
        table["rewriting"] = rewriting(outcomes, known, seed)
    if form != "rewriting":
        table["actions"] = actions(outcomes, seed)
    if answered:
        table["answers"] = answers(outcomes, seed)
    return table


def faults(outcome: Outcome, *, answered: bool) -> list[str]:
    """Return what went wrong in a turn: not found, the action, the answer."""
    wrong = []
    if outcome.placed and not outcome.near:
        wrong.append("not_found")
    if not outcome.acted_right:
        wrong.append("action")
    if answered and outcome.answerable and not outcome.answered_right:
        wrong.append("answer")
    return wrong


def turn_row(outcome: Outcome, *, answered: bool) -> Json:
    """Return a turn as a row of a report: the same in every run that understood, found and answered the same."""
    turn, record = outcome.turn, outcome.record
    row: Json = {
        "turn": outcome.key,
        "number": turn.number,
        "kind": list(turn.kinds),
        "dependent": turn.dependent,
        "query": turn.query,
        "reference": turn.rewrite,
        "rewritten": list(record.get("rewritten", ())),
        "rewrite": record.get("rewrite", {}).get("status", ""),
        "expect": turn.expect,
        "action": outcome.action,
        "action_right": outcome.acted_right,
    }
    if outcome.placed:
        row |= {"rank": outcome.rank, "hit1": outcome.rank == 1, "hit5": outcome.near}
    if answered:
        row["answer"] = record.get("answer", "")
        row["answer_right"] = outcome.answered_right if outcome.answerable else outcome.acted_right
        row["cites_evidence"] = outcome.cites_evidence
    return row | {"wrong": faults(outcome, answered=answered)}


def lost_turn(outcome: Outcome, *, answered: bool) -> Json:
    """Return a lost turn with what was wanted, what was found, and its trace without the times."""
    trace = {name: value for name, value in outcome.trace.items() if name not in _TIMES}
    return turn_row(outcome, answered=answered) | {
        "evidence": [{"file": item.file, "text": item.wordings[0]} for item in outcome.turn.evidence],
        "documents": list(outcome.turn.documents),
        "answer_has": [list(group) for group in outcome.turn.answer_has],
        "answer_not": list(outcome.turn.answer_not),
        "hits": [_hit(hit) for hit in outcome.record.get("hits", ())[:_SHOWN]],
        "trace": trace,
    }


def _hit(hit: Json) -> Json:
    kept = {name: hit[name] for name in ("rank", "score", "file", "heading_path", "line_start", "line_end")}
    return kept | {"text": hit["text"][:_HIT_CHARS]}
