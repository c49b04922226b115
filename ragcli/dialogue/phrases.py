"""Cut a question down to the phrase that later ones carry on, and exchange one part of it for another."""

from __future__ import annotations

import re

from ragcli.dialogue.linking import Mention
from ragcli.dialogue.wording import ENDS, asking_clause, content
from ragcli.dialogue.words import language_of, words_of

_LONG = 20
_LONGEST = 40
_TAIL = re.compile(r"(?:的话)?[呢吗吧啊呀嘛?？。！!\s]+$")
_EDGE = re.compile(r"^[的,，、\s]+|[,，、\s]+$")
_CJK_RUN = re.compile(r"[\u4e00-\u9fff]+")


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with blanks in the given ranges."""
    cut = list(text)
    for start, end in spans:
        cut[start:end] = " " * (end - start)
    return "".join(cut)


def phrase(text: str, spans: list[tuple[int, int]]) -> str:
    """Return what a question says besides its entities, without the particles at its end."""
    if language_of(text) == "en":
        return " ".join(content(blanked(text, spans)))
    rest = _TAIL.sub("", blanked(text, spans))
    rest = re.sub(r"(?<=\s)[跟和与或](?=\s)|^[跟和与或]\s", " ", rest)
    return re.sub(r"\s+", " ", _EDGE.sub("", rest)).strip(ENDS)


def shortened(said: str) -> str:
    """Return a phrase of the chain without chat around what it asks."""
    return said if len(said) <= _LONG else asking_clause(said)[:_LONGEST].strip(ENDS)


def topic_of(text: str) -> str:
    """Return the noun phrase that an English question is about: its longest run of words with content."""
    words = words_of("en")
    found = words.starts("fillers", text.lower())
    runs: list[list[str]] = [[]]
    for piece in re.findall(r"[A-Za-z0-9][\w'’.+/-]*[\w+]|[A-Za-z0-9]|[^\w\s]", text[len(found) :]):
        plain = re.sub(r"['’]s$", "", piece)
        if (piece.isalnum() and not content(piece)) or not re.match(r"\w", piece):
            runs.append([])
        elif content(plain):
            runs[-1].append(piece)
            if plain != piece:
                runs.append([])
    kept = [run for run in runs if any(word.lower() not in words.lists["relational"] for word in run)]
    best = max(kept, key=lambda run: (sum(word[0].isupper() for word in run), min(len(run), 4)), default=[])
    return re.sub(r"['’]s$", "", " ".join(best))


def linked(text: str, named: tuple[Mention, ...]) -> str:
    """Put canonical names in the place of what was said."""
    out, at = [], 0
    for mention in named:
        if mention.anchors and mention.entity.kind == "name":
            out += [text[at : mention.start], mention.entity.name]
            at = mention.end
    return "".join([*out, text[at:]])


def exchanged(whole: str, part: str, named: tuple[str, ...] = ()) -> str:
    """Put a short part in the place of its counterpart in a whole question; empty where there is none.

    Counterparts are times of one pattern (6 月 for 5 月) and words of one length at the edge of a run of
    content that share their first or last character (周日 for 周六, 末班 for 首班, 省外 for 省内). `named`
    are entities of the whole, which stay.
    """
    words = words_of(language_of(whole))
    new = words.findall("time_patterns", part)
    old = words.findall("time_patterns", whole)
    if new and old and new[0].group() == part:
        return whole[: old[-1].start()] + part + whole[old[-1].end() :]
    if not _CJK_RUN.fullmatch(part) or not 2 <= len(part) <= 4:
        return ""
    plain = whole
    for name in named:
        plain = plain.replace(name, " " * len(name))
    for run in content(plain):
        for piece in (run[: len(part)], run[-len(part) :]):
            if _CJK_RUN.fullmatch(piece) and piece != part and _alike(piece, part):
                at = plain.index(piece)
                return whole[:at] + part + whole[at + len(part) :]
    return ""


def _alike(one: str, other: str) -> bool:
    if len(one) != len(other):
        return False
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return same >= len(one) / 2 and (one[0] == other[0] or one[-1] == other[-1])
