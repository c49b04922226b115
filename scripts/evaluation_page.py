"""Put the figures of measurements into docs/evaluation.md, between the marks that name them.

    python scripts/evaluation_page.py SAMPLES.json [SECOND.json] [--page docs/evaluation.md]

Each file is what `ragcli eval … --ablate --with-model --json` printed; answers are shown where --answers was given.
What stands outside the marks is a person's and stays. The tables have the form of the claims that ragcli set out from:
second and third turns, follow-ups, pronouns, what a model alone resolves and what rules and model do, and so on.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Report = dict[str, Any]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "evaluation.md"
WAYS = ("raw", "concat", "rules", "llm", "hybrid", "gold")
WAY_NAMES = {
    "raw": "the question as typed",
    "concat": "joined to the one before",
    "rules": "rules alone",
    "llm": "the model first, checked",
    "hybrid": "rules, then the model",
    "gold": "a person's complete question",
}


def hit(report: Report, way: str, *path: str) -> float | None:
    """Return hit@5 of a way: over all turns, or over a part of them."""
    try:
        row = report["ways"][way]["retrieval"]
        for name in path or ("all",):
            row = row[name]
        return float(row["hit5"])
    except KeyError:
        return None


def percent(value: float | None) -> str:
    """Return a share in percent, or a dash where it wasn't measured."""
    return "–" if value is None else f"{100 * value:.0f} %"


def decimal(value: float | None) -> str:
    """Return a share with three decimals, or a dash where there was nothing to agree on."""
    return "–" if value is None else f"{value:.3f}"


def claims(reports: list[Report]) -> Iterator[list[str]]:
    """Yield the rows of the table that has the form of the claims."""

    def row(
        name: str,
        claim: str,
        before: Callable[[Report], float | None],
        after: Callable[[Report], float | None],
    ) -> list[str]:
        return [name, claim, *(f"{percent(before(one))} → {percent(after(one))}" for one in reports)]

    def turn(name: str) -> tuple[Callable[[Report], float | None], Callable[[Report], float | None]]:
        return (lambda one: hit(one, "raw", "by_turn", name)), (
            lambda one: hit(one, "ragcli", "by_turn", name)
        )

    yield row("second turns, found", "55 → 78 %", *turn("turn2"))
    yield row("third turns, found", "40 → 72 %", *turn("turn3"))
    yield row("fourth and later, found", "", *turn("turn4"))
    yield row(
        "follow-ups that lean on earlier turns", "52 → 81 %",
        lambda one: hit(one, "raw", "by_dependence", "dependent"), lambda one: hit(one, "ragcli", "by_dependence", "dependent"),
    )  # fmt: skip
    yield row(
        "turns with a pronoun", "30 → near 80 %",
        lambda one: hit(one, "raw", "by_kind", "pronoun"), lambda one: hit(one, "ragcli", "by_kind", "pronoun"),
    )  # fmt: skip
    yield row(
        "things meant, model alone → with rules",
        "70 → 85 %",
        lambda one: things(one, "llm"),
        lambda one: things(one, "ragcli"),
    )
    yield row(
        "two questions at once, one query → several", "+7 points",
        lambda one: hit(one, "one query", "by_kind", "multi"), lambda one: hit(one, "rules", "by_kind", "multi"),
    )  # fmt: skip
    yield row("answers right (of those drawn)", "44 → 68 %", lambda _one: None, answered)


def things(report: Report, way: str) -> float | None:
    """Return the share of leaning turns whose rewrite names all things that a person's does."""
    try:
        return float(report["ways"][way]["rewriting"]["dependent"]["same_things"])
    except (KeyError, TypeError):
        return None


def answered(report: Report) -> float | None:
    """Return the share of right answers, where answers were written."""
    answers = report.get("answers")
    return float(answers["figures"]["answers"]["accuracy"]) if answers else None


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def claims_table(reports: list[Report]) -> str:
    """Return the table of claims beside what was measured."""
    names = ["the sample cases", "a second set"][: len(reports)]
    return table(["what", "set out from", *names], list(claims(reports)))


def ways_table(report: Report) -> str:
    """Return the ways of asking side by side."""
    rows = []
    for way in ("ragcli", *WAYS):
        if way in report["ways"]:
            found = report["ways"][way]["retrieval"]
            low, high = found["all"]["interval"]["hit5"]
            turns = [f"{found['by_turn'].get(f'turn{n}', {}).get('hit5', 0):.2f}" for n in range(1, 5)]
            name = WAY_NAMES.get(way, f"as ragcli does it ({report['settings']['rewrite']})")
            rows.append(
                [
                    name,
                    f"{found['all']['hit5']:.3f}",
                    f"{low:.2f}–{high:.2f}",
                    f"{found['all']['hit1']:.3f}",
                    *turns,
                ]
            )
    return table(["searched", "hit@5", "95 %", "hit@1", "turn 1", "turn 2", "turn 3", "turn 4+"], rows)


def steps_table(report: Report) -> str:
    """Return what each step brings: hit@5 and hit@1 without it, beside the rules."""
    whole = report["ways"]["rules"]["retrieval"]["all"]
    rows = [["rules, everything on", f"{whole['hit5']:.3f}", "", f"{whole['hit1']:.3f}", ""]]
    for name, figures in report["ways"].items():
        if name in WAYS or name in ("ragcli", "gold in conversation") or name.startswith("llm"):
            continue
        row = figures["retrieval"]["all"]
        rows.append(
            [
                name,
                *(
                    cell
                    for one in ("hit5", "hit1")
                    for cell in (f"{row[one]:.3f}", f"{row[one] - whole[one]:+.3f}")
                ),
            ]
        )
    return table(["", "hit@5", "", "hit@1", ""], rows)


def reading_table(report: Report) -> str:
    """Return how the ways of completing a question agree with a person's."""
    columns = (
        "rouge_l",
        "restored_recall",
        "restored_precision",
        "same_things",
        "same_numbers",
        "same_asked",
    )
    rows = []
    for name, figures in report["ways"].items():
        if "rewriting" in figures:
            read = figures["rewriting"]
            shares = [f"{read[one]['share']:.3f}" for one in ("over_rewriting", "invented")]
            rows.append([name, *(decimal(read["dependent"][one]) for one in columns), *shares])
    head = [
        "",
        "ROUGE-L",
        "restored",
        "of what was added",
        "same things",
        "same numbers",
        "same asked",
        "over-rewritten",
        "invented",
    ]
    text = table(head, rows)
    spoken = report["ways"].get("gold in conversation")
    if spoken:
        share = f"{spoken['unchanged']:.3f}"
        text += f"\n\nA person's complete questions, asked within the conversation, go through unchanged: {share}."
    return text


def actions_table(report: Report) -> str:
    """Return what was done against what should have been, before any answer was written."""
    confusion = report["ways"]["ragcli"]["actions"]["confusion"]
    taken = sorted({name for row in confusion.values() for name in row})
    rows = [[wanted, *(str(row.get(name, 0)) for name in taken)] for wanted, row in confusion.items()]
    return table(["should", *taken], rows)


def lost_table(report: Report) -> str:
    """Return the turns that are still lost, by what went wrong."""
    rows = [row for row in report["lost"] if "not_found" in row["wrong"]]
    cells = [
        [
            row["turn"].split("/", 1)[1],
            row["query"].replace("|", "\\|"),
            " / ".join(row["rewritten"]).replace("|", "\\|"),
        ]
        for row in rows
    ]
    return f"{len(rows)} of {report['ways']['ragcli']['retrieval']['all']['turns']} turns:\n\n" + table(
        ["turn", "asked", "searched"], cells
    )


def filled(page: str, parts: dict[str, str]) -> str:
    """Return the page with each part between its marks."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"the page has no marks for {name}")
        page = pattern.sub(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
    return page


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    reports = [json.loads(path.read_bytes()) for path in options.reports]
    parts = {"claims": claims_table(reports)}
    for name, report in zip(("samples", "second"), reports, strict=False):
        parts[f"{name}-ways"] = ways_table(report)
        parts[f"{name}-reading"] = reading_table(report)
        parts[f"{name}-actions"] = actions_table(report)
    parts["samples-steps"] = steps_table(reports[0])
    parts["samples-lost"] = lost_table(reports[0])
    options.page.write_text(filled(options.page.read_text("utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main()
