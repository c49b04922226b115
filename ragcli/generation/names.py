"""Model names and codes (JS-500, K12, E2) in sentences and passages: is it said of the right sibling? Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcli.datatypes import Passage
from ragcli.generation.wording import fold

_CODE = re.compile(r"(?<![a-z0-9])([a-z]{1,6})[- ]?(\d{1,5}[a-z]{0,3})(?![a-z0-9]|\s*[%℃°])")


def codes(text: str) -> set[tuple[str, str]]:
    """Return the codes of a text as (letters, number), however they are spaced.

    >>> sorted(codes("AB-300 与 ab 500，错误 E2"))
    [('ab', '300'), ('ab', '500'), ('e', '2')]
    """
    return set(_CODE.findall(fold(text)))


def of_its_own(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages without those about a sibling of what the question names.

    All of them where none names it: then nothing tells which are wrong.
    """
    named = codes(question)
    own = [passage for passage in passages if not of_a_sibling(question, passage)]
    return own if any(named & _held(passage) for passage in own) else list(passages)


def without_codes(text: str, known: set[tuple[str, str]]) -> str:
    """Return a text without the codes that are known: their numbers say nothing of their own."""
    return _CODE.sub(
        lambda found: " " if (found[1], found[2]) in known else found[0], fold(text.replace("，", "、"))
    )


def of_a_sibling(sentence: str, passage: Passage, question: str = "") -> bool:
    """Tell whether a passage speaks of another code of the same family than the sentence, and not of its own.

    A sentence without codes speaks of the question's. A passage that names no code of the family may be about
    any: it is no sibling's.
    """
    sentence = sentence if codes(sentence) else question
    held = _held(passage)
    for letters in {letters for letters, _ in codes(sentence)}:
        mine = {code for code in codes(sentence) if code[0] == letters}
        theirs = {code for code in held if code[0] == letters}
        if theirs and not mine & theirs:
            return True
    return False


def _held(passage: Passage) -> set[tuple[str, str]]:
    return codes("\n".join((passage.file, passage.title, *passage.heading_path, passage.text)))
