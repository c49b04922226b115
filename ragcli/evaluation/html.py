"""A report as one HTML file: no network, no script, light and dark, narrow and wide.

Whatever came from documents, cases or models is escaped; characters that steer text are shown as marks.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from html import escape

from ragcli.datatypes import Json
from ragcli.evaluation.rows import (
    NAMES,
    Texts,
    corpus_rows,
    label,
    part_rows,
    parts_of,
    rewriting_rows,
    unchanged_lines,
    way_rows,
)
from ragcli.evaluation.wording import about, share, style, words

_STEERING = {"Cc", "Cf", "Cs", "Co"}
_HARMLESS = {"\n", "\t", "\u200d", "\ufe0f"}


def html_report(report: Json, language: str) -> str:
    """Return a report as a whole page."""
    texts = words(language)
    ways = report["ways"]
    main = next(iter(ways.values()))
    parts = [
        f"<h1>{safe(texts['title'])}</h1>",
        f'<p class="note">{safe(about(report, texts))}</p>',
        _tiles(report, texts),
    ]
    if "retrieval" in main:
        parts += [_ways(ways, texts), _parts(main["retrieval"], texts)]
    if "parts" in main:
        parts.append(_corpus(main["parts"], texts))
    if any("rewriting" in figures for figures in ways.values()):
        parts.append(_rewriting(ways, texts))
    if "actions" in main:
        parts.append(_actions(main["actions"], texts))
    if "answers" in report:
        parts.append(_answers(report["answers"]["figures"]["answers"], texts))
    if "comparison" in report:
        parts.append(_comparison(report["comparison"], texts))
    parts += [_times(report["times"], texts), _lost(report, texts)]
    return page(texts["title"], "zh-CN" if language == "zh" else "en", "\n".join(parts))


def page(title: str, language: str, body: str) -> str:
    """Return a page around a body; what it may load is nothing."""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{safe(title)}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def safe(value: object) -> str:
    """Return a value as text that a page shows and never obeys.

    >>> safe("<b>\\u202e")
    '&lt;b&gt;⟨202E⟩'
    """
    text = share(value) if value is None or isinstance(value, float) else str(value)
    return escape("".join(map(_shown, text)))


def _shown(char: str) -> str:
    steering = char not in _HARMLESS and unicodedata.category(char) in _STEERING
    return f"⟨{ord(char):04X}⟩" if steering else char


def bar(value: float, low: float, high: float) -> str:
    """Return a bar from 0 to 1 with its interval as a line on it."""
    return (
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{value:.3f} ({low:.2f}–{high:.2f})">'
        f'<rect class="track" width="100" height="10"/><rect class="bar" y="1" width="{100 * value:.1f}" height="8"/>'
        f'<line class="range" x1="{100 * low:.1f}" x2="{100 * high:.1f}" y1="5" y2="5"/>'
        f'<line class="range" x1="{100 * low:.1f}" x2="{100 * low:.1f}" y1="2" y2="8"/>'
        f'<line class="range" x1="{100 * high:.1f}" x2="{100 * high:.1f}" y1="2" y2="8"/></svg>'
    )


def grid(head: Sequence[str], rows: Sequence[Sequence[object]], bars: Sequence[str] = ()) -> str:
    """Return a table; `bars` are ready-made cells that follow the first column, one a row."""
    wide = ['<th class="bar"></th>'] if bars else []
    top = [f"<th>{safe(head[0])}</th>", *wide, *(f'<th class="n">{safe(name)}</th>' for name in head[1:])]
    lines = [f"<tr>{''.join(top)}</tr>"]
    for place, row in enumerate(rows):
        drawn = [f'<td class="bar">{bars[place]}</td>'] if bars else []
        cells = [
            f"<td>{safe(row[0])}</td>",
            *drawn,
            *(f'<td class="n">{safe(cell)}</td>' for cell in row[1:]),
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _section(key: str, texts: Texts, *body: str) -> str:
    note = f'<p class="note">{safe(texts[f"{key}_note"])}</p>'
    return f'<section id="{key}"><h2>{safe(texts[key])}</h2>{note}{"".join(body)}</section>'


def _tiles(report: Json, texts: Texts) -> str:
    main = next(iter(report["ways"].values()))
    tiles = [
        (NAMES[name], main["retrieval"]["all"][name])
        for name in ("hit5", "hit1", "mrr")
        if "retrieval" in main
    ]
    if "rewriting" in main and "retrieval" not in main:
        tiles += [(label(name, texts), main["rewriting"]["all"][name]) for name in ("exact", "rouge_l")]
    if "actions" in main:
        tiles.append((texts["actions_right"], main["actions"]["right"]))
    if "answers" in report:
        tiles.append((texts["accuracy"], report["answers"]["figures"]["answers"]["accuracy"]))
    items = "".join(f"<li><b>{share(value)}</b>{safe(name)}</li>" for name, value in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _bar_of(row: Json, name: str) -> str:
    low, high = row["interval"][name]
    return bar(row[name], low, high)


def _ways(ways: Json, texts: Texts) -> str:
    bars = [_bar_of(figures["retrieval"]["all"], "hit5") for figures in ways.values()]
    return _section("ways", texts, grid(*way_rows(ways, texts), bars))


def _parts(found: Json, texts: Texts) -> str:
    bars = [_bar_of(row, "hit5") for _, row in parts_of(found)]
    return _section("parts", texts, grid(*part_rows(found, texts), bars))


def _corpus(parts: Json, texts: Texts) -> str:
    return _section("corpus", texts, grid(*corpus_rows(parts, texts)))


def _rewriting(ways: Json, texts: Texts) -> str:
    said = "".join(f"<p>{safe(line)}</p>" for line in unchanged_lines(ways, texts) if line)
    return _section("rewriting", texts, grid(*rewriting_rows(ways, texts)), said)


def _actions(actions: Json, texts: Texts) -> str:
    confusion = actions["confusion"]
    taken = sorted({name for row in confusion.values() for name in row})
    lines = [
        f"<tr><th>{safe(texts['expected'])}</th>{''.join(f'<th>{safe(name)}</th>' for name in taken)}</tr>"
    ]
    for wanted, row in confusion.items():
        cells = "".join(_confused(wanted, name, row.get(name, 0)) for name in taken)
        lines.append(f"<tr><th>{safe(wanted)}</th>{cells}</tr>")
    names = ("recall", "precision", "wrongly")
    judged = [[name, *(actions[name][one] for one in names)] for name in ("clarify", "not_found")]
    matrix = f'<div class="scroll"><table>{"".join(lines)}</table></div>'
    return _section(
        "actions", texts, matrix, grid([texts["action"], *(texts[name] for name in names)], judged)
    )


def _confused(wanted: str, taken: str, number: int) -> str:
    same = wanted == taken or {wanted, taken} <= {"answer", "correct"}
    kind = "right" if same else "wrong"
    return f'<td class="{kind}">{number}</td>' if number else "<td>·</td>"


def _answers(answers: Json, texts: Texts) -> str:
    names = ("forbidden_values", "citations_hold_evidence", "turns_citing_outside_hits")
    rows: list[list[object]] = [[texts["accuracy"], answers["accuracy"]], [texts["turns"], answers["turns"]]]
    rows += [[texts[name], answers[name]] for name in names]
    parts = {**answers["by_turn"], **answers["by_kind"]}
    by_part = [[label(name, texts), row["turns"], row["accuracy"]] for name, row in parts.items()]
    head = [texts["part"], texts["turns"], texts["accuracy"]]
    return _section("answers", texts, grid(["", ""], rows), grid(head, by_part))


def _comparison(comparison: Json, texts: Texts) -> str:
    rows = [
        [label(name, texts), row["both"], row["won"], row["lost"], row["p"]]
        for name, row in comparison["measures"].items()
    ]
    head = [texts["measure"], texts["both"], texts["won"], texts["lost_column"], "p"]
    changed = []
    for entry in comparison["turns"]:
        kind = "bad" if entry["lost"] else "good"
        what = ", ".join([*(f"+{one}" for one in entry["won"]), *(f"−{one}" for one in entry["lost"])])
        before, now = " ｜ ".join(entry["rewritten_before"]), " ｜ ".join(entry["rewritten_now"])
        changed.append(
            f'<li><code>{safe(entry["turn"])}</code> <b class="{kind}">{safe(what)}</b> {safe(entry["query"])}'
            f"<br>{safe(before)} → {safe(now)}</li>"
        )
    return _section("compared", texts, grid(head, rows), f"<ul>{''.join(changed)}</ul>")


def _times(times: Json, texts: Texts) -> str:
    spent = times.get("with_answers") or times["without_answers"]
    rows = [[step, row["median"], row["p95"]] for step, row in spent["ms"].items() if row["p95"]]
    cells = [[name, f"{median:.1f}", f"{p95:.1f}"] for name, median, p95 in rows]
    tokens = [[name, f"{number:.1f}"] for name, number in spent["tokens_a_turn"].items() if number]
    tables = [grid([texts["step"], texts["median"], texts["p95"]], cells)]
    if tokens:
        tables.append(grid([texts["tokens"], ""], tokens))
    return _section("times", texts, *tables)


def _lost(report: Json, texts: Texts) -> str:
    rows = report.get("answers", report)["lost"]
    title = texts["lost"].format(number=len(rows))
    if not rows:
        return f'<section id="lost"><h2>{safe(title)}</h2><p class="note">{safe(texts["none_lost"])}</p></section>'
    body = "".join(_lost_turn(row, texts) for row in rows)
    return f'<section id="lost"><h2>{safe(title)}</h2><p class="note">{safe(texts["lost_note"])}</p>{body}</section>'


def _lost_turn(row: Json, texts: Texts) -> str:
    wrong = ", ".join(texts[f"wrong_{one}"] for one in row["wrong"])
    facts: list[tuple[str, str]] = [
        ("reference", row["reference"]),
        ("rewritten", " ｜ ".join(row["rewritten"])),
        ("action", f"{row['expect']} → {row['action']}"),
        (
            "evidence",
            "\n".join([*(f"{one['file']}: {one['text']}" for one in row["evidence"]), *row["documents"]]),
        ),
        ("answer", row.get("answer") or ""),
        ("wanted", "; ".join(" / ".join(group) for group in row["answer_has"])),
        ("forbidden", ", ".join(row["answer_not"])),
    ]
    entries = "".join(f"<dt>{safe(texts[name])}</dt><dd>{safe(value)}</dd>" for name, value in facts if value)
    hits = "".join(f"<li>{_hit(hit)}</li>" for hit in row["hits"])
    trace = safe(json.dumps(row["trace"], ensure_ascii=False, indent=1))
    return (
        f"<details><summary><code>{safe(row['turn'])}</code> {safe(row['query'])} "
        f'<span class="bad">{safe(wrong)}</span></summary>'
        f"<dl>{entries}<dt>{safe(texts['hits'])}</dt><dd><ol>{hits}</ol></dd></dl>"
        f"<details><summary>{safe(texts['trace'])}</summary><pre>{trace}</pre></details></details>"
    )


def _hit(hit: Json) -> str:
    path = " › ".join(str(part).strip() for part in hit["heading_path"])
    place = f"{hit['file']}:{hit['line_start']}-{hit['line_end']}"
    return f"<code>{safe(place)}</code> {safe(path)} ({safe(round(float(hit['score']), 2))})<br>{safe(hit['text'])}"
