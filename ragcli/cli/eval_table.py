"""The figures of a measurement as tables on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from ragcli.cli.render import Screen
from ragcli.datatypes import Json

_RETRIEVAL = ("hit1", "hit3", "hit5", "hit10", "mrr", "ndcg10")
_BY_TURN = ("turn1", "turn2", "turn3", "turn4")


def print_figures(screen: Screen, report: Json) -> None:
    """Print what was measured: the ways side by side, then the parts of the first one."""
    ways = report["ways"]
    main = next(iter(ways.values()))
    if "retrieval" in main:
        _print_ways(screen, ways)
        _print_parts(screen, main["retrieval"])
    if "parts" in main:
        _print_corpus(screen, main["parts"])
    if "rewriting" in main:
        _print_rewriting(screen, ways)
    if "actions" in main:
        _print_actions(screen, main["actions"])
    if "answers" in report:
        _print_answers(screen, report["answers"]["figures"]["answers"])
    _print_lost(screen, report)
    if "comparison" in report:
        _print_comparison(screen, report["comparison"])


def _heading(screen: Screen, key: str) -> None:
    screen.say()
    screen.say(screen.messages.text(f"eval.{key}"))


def _names(screen: Screen, names: Iterable[str]) -> list[str]:
    return [screen.messages.text(f"eval.column.{name}") for name in names]


def _print_ways(screen: Screen, ways: Json) -> None:
    _heading(screen, "found")
    rows: list[list[object]] = []
    for name, figures in ways.items():
        found = figures["retrieval"]
        low, high = found["all"]["interval"]["hit5"]
        turns = [found["by_turn"].get(turn, {}).get("hit5", "") for turn in _BY_TURN]
        rows.append(
            [name, found["all"]["turns"], found["all"]["hit5"], f"{low}–{high}", found["all"]["hit1"], *turns]
        )
    screen.table(_names(screen, ("way", "turns", "hit5", "interval", "hit1", *_BY_TURN)), rows)


def _print_parts(screen: Screen, found: Json) -> None:
    _heading(screen, "parts")
    rows: list[list[object]] = []
    for part in ("by_turn", "by_dependence", "by_kind"):
        for name, row in found[part].items():
            rows.append([name, row["turns"], *(row[figure] for figure in _RETRIEVAL)])
    rows.append(["", found["all"]["turns"], *(found["all"][figure] for figure in _RETRIEVAL)])
    screen.table(_names(screen, ("part", "turns", *_RETRIEVAL)), rows)


def _print_corpus(screen: Screen, parts: Json) -> None:
    _heading(screen, "corpus")
    columns = ("turns", "hit1", "hit5", "mrr", "wrongly_held_back", "unanswerable", "held_back")
    screen.table(
        _names(screen, ("part", *columns)),
        [[name, *(row[one] for one in columns)] for name, row in parts.items()],
    )


def _print_rewriting(screen: Screen, ways: Json) -> None:
    _heading(screen, "rewritten")
    columns = (
        "turns", "exact", "rouge_l", "restored_recall", "restored_precision", "same_things", "same_numbers", "same_asked",
    )  # fmt: skip
    rows: list[list[object]] = []
    for name, figures in ways.items():
        if "rewriting" in figures:
            table = figures["rewriting"]
            extra = [table["over_rewriting"]["share"], table["invented"]["share"]]
            cells = [table["dependent"][one] for one in columns]
            rows.append([name, *("–" if cell is None else cell for cell in cells), *extra])
    screen.table(_names(screen, ("way", *columns, "over_rewriting", "invented")), rows)
    for figures in ways.values():
        if "unchanged" in figures:
            screen.say(
                screen.messages.text("eval.unchanged", share=figures["unchanged"], turns=figures["turns"])
            )


def _print_actions(screen: Screen, actions: Json) -> None:
    _heading(screen, "actions")
    table = actions["confusion"]
    taken = sorted({name for row in table.values() for name in row})
    rows: list[list[object]] = [
        [wanted, *(row.get(name, 0) for name in taken)] for wanted, row in table.items()
    ]
    screen.table([*_names(screen, ("expected",)), *taken], rows)
    for action in ("clarify", "not_found"):
        row = actions[action]
        if row["expected"] or row["taken"]:
            screen.say(screen.messages.text("eval.judged", action=action, **row))


def _print_answers(screen: Screen, answers: Json) -> None:
    _heading(screen, "answers")
    low, high = answers["interval"]["accuracy"]
    screen.say(screen.messages.text("eval.answered", low=low, high=high, **answers))
    rows: list[list[object]] = [
        [name, row["turns"], row["accuracy"]] for name, row in answers["by_turn"].items()
    ]
    screen.table(_names(screen, ("part", "turns", "accuracy")), rows)


def _print_lost(screen: Screen, report: Json) -> None:
    lost = report.get("answers", report).get("lost", [])
    if lost:
        screen.note("eval.lost", number=len(lost))


def _print_comparison(screen: Screen, comparison: Json) -> None:
    _heading(screen, "compared")
    if not comparison["same_cases"]:
        screen.warn("eval.other_cases")
    columns = ("both", "won", "lost", "p")
    rows: list[list[object]] = [
        [name, *(row[one] for one in columns)] for name, row in comparison["measures"].items()
    ]
    screen.table(_names(screen, ("measure", *columns)), rows)
    for entry in comparison["turns"]:
        mark = "−" if entry["lost"] else "+"
        what = ", ".join([*(f"+{name}" for name in entry["won"]), *(f"−{name}" for name in entry["lost"])])
        screen.say(
            f"{mark} {entry['turn']} ({what}): {entry['query']}  "
            f"{' ｜ '.join(entry['rewritten_before'])} → {' ｜ '.join(entry['rewritten_now'])}"
        )
