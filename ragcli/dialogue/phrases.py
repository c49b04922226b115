"""Cut a question down to the phrase that later ones carry on, and to the noun that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragcli.dialogue.linking import Mention
from ragcli.dialogue.wording import ENDS, asking_clause, content
from ragcli.dialogue.words import language_of, words_of

_LONG = 20
_LONGEST = 40
_TAIL = re.compile(r"(?:的话)?[呢吗吧啊呀嘛?？。！!\s]+$")
_EDGE = re.compile(r"^[的,，、\s]+|[,，、\s]+$")


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with blanks in the given ranges."""
    cut = list(text)
    for start, end in spans:
        cut[start:end] = " " * (end - start)
    return "".join(cut)


def blanked_names(text: str, names: Iterable[str]) -> str:
    """Return the text with blanks in the place of names."""
    for name in names:
        text = text.replace(name, " " * len(name))
    return text


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


def subject_of(text: str) -> str:
    """Return the noun that a Chinese question is about: what stands before 的, else before its first verb.

    >>> [subject_of(text) for text in ("停机时间是变多了还是少了", "高铁能坐商务座吗", "2023 版办法中停车费报销吗")]
    ['停机时间', '高铁', '停车费报销']
    """
    for frame in words_of("zh").findall("edition_frame_patterns", text):
        text = text.replace(frame.group(), " ")
    head, of, _ = asking_clause(text.strip()).partition("的")
    if of and content(head) and 2 <= len(head.strip()) <= _LONG:
        inside = content(head)
        return head[head.index(inside[0]) :].strip() if len(inside) <= 3 else ""
    runs = (_before_verb(run) for run in content(text) if not run[0].isdigit())
    return next((run for run in runs if 2 <= len(run) <= 8), "")


def _before_verb(run: str) -> str:
    """Return a run of content up to its first verb or count; all of it where too little stands before one."""
    cuts = [match.start() for match in words_of("zh").findall("subject_ends", run) if match.start() > 1]
    return run[: cuts[0]] if cuts else run
