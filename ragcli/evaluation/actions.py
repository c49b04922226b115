"""Was the right thing done: answered, asked back, or said that the files don't tell?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import by_case, share
from ragcli.evaluation.statistics import interval

JUDGED = ("clarify", "not_found")


def confusion(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return how often each action was taken, by the expected one."""
    table: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        table.setdefault(outcome.turn.expect, Counter())[outcome.action] += 1
    return {wanted: dict(sorted(table[wanted].items())) for wanted in sorted(table)}


def actions(outcomes: Sequence[Outcome], seed: int) -> Json:
    """Return the confusion, and for asking back and refusing their precision, recall and how often wrongly."""
    table = confusion(outcomes)
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    right = [outcome.acted_right for outcome in outcomes]
    figures: Json = {
        "confusion": table,
        "right": share(sum(right), len(right)),
        "interval": {"right": list(interval(by_case(outcomes, right), seed))},
    }
    for action in JUDGED:
        wanted = [outcome for outcome in outcomes if outcome.turn.expect == action]
        taken = [outcome for outcome in outcomes if outcome.action == action]
        both = sum(outcome.action == action for outcome in wanted)
        figures[action] = {
            "expected": len(wanted),
            "taken": len(taken),
            "recall": share(both, len(wanted)),
            "precision": share(both, len(taken)),
            "wrongly": share(sum(outcome.action == action for outcome in answerable), len(answerable)),
        }
    return figures
