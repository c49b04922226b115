"""Two reports over the same cases: which turns were won and lost between them, and whether that is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ragcli.datatypes import Json
from ragcli.evaluation.statistics import compared

MEASURES = ("hit1", "hit5", "action_right", "answer_right")


def compare_reports(old: Json, new: Json) -> Json:
    """Return each measure's won and lost turns with McNemar's p, and the measures in which more was lost.

    Turns are matched by their name; a measure that one of the reports lacks for a turn leaves that turn out.
    """
    rows: Json = {}
    for measure in MEASURES:
        before, after = _flags(old, measure), _flags(new, measure)
        if not before or not after:
            continue
        found = compared(before, after)
        shared = [name for name in after if name in before]
        rows[measure] = asdict(found) | {
            "won_turns": [name for name in shared if after[name] and not before[name]],
            "lost_turns": [name for name in shared if before[name] and not after[name]],
        }
    worse = [measure for measure, row in rows.items() if row["lost"] > row["won"]]
    return {
        "measures": rows,
        "worse": worse,
        "same_cases": old.get("cases", {}).get("sha256") == new.get("cases", {}).get("sha256"),
        "turns": _described(rows, old, new),
    }


def _rows(report: Json) -> Sequence[Json]:
    return [*report.get("turns", ()), *report.get("answers", {}).get("turns_answered", ())]


def _flags(report: Json, measure: str) -> dict[str, bool]:
    return {row["turn"]: bool(row[measure]) for row in _rows(report) if measure in row}


def _described(rows: Mapping[str, Json], old: Json, new: Json) -> list[Json]:
    """Return each turn that changed with how it was read before and now."""
    before = {row["turn"]: row for row in _rows(old)}
    after = {row["turn"]: row for row in _rows(new)}
    changed: dict[str, Json] = {}
    for measure, row in rows.items():
        for verdict in ("won", "lost"):
            for name in row[f"{verdict}_turns"]:
                entry = changed.setdefault(
                    name, {"turn": name, "query": after[name]["query"], "won": [], "lost": []}
                )
                entry[verdict].append(measure)
    for name, entry in changed.items():
        entry["rewritten_before"] = before[name]["rewritten"]
        entry["rewritten_now"] = after[name]["rewritten"]
    return list(changed.values())
