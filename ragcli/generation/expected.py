"""What kind of value a question asks for, and whether an answer holds one.

A small model asked for a price that no file gives copies some other sentence about the thing. Such an answer
is about the question and doesn't answer it: it counts as a refusal. Pure; the patterns are data.
"""

from __future__ import annotations

import re
from functools import cache

from ragcli.generation.wording import fold, wording


def holds_what_is_asked(question: str, answer: str, language: str) -> bool:
    """Say whether an answer holds a value of a kind that the question asks for, or the question asks for none.

    A question that asks for several kinds is answered by one of them.

    >>> holds_what_is_asked("换电池多少钱", "电池由售后更换。", "zh")
    False
    >>> holds_what_is_asked("换电池多少钱", "更换电池 95 元。", "zh")
    True
    """
    asked, said = fold(question), fold(answer)
    wanted = [value for kind, value, _ in _kinds(language) if kind.search(asked)]
    return not wanted or any(value.search(said) for value in wanted)


def tells_what_is_asked(question: str, text: str, language: str) -> bool:
    """Say whether a text holds a value of a kind that the question asks for; not where it asks for none.

    >>> tells_what_is_asked("换电池多少钱", "更换电池 95 元。", "zh"), tells_what_is_asked("能换电池吗", "95 元", "zh")
    (True, False)
    """
    asked, said = fold(question), fold(text)
    return any(told.search(said) for kind, _, told in _kinds(language) if kind.search(asked))


@cache
def _kinds(language: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (re.compile(kind["asked"]), re.compile(kind["value"]), re.compile(kind.get("told", kind["value"])))
        for kind in wording(language)["expected"]
    )
