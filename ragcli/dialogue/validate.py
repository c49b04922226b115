"""Is a model's rewrite fit to be searched? Clean what small models wrap around it, refuse what isn't one.

The refusal is a reason for the trace; the caller falls back on the deterministic or the raw question.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.wording import ENDS, content, squash
from ragcli.dialogue.words import language_of, words_of

_THINK = re.compile(r"<think>.*?</think>|^.*?</think>", re.DOTALL)
_ROLE = re.compile(r"<\|.*", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)、])\s*")
_FRAME = "「」『』“”\"'`*《》 \t"
_LONGEST = 200
_REPEATED = 3


def clean(raw: str) -> str:
    """Return the question inside what a model wrote; empty where there is none."""
    text = _ROLE.sub("", _THINK.sub("", raw)).strip()
    if "<think>" in text:
        return ""
    text = _from_json(text)
    for line in text.splitlines():
        line = _unlabelled(_ITEM.sub("", line.strip().strip("*")))
        if line:
            return line
    return ""


def _from_json(text: str) -> str:
    match = re.search(r"\{.*\}", text, re.DOTALL)
    if not match:
        return text
    try:
        data = json.loads(match.group())
    except json.JSONDecodeError:
        return text
    found = data.get("query") or next(iter(data.get("queries") or ()), "")
    return found if isinstance(found, str) else ""


def _unlabelled(line: str) -> str:
    """Take off a label before the question; a line that is only a label becomes empty."""
    words = words_of(language_of(line))
    head, mark, tail = re.sub("[:：]", "：", line).partition("：")
    if mark and words.find("labels", head) and len(head) < 40:
        line = tail
    if line.strip(_FRAME).startswith(("「", "“")):
        line = line.strip()
    whole = line.strip(_FRAME)
    return whole if _paired(line, whole) else line.strip()


def _paired(line: str, whole: str) -> bool:
    """Say whether the marks around the line are a frame and not the quotation marks of a name in it."""
    return not any(mark in whole for mark in "「」『』“”《》") or line.strip() == whole


def refusal(
    rewrite: str,
    query: str,
    said: Iterable[str],
    lexicon: Lexicon,
    allowed: Iterable[str] = (),
    *,
    whitelist: bool = True,
) -> str:
    """Return why a rewrite may not be used, or an empty string.

    `said` are the texts of the conversation; `allowed` further names that may appear. Without the `whitelist`
    names from nowhere pass.
    """
    words = words_of(language_of(query))
    if not rewrite.strip(ENDS):
        return "empty"
    if language_of(rewrite) != language_of(query):
        return "another language"
    if len(rewrite) > _LONGEST or len(rewrite) > 6 * len(query) + 60:
        return "too long"
    if words.find("refusals", rewrite) or (words.find("labels", rewrite) and not words.find("labels", query)):
        return "not a question of the user's"
    if _loops(rewrite):
        return "repeats itself"
    known = squash(" ".join((query, *said, *allowed)), lexicon.fold).text
    foreign = _foreign(rewrite, known, lexicon) if whitelist else ""
    if foreign:
        return f"brings in {foreign}"
    return _dropped(rewrite, query)


def _loops(text: str) -> bool:
    pieces = Counter(text[i : i + 4] for i in range(len(text) - 3))
    return any(count > _REPEATED for count in pieces.values())


def _foreign(rewrite: str, known: str, lexicon: Lexicon) -> str:
    """Return a name or a number that neither the conversation nor the vocabulary holds."""
    named = {mention.surface for mention in mentions(rewrite, lexicon)}
    tokens: list[str] = re.findall(r"[A-Za-z]+-?\d[A-Za-z0-9-]*|\d+(?:\.\d+)?|《[^》]+》", rewrite)
    for token in tokens:
        key = squash(token.strip("《》"), lexicon.fold).text
        if key not in known and not any(key in squash(name, lexicon.fold).text for name in named):
            return token
    if language_of(rewrite) == "zh":
        fresh = [word for word in content(rewrite) if not _mostly(squash(word, lexicon.fold).text, known)]
        unknown = [word for word in fresh if not lexicon.knows(word)]
        return unknown[0] if len("".join(unknown)) > max(4, len(rewrite) // 3) else ""
    capitals: list[str] = re.findall(r"(?<!^)\b[A-Z][a-z]+\b", rewrite)
    return next((word for word in capitals if word.lower() not in known), "")


def _mostly(word: str, known: str) -> bool:
    pieces = [word[i : i + 2] for i in range(len(word) - 1)] or [word]
    return sum(piece in known for piece in pieces) >= len(pieces) / 2


def _dropped(rewrite: str, query: str) -> str:
    """Refuse a rewrite that lost a number or most of the words of the question: it answers or drifts."""
    for number in re.findall(r"\d+(?:\.\d+)?", query):
        if number not in rewrite:
            return f"lost {number}"
    own = [word for word in content(query) if len(word) > 1]
    if language_of(query) == "en":
        kept = [word for word in own if word.lower().rstrip("s") in rewrite.lower()]
        return "lost the question" if own and len(kept) * 2 < len(own) else ""
    pieces = {word[i : i + 2] for word in own for i in range(len(word) - 1)}
    return "lost the question" if pieces and not any(piece in rewrite for piece in pieces) else ""
