"""A report as Markdown: the tables that a page of documentation shows, without the lost turns' traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragcli.datatypes import Json
from ragcli.evaluation.wording import about, range_of, share, words

TURNS = ("turn1", "turn2", "turn3", "turn4")
FOUND = ("hit1", "hit3", "hit5", "hit10", "mrr", "ndcg10")
READ = (
    "exact",
    "rouge_l",
    "restored_recall",
    "restored_precision",
    "same_things",
    "same_numbers",
    "same_asked",
)
NAMES = {"hit1": "hit@1", "hit3": "hit@3", "hit5": "hit@5", "hit10": "hit@10", "mrr": "MRR", "ndcg10": "nDCG@10",
         "rouge_l": "ROUGE-L"}  # fmt: skip
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


def label(name: str, texts: Mapping[str, str]) -> str:
    """Return the name of a column or a row as it is shown."""
    return NAMES.get(name) or texts.get(name, name)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a table; a bar in a cell is escaped."""
    lines = ["", *(f"| {' | '.join(map(_cell, row))} |" for row in (head, *rows))]
    lines.insert(2, "|" + "---|" * len(head))
    return lines


def _cell(value: object) -> str:
    text = share(value) if value is None or isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split()) or " "


def _section(key: str, texts: Mapping[str, str]) -> list[str]:
    return ["", f"## {texts[key]}", texts[f"{key}_note"]]


def _ways(ways: Json, texts: Mapping[str, str]) -> list[str]:
    rows = []
    for name, figures in ways.items():
        found = figures["retrieval"]
        by_turn = [found["by_turn"].get(turn, {}).get("hit5", "") for turn in TURNS]
        row = found["all"]
        rows.append(
            [
                name,
                row["turns"],
                row["hit5"],
                range_of(row["interval"], "hit5"),
                row["hit1"],
                row["mrr"],
                *by_turn,
            ]
        )
    head = [texts["way"], texts["turns"], "hit@5", "95 %", "hit@1", "MRR", *(texts[turn] for turn in TURNS)]
    return _section("ways", texts) + table(head, rows)


def _parts(found: Json, texts: Mapping[str, str]) -> list[str]:
    rows = [[label("all", texts), found["all"]["turns"], *(found["all"][name] for name in FOUND)]]
    for part in ("by_turn", "by_dependence", "by_kind"):
        rows += [
            [label(name, texts), row["turns"], *(row[one] for one in FOUND)]
            for name, row in found[part].items()
        ]
    return _section("parts", texts) + table(
        [texts["part"], texts["turns"], *(NAMES[name] for name in FOUND)], rows
    )


def _corpus(parts: Json, texts: Mapping[str, str]) -> list[str]:
    columns = ("turns", "hit1", "hit5", "mrr", "wrongly_held_back", "unanswerable", "held_back")
    rows = [[name, *(row[one] for one in columns)] for name, row in parts.items()]
    return _section("corpus", texts) + table([texts["part"], *(label(one, texts) for one in columns)], rows)


def _rewriting(ways: Json, texts: Mapping[str, str]) -> list[str]:
    rows = []
    for name, figures in ways.items():
        if "rewriting" in figures:
            read = figures["rewriting"]
            row = read["dependent"]
            shares = [read[one]["share"] for one in ("over_rewriting", "invented")]
            rows.append([name, row["turns"], *(row[one] for one in READ), *shares])
    head = [
        texts["way"],
        texts["turns"],
        *(label(one, texts) for one in READ),
        texts["over_rewriting"],
        texts["invented"],
    ]
    return _section("rewriting", texts) + table(head, rows) + unchanged_lines(ways, texts)


def unchanged_lines(ways: Json, texts: Mapping[str, str]) -> list[str]:
    """Return a sentence on complete questions asked within their conversation, where that was measured."""
    found = [figures for figures in ways.values() if "unchanged" in figures]
    return [
        "",
        *(texts["unchanged"].format(share=share(row["unchanged"]), turns=row["turns"]) for row in found),
    ]


def _actions(actions: Json, texts: Mapping[str, str]) -> list[str]:
    confusion = actions["confusion"]
    taken = sorted({name for row in confusion.values() for name in row})
    rows = [[wanted, *(row.get(name, 0) for name in taken)] for wanted, row in confusion.items()]
    lines = _section("actions", texts) + table([texts["expected"], *taken], rows)
    judged = [
        [name, *(actions[name][one] for one in ("recall", "precision", "wrongly"))]
        for name in ("clarify", "not_found")
    ]
    return lines + table([texts["action"], texts["recall"], texts["precision"], texts["wrongly"]], judged)


def _answers(answers: Json, texts: Mapping[str, str]) -> list[str]:
    names = ("accuracy", "forbidden_values", "citations_hold_evidence", "turns_citing_outside_hits")
    rows: list[list[object]] = [
        [texts["turns"], answers["turns"]],
        *([texts[name], answers[name]] for name in names),
    ]
    rows += [[label(name, texts), row["accuracy"]] for name, row in answers["by_turn"].items()]
    return _section("answers", texts) + table(["", ""], rows)


def _lost(report: Json, texts: Mapping[str, str]) -> list[str]:
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
