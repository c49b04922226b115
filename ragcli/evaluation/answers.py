"""Was the answer right, and does it stand on the passage that it cites? Words are compared, nobody judges."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.compare import forbidden
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import by_case, share
from ragcli.evaluation.statistics import interval


def answers(outcomes: Sequence[Outcome], seed: int) -> Json:
    """Return accuracy over answerable turns, by turn and by kind, and how far citations hold."""
    asked = [outcome for outcome in outcomes if outcome.answerable and outcome.turn.answer_has]
    right = [outcome.answered_right for outcome in asked]
    placed = [outcome for outcome in asked if outcome.turn.evidence]
    return {
        "turns": len(asked),
        "accuracy": share(sum(right), len(right)),
        "interval": {"accuracy": list(interval(by_case(asked, right), seed))},
        "by_turn": _accuracy(asked, [(outcome.turn.label,) for outcome in asked]),
        "by_kind": _accuracy(asked, [outcome.turn.kinds for outcome in asked]),
        "forbidden_values": share(sum(_forbidden(outcome) for outcome in asked), len(asked)),
        "citations_hold_evidence": share(sum(outcome.cites_evidence for outcome in placed), len(placed)),
        "turns_citing_outside_hits": sum(outcome.cites_outside for outcome in outcomes),
    }


def _forbidden(outcome: Outcome) -> bool:
    return forbidden(outcome.turn, outcome.record.get("answer") or "")


def _accuracy(rows: Sequence[Outcome], labels: Sequence[tuple[str, ...]]) -> Json:
    table: dict[str, list[bool]] = {}
    for row, names in zip(rows, labels, strict=True):
        for name in names:
            table.setdefault(name, []).append(row.answered_right)
    return {
        name: {"turns": len(flags), "accuracy": share(sum(flags), len(flags))}
        for name, flags in sorted(table.items())
    }


def costs(outcomes: Sequence[Outcome]) -> Json:
    """Return the median and 95th percentile of milliseconds a turn by step, and the mean tokens a turn."""
    steps: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    for outcome in outcomes:
        for step, spent in outcome.record.get("timings_ms", {}).items():
            steps.setdefault(step, []).append(float(spent))
        for kind, number in outcome.record.get("tokens", {}).items():
            counts[kind] = counts.get(kind, 0) + int(number)
    return {
        "ms": {
            step: {"median": quantile(spent, 0.5), "p95": quantile(spent, 0.95)}
            for step, spent in steps.items()
        },
        "tokens_a_turn": {kind: round(number / max(1, len(outcomes)), 1) for kind, number in counts.items()},
    }


def quantile(values: Sequence[float], at: float) -> float:
    """Return the value below which a share of the others lie (nearest rank).

    >>> quantile([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(at * len(ordered)))], 1) if ordered else 0.0
