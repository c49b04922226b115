"""The `[n]` marks of an answer: found, checked against the passages shown, numbered anew without gaps. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_MARK = re.compile(r"\s*[\[［【]\s*(\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*)\s*[\]］】]")


def split_marks(sentence: str, known: Collection[int]) -> tuple[str, tuple[int, ...]]:
    """Return a sentence without its marks, and the passages it cites that exist, each once."""
    cited: list[int] = []
    for found in _MARK.finditer(sentence):
        cited += [int(number) for number in re.findall(r"\d+", found.group(1))]
    return _MARK.sub("", sentence), tuple(dict.fromkeys(n for n in cited if n in known))


class Numbering:
    """Number passages by their first citation: 1, 2, 3 … whatever numbers they had in the prompt."""

    def __init__(self) -> None:
        self.order: list[int] = []

    def marked(self, sentence: str, cited: Sequence[int]) -> str:
        """Return a sentence with its new marks before its closing punctuation."""
        if not cited:
            return sentence
        for n in cited:
            if n not in self.order:
                self.order.append(n)
        marks = "".join(f"[{number}]" for number in sorted(self.order.index(n) + 1 for n in cited))
        body, closing = _closing(sentence)
        return f"{body} {marks}{closing}"


def _closing(sentence: str) -> tuple[str, str]:
    body = sentence.rstrip()
    blank = sentence[len(body) :]
    end = re.search(r"[。！？；!?.;]*$", body)
    cut = end.start() if end else len(body)
    return body[:cut].rstrip(), body[cut:] + blank
