"""Make a folder of text files to measure with: real sentences in seeded order, under chapters.

    python benchmarks/corpus.py PASSAGES.jsonl FOLDER [FILES] [CHARACTERS]

PASSAGES.jsonl has a "text" in each row. Each file has a title and chapters of paragraphs; no two paragraphs are the
same, so that every chunk needs a vector of its own.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

PER_CHAPTER = 1600


def sentences_of(source: Path) -> list[str]:
    """Return the sentences of a file of passages, each once."""
    rows = (json.loads(line) for line in source.read_text("utf-8").splitlines() if line.strip())
    found = (part.strip() for row in rows for part in re.findall(r"[^。！？\n]+[。！？]?", row["text"]))
    return list(dict.fromkeys(part for part in found if 8 <= len(part) <= 160))


def text_of(number: int, sentences: list[str], characters: int, seed: int = 1) -> str:
    """Return file `number` of the corpus: the same arguments give the same text."""
    source = random.Random(seed * 1_000_003 + number)
    lines, size, chapter = [f"资料汇编 {number:04d}", ""], 0, 0
    while size < characters:
        chapter += 1
        lines += [f"第{chapter}章 {source.choice(sentences)[:12].rstrip('，。、')}", ""]
        for _ in range(PER_CHAPTER // 400):
            paragraph = ""
            while len(paragraph) < 380:
                paragraph += source.choice(sentences)
            lines += [paragraph, ""]
            size += len(paragraph)
    return "\n".join(lines)


def write_corpus(source: Path, folder: Path, files: int = 1000, characters: int = 2900) -> None:
    """Write the files into a folder that is made here."""
    sentences = sentences_of(source)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        (folder / f"doc{number:04d}.txt").write_text(text_of(number, sentences, characters), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    write_corpus(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
