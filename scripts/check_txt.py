"""Check the reading of real text files against a manifest that says what a person counted in them.

Run by `make eval-data`; RAGCLI_EVAL_TXT names the folder with manifest.jsonl and the files. An entry of the
manifest holds where the headings that its pattern matches (articles for 条) are as many as counted, within 1 %,
and the first and last three are the same lines and texts. Approximate entries, those of level 0 and those that
can't be told apart (no pattern) only inform. A file passes where all its entries hold, it was decoded in the
encoding that the manifest names, no heading lies in its table of contents, and files without headings have none.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragcli.datatypes import Document, SplitOptions
from ragcli.documents.read import read_document

WANTED = 28
CODECS = {"gbk/gb2312": "gb18030", "gbk": "gb18030", "ascii": "utf-8"}


def main() -> int:
    """Check every file; 0 where enough of them pass."""
    folder = Path(os.environ.get("RAGCLI_EVAL_TXT", ""))
    if not (folder / "manifest.jsonl").is_file():
        print("RAGCLI_EVAL_TXT names no folder with a manifest.jsonl", file=sys.stderr)
        return 2
    rows = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    passed = 0
    for row in rows:
        name = Path(row["path"]).name
        data = (folder / name).read_bytes()
        faults = list(check(row, data, read_document(data, name, SplitOptions())))
        passed += not faults
        print(f"{'ok  ' if not faults else 'FAIL'} {name}" + "".join(f"\n     {fault}" for fault in faults))
    print(f"{passed} of {len(rows)} files pass; {WANTED} are wanted")
    return 0 if passed >= WANTED else 1


def check(row: dict[str, Any], data: bytes, document: Document) -> Iterator[str]:
    """Yield what is wrong with the reading of one file."""
    yield from check_text(row, data, document)
    if not row["headings"] and document.headings:
        yield f"{len(document.headings)} headings where there are none: {document.headings[0]}"
    seen = document.text.split("\n")
    for entry in row["headings"]:
        if entry["level"] == 0 or entry.get("approximate"):
            continue
        if entry.get("regex") is None:
            yield from check_count(entry, document)
            continue
        yield from check_entry(entry, document, seen)


def check_text(row: dict[str, Any], data: bytes, document: Document) -> Iterator[str]:
    """Yield where the text isn't what the named encoding makes of the bytes."""
    encoding = row["encoding"].split()[0]
    encoding = CODECS.get(encoding, encoding)
    want = data.decode(encoding, "replace")
    want = want.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if "\ufffd" not in want and want != document.text:
        yield f"read as {document.encoding}, not as {encoding}"


def check_count(entry: dict[str, Any], document: Document) -> Iterator[str]:
    """Yield where an entry without a pattern isn't met by the number of headings of any level."""
    levels = Counter(heading.level for heading in document.headings)
    if not any(abs(got - entry["count"]) <= entry["count"] / 100 for got in levels.values()):
        yield f"{entry['name']}: {dict(levels)} headings by level, {entry['count']} counted"


def check_entry(entry: dict[str, Any], document: Document, seen: list[str]) -> Iterator[str]:
    """Yield how the headings of one pattern differ from what was counted."""
    pattern = re.compile(entry["regex"])
    if entry["name"] in ("条", "條"):
        lines = [article.line for article in document.articles]
    else:
        lines = [heading.line for heading in document.headings if pattern.search(seen[heading.line - 1])]
    before = [line for line in lines if line < entry.get("from_line", 0)]
    if before:
        yield f"{entry['name']}: {len(before)} in the table of contents, first in line {before[0]}"
    counts = {len(lines)}
    if (
        entry["count"] != entry["regex_hits"] and pattern.groups
    ):  # a chapter named only inside its sections' titles
        counts.add(len({pattern.search(seen[line - 1]).group(1) for line in lines}))
    if not any(abs(count - entry["count"]) <= entry["count"] / 100 for count in counts):
        yield f"{entry['name']}: {len(lines)}, {entry['count']} counted"
    for which, place in (("first3", slice(0, 3)), ("last3", slice(-3, None))):
        want = [(line, text[:60].strip()) for line, text in entry.get(which, [])]
        got = [(line, seen[line - 1].strip(" \t\u3000")[:60].strip()) for line in lines[place]]
        if want != got:
            yield f"{entry['name']}: {which} are {got}, not {want}"


if __name__ == "__main__":
    sys.exit(main())
