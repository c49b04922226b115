"""Cut running text into sentences: joined they are the text again. Pure."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！？；!?\n]*(?:[。！？；!?]+[”’」』）)]*|\n|$)")
_ENGLISH_END = re.compile(r"(?<=[a-z0-9)])\.(?=\s)\s*")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, punctuation and line ends included.

    >>> sentences("先断电。再拆壳！ Cut the power. Open it.")
    ['先断电。', '再拆壳！', ' Cut the power. ', 'Open it.']
    """
    out = []
    for part in _SENTENCE.findall(text):
        cuts = [found.end() for found in _ENGLISH_END.finditer(part)]
        out += [part[a:b] for a, b in zip([0, *cuts], [*cuts, len(part)], strict=True)]
    return [part for part in out if part]
