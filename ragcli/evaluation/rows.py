"""The heads and rows of a report's tables, the same for every form that a report is written in."""

from __future__ import annotations

from collections.abc import Mapping

from ragcli.datatypes import Json
from ragcli.evaluation.wording import range_of, share

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

Texts = Mapping[str, str]
Row = list[object]


def label(name: str, texts: Texts) -> str:
    """Return the name of a column or a row as it is shown."""
    return NAMES.get(name) or texts.get(name, name)


def way_rows(ways: Json, texts: Texts) -> tuple[list[str], list[Row]]:
    """Return one row a way of asking: what was found, in all and by turn."""
    rows: list[Row] = []
    for name, figures in ways.items():
        found = figures["retrieval"]
        row = found["all"]
        by_turn = [found["by_turn"].get(turn, {}).get("hit5", "") for turn in TURNS]
        range_ = range_of(row["interval"], "hit5")
        rows.append([name, row["turns"], row["hit5"], range_, row["hit1"], row["mrr"], *by_turn])
    head = [texts["way"], texts["turns"], "hit@5", "95 %", "hit@1", "MRR", *(texts[turn] for turn in TURNS)]
    return head, rows


def part_rows(found: Json, texts: Texts) -> tuple[list[str], list[Row]]:
    """Return one row a part of the turns: all, by number, by what they lean on, by kind."""
    named = parts_of(found)
    rows: list[Row] = [
        [label(name, texts), row["turns"], *(row[one] for one in FOUND)] for name, row in named
    ]
    return [texts["part"], texts["turns"], *(NAMES[name] for name in FOUND)], rows


def parts_of(found: Json) -> list[tuple[str, Json]]:
    """Return the parts of the turns by name, in the order of the rows."""
    parts = (found[part].items() for part in ("by_turn", "by_dependence", "by_kind"))
    return [("all", found["all"]), *(pair for part in parts for pair in part)]


def corpus_rows(parts: Json, texts: Texts) -> tuple[list[str], list[Row]]:
    """Return one row a part of conversations over a corpus, counted by document."""
    columns = ("turns", "hit1", "hit5", "mrr", "wrongly_held_back", "unanswerable", "held_back")
    rows: list[Row] = [[name, *(row[one] for one in columns)] for name, row in parts.items()]
    return [texts["part"], *(label(one, texts) for one in columns)], rows


def rewriting_rows(ways: Json, texts: Texts) -> tuple[list[str], list[Row]]:
    """Return one row a way that completes questions."""
    rows: list[Row] = []
    for name, figures in ways.items():
        if "rewriting" in figures:
            read = figures["rewriting"]
            row = read["dependent"]
            shares = [read[one]["share"] for one in ("over_rewriting", "invented")]
            rows.append([name, row["turns"], *(row[one] for one in READ), *shares])
    names = [*(label(one, texts) for one in READ), texts["over_rewriting"], texts["invented"]]
    return [texts["way"], texts["turns"], *names], rows


def unchanged_lines(ways: Json, texts: Texts) -> list[str]:
    """Return a sentence on complete questions asked within their conversation, where that was measured."""
    found = [figures for figures in ways.values() if "unchanged" in figures]
    return [
        "",
        *(texts["unchanged"].format(share=share(row["unchanged"]), turns=row["turns"]) for row in found),
    ]
