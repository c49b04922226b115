"""Check that a folder of documents, headings.json and cases.jsonl agree with each other.

For people who write cases: `python scripts/check_cases.py [FOLDER]` names each wrong line and exits 1.
It judges the data alone, never a system's answers to it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CODECS = {"utf-8": "utf-8", "utf-8 with BOM": "utf-8-sig", "gb18030": "gb18030"}
KINDS = frozenset(
    (
        "standalone",
        "pronoun",
        "ellipsis",
        "topic",
        "multi",
        "negation",
        "switch",
        "return",
        "time",
        "compare",
        "alias",
    )
)
EXPECTS = frozenset(("answer", "correct", "clarify", "not_found"))
FIELDS = frozenset(("query", "rewrite", "evidence", "answer_has", "answer_not", "expect", "kind"))
SEPARATORS = {"spaces": "  ", "tabs": "\t", "pipes": "|"}


def decode(raw: bytes, encoding: str) -> str:
    """Return the decoded text without byte order mark and with LF line ends."""
    return raw.decode(CODECS[encoding]).replace("\r\n", "\n")


def check_storage(name: str, raw: bytes, meta: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a file's encoding, line ends or number of lines."""
    if raw.startswith(b"\xef\xbb\xbf") != (meta["encoding"] == "utf-8 with BOM"):
        yield f"{name}: the byte order mark doesn't fit encoding {meta['encoding']!r}"
    crlf = raw.count(b"\r\n") if meta["newline"] == "CRLF" else 0
    if raw.count(b"\r") != crlf or (crlf and raw.count(b"\n") != crlf):
        yield f"{name}: line ends aren't {meta['newline']} throughout"
    found = len(decode(raw, meta["encoding"]).rstrip("\n").split("\n"))
    if found != meta["lines"]:
        yield f"{name}: {found} lines, headings.json says {meta['lines']}"


def check_outline(name: str, lines: list[str], meta: dict[str, Any]) -> Iterator[str]:
    """Yield each heading, decoy or table that doesn't stand at its line."""
    for field in ("headings", "decoys"):
        for entry in meta[field]:
            if lines[entry["line"] - 1 : entry["line"]] != [entry["text"]]:
                yield f"{name}:{entry['line']}: {field} says {entry['text']!r}"
    levels = [heading["level"] for heading in meta["headings"]]
    if levels[:1] != [0] or levels.count(0) != 1:
        yield f"{name}: the title has to come first, and once"
    for before, after in zip(meta["headings"], meta["headings"][1:], strict=False):
        if after["line"] <= before["line"] or after["level"] > before["level"] + 1:
            yield f"{name}:{after['line']}: heading out of order or a level skipped"
    for table in meta["tables"]:
        for number in range(table["first_line"], table["last_line"] + 1):
            row = "".join(lines[number - 1 : number])
            if SEPARATORS[table["style"]] not in row:
                yield f"{name}:{number}: not a row of a table of {table['style']}"


def check_turn(place: str, turn: dict[str, Any], first: bool, texts: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with one turn; `place` names its line, case and number."""
    if set(turn) != FIELDS:
        yield f"{place}: fields missing or unknown: {sorted(set(turn) ^ FIELDS)}"
        return
    if turn["expect"] not in EXPECTS:
        yield f"{place}: unknown expect {turn['expect']!r}"
    if not turn["kind"] or set(turn["kind"]) - KINDS:
        yield f"{place}: unknown or no kind {turn['kind']}"
    if first != ("standalone" in turn["kind"]):
        yield f"{place}: the first turn, and no other, is standalone"
    if not turn["query"].strip() or not turn["rewrite"].strip():
        yield f"{place}: empty query or rewrite"
    if not turn["answer_has"] or not all(group and all(group) for group in turn["answer_has"]):
        yield f"{place}: empty group in answer_has"
    if bool(turn["evidence"]) != (turn["expect"] in ("answer", "correct")):
        yield f"{place}: evidence belongs to answer and correct, and to no other"
    for entry in turn["evidence"]:
        yield from check_evidence(place, entry, texts)


def check_evidence(place: str, entry: dict[str, str], texts: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with one piece of evidence."""
    text = entry["text"]
    if entry["file"] not in texts:
        yield f"{place}: no file {entry['file']!r}"
    elif "\n" in text or not 6 <= len(text) <= 40:
        yield f"{place}: evidence must be 6 to 40 characters of one line: {text!r}"
    elif (count := texts[entry["file"]].count(text)) != 1:
        yield f"{place}: evidence occurs {count} times in {entry['file']}: {text!r}"


def check_cases(rows: list[str], texts: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with the lines of cases.jsonl."""
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        try:
            case = json.loads(row)
            seen[case["id"]] += 1
            turns = case["turns"]
        except (ValueError, KeyError, TypeError) as err:
            yield f"cases.jsonl:{number}: not a case: {err!r}"
            continue
        place = f"cases.jsonl:{number}: {case['id']}"
        if seen[case["id"]] > 1:
            yield f"{place}: the id is taken"
        if case.get("lang") not in ("zh", "en") or not 3 <= len(turns) <= 5:
            yield f"{place}: lang is zh or en, and turns are 3 to 5"
        for position, turn in enumerate(turns, 1):
            yield from check_turn(f"{place}.{position}", turn, position == 1, texts)


def problems(folder: Path) -> Iterator[str]:
    """Yield every disagreement in a folder, each naming its file and line."""
    outlines = json.loads((folder / "headings.json").read_text(encoding="utf-8"))
    names = {path.name for path in folder.glob("*.txt")}
    if names != set(outlines):
        yield f"headings.json and the folder differ: {sorted(names ^ set(outlines))}"
    texts = {}
    for name in sorted(names & set(outlines)):
        raw, meta = (folder / name).read_bytes(), outlines[name]
        texts[name] = decode(raw, meta["encoding"])
        yield from check_storage(name, raw, meta)
        yield from check_outline(name, texts[name].split("\n"), meta)
    yield from check_cases(
        (folder / "cases.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n"), texts
    )


def main() -> int:
    """Print what is wrong and return the exit code."""
    default = Path(__file__).resolve().parent.parent / "sample_docs"
    found = list(problems(Path(sys.argv[1]) if len(sys.argv) > 1 else default))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
