"""A report as Markdown: the tables that a page of documentation shows, without the lost turns' traces."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.rows import (
    Texts,
    corpus_rows,
    label,
    part_rows,
    rewriting_rows,
    unchanged_lines,
    way_rows,
)
from ragcli.evaluation.wording import about, share, words

_LOST = 60


def markdown_report(report: Json, language: str) -> str:
    """Return a report as Markdown."""
    texts = words(language)
    ways = report["ways"]
    main = next(iter(ways.values()))
    lines = [f"# {texts['title']}", "", about(report, texts)]
    if "retrieval" in main:
        lines += _ways(ways, texts) + _parts(main["retrieval"], texts)
    if "parts" in main:
        lines += _corpus(main["parts"], texts)
    if any("rewriting" in figures for figures in ways.values()):
        lines += _rewriting(ways, texts)
    if "actions" in main:
        lines += _actions(main["actions"], texts)
    if "answers" in report:
        lines += _answers(report["answers"]["figures"]["answers"], texts)
    lines += _lost(report, texts)
    return "\n".join(lines) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a table; a bar in a cell is escaped."""
    lines = ["", *(f"| {' | '.join(map(_cell, row))} |" for row in (head, *rows))]
    lines.insert(2, "|" + "---|" * len(head))
    return lines


def _cell(value: object) -> str:
    text = share(value) if value is None or isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split()) or " "


def _section(key: str, texts: Texts) -> list[str]:
    return ["", f"## {texts[key]}", texts[f"{key}_note"]]


def _ways(ways: Json, texts: Texts) -> list[str]:
    return _section("ways", texts) + table(*way_rows(ways, texts))


def _parts(found: Json, texts: Texts) -> list[str]:
    return _section("parts", texts) + table(*part_rows(found, texts))


def _corpus(parts: Json, texts: Texts) -> list[str]:
    return _section("corpus", texts) + table(*corpus_rows(parts, texts))


def _rewriting(ways: Json, texts: Texts) -> list[str]:
    return _section("rewriting", texts) + table(*rewriting_rows(ways, texts)) + unchanged_lines(ways, texts)


def _actions(actions: Json, texts: Texts) -> list[str]:
    confusion = actions["confusion"]
    taken = sorted({name for row in confusion.values() for name in row})
    rows = [[wanted, *(row.get(name, 0) for name in taken)] for wanted, row in confusion.items()]
    lines = _section("actions", texts) + table([texts["expected"], *taken], rows)
    judged = [
        [name, *(actions[name][one] for one in ("recall", "precision", "wrongly"))]
        for name in ("clarify", "not_found")
    ]
    return lines + table([texts["action"], texts["recall"], texts["precision"], texts["wrongly"]], judged)


def _answers(answers: Json, texts: Texts) -> list[str]:
    names = ("accuracy", "forbidden_values", "citations_hold_evidence", "turns_citing_outside_hits")
    rows: list[list[object]] = [
        [texts["turns"], answers["turns"]],
        *([texts[name], answers[name]] for name in names),
    ]
    rows += [[label(name, texts), row["accuracy"]] for name, row in answers["by_turn"].items()]
    return _section("answers", texts) + table(["", ""], rows)


def _lost(report: Json, texts: Texts) -> list[str]:
    rows = report.get("answers", report)["lost"]
    lines = ["", f"## {texts['lost'].format(number=len(rows))}"]
    if not rows:
        return [*lines, texts["none_lost"]]
    cells = [
        [
            row["turn"],
            ", ".join(texts[f"wrong_{one}"] for one in row["wrong"]),
            row["query"],
            " / ".join(row["rewritten"]),
        ]
        for row in rows[:_LOST]
    ]
    return lines + table([texts["turns"], "", texts["query"], texts["rewritten"]], cells)
