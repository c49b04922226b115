"""Was the right passage found? hit@k, MRR and nDCG@10 over all turns and over parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.statistics import interval

DEPTHS = (1, 3, 5, 10)


def share(part: float, whole: int) -> float:
    """Return a share with four decimals; 0 of nothing."""
    return round(part / max(1, whole), 4)


def by_case(outcomes: Iterable[Outcome], values: Iterable[float]) -> dict[str, list[float]]:
    """Return values grouped by the conversation that they are of."""
    groups: dict[str, list[float]] = {}
    for outcome, value in zip(outcomes, values, strict=True):
        groups.setdefault(f"{outcome.case.group}/{outcome.case.name}", []).append(value)
    return groups


def figures(outcomes: Sequence[Outcome], seed: int) -> Json:
    """Return hit@k, MRR, nDCG@10 and the intervals of hit@1 and hit@5 over turns with a known passage."""
    placed = [outcome for outcome in outcomes if outcome.placed]
    found = [outcome.rank for outcome in placed]
    hits = {depth: [place is not None and place <= depth for place in found] for depth in DEPTHS}
    row: Json = {"turns": len(placed)}
    row |= {f"hit{depth}": share(sum(flags), len(placed)) for depth, flags in hits.items()}
    row["mrr"] = share(sum(1 / place for place in found if place), len(placed))
    row["ndcg10"] = share(sum(outcome.ndcg for outcome in placed), len(placed))
    row["interval"] = {f"hit{depth}": list(interval(by_case(placed, hits[depth]), seed)) for depth in (1, 5)}
    return row


def parts(outcomes: Sequence[Outcome]) -> dict[str, dict[str, list[Outcome]]]:
    """Return the turns by number, by kind, and by whether they lean on what was said before.

    `moved_on` are later turns that name something new and may leave out the rest.
    """
    placed = [outcome for outcome in outcomes if outcome.placed]
    by_turn: dict[str, list[Outcome]] = {}
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in placed:
        by_turn.setdefault(outcome.turn.label, []).append(outcome)
        for kind in outcome.turn.kinds:
            by_kind.setdefault(kind, []).append(outcome)
    leaning = {
        "self_contained": [outcome for outcome in placed if outcome.turn.complete],
        "dependent": [outcome for outcome in placed if outcome.turn.dependent],
        "moved_on": [
            outcome for outcome in placed if not outcome.turn.complete and not outcome.turn.dependent
        ],
    }
    return {"by_turn": _sorted(by_turn), "by_kind": _sorted(by_kind), "by_dependence": leaning}


def _sorted(rows: Mapping[str, list[Outcome]]) -> dict[str, list[Outcome]]:
    return {name: rows[name] for name in sorted(rows)}


def retrieval(outcomes: Sequence[Outcome], seed: int) -> Json:
    """Return the figures over all turns and over each part."""
    table: Json = {"all": figures(outcomes, seed)}
    for name, rows in parts(outcomes).items():
        table[name] = {label: figures(part, seed) for label, part in rows.items()}
    return table


def corpus_parts(outcomes: Sequence[Outcome]) -> Json:
    """Return, for a corpus of documents, a row for first, later and moved turns of each file of conversations.

    A turn has moved where its documents are others than those of the turn before. A turn that the corpus
    doesn't answer counts apart: there it is right to hold back.
    """
    table: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        group = outcome.case.group
        table.setdefault(f"{group} {'later' if outcome.turn.later else 'first'}", []).append(outcome)
        if outcome.turn.moved:
            table.setdefault(f"{group} moved", []).append(outcome)
    return {name: _corpus_row(rows) for name, rows in table.items()}


def _corpus_row(rows: Sequence[Outcome]) -> Json:
    placed = [row for row in rows if row.placed]
    held = [row.action in ("clarify", "not_found") for row in rows]
    return {
        "turns": len(placed),
        "hit1": share(sum(row.rank == 1 for row in placed), len(placed)),
        "hit5": share(sum(row.near for row in placed), len(placed)),
        "mrr": share(sum(1 / row.rank for row in placed if row.rank), len(placed)),
        "wrongly_held_back": sum(flag for row, flag in zip(rows, held, strict=True) if row.placed),
        "unanswerable": len(rows) - len(placed),
        "held_back": sum(flag for row, flag in zip(rows, held, strict=True) if not row.placed),
    }
