"""What the sentences of a passage that bear on a question tell apart: siblings, or classes of one thing.

6 seconds on the X-1, 10 on the X-2; 东馆 6:30 开门，西馆 9:00: a question that says neither may mean each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ragcli.datatypes import Hit
from ragcli.dialogue.cells import pieces_of
from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.state import Choice, Entity
from ragcli.dialogue.words import language_of, words_of

SENTENCE = re.compile(r"(?<=[。！？；;!?\n])|(?<=\.)\s+(?=[A-Z])")
_STOP = re.compile(r"[。！？；;!?\n]|\.\s")
_FULL_STOP = re.compile(r"(?<=[。！？!?\n])")
_BEHIND = 30
_SHARE = 0.7
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_ON = 3  # the sentence that bears on a question and the two behind it
_KINDS = ("dates", "durations")
_STEM = 4  # characters that tell a class from another: 东 of 东馆, 畅享 of 畅享系列


def bearing(query: str, hit: Hit, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that share most with a question, and those that tell what its heading leaves to them.

    Under "Firmware Update" the answer to how long an update takes need not say "update" again: it tells a time.
    """
    asked = pieces_of(query)
    scores = [len(asked & pieces_of(sentence)) for sentence in sentences]
    best = max(scores, default=0)
    near = [sentence for sentence, score in zip(sentences, scores, strict=True) if score >= _SHARE * best]
    if best < (1 if language_of(query) == "en" else 2):
        near = []
    path = hit.stored.chunk.heading_path
    if path and len(asked & pieces_of(path[-1])) > 1:
        near += [sentence for sentence in sentences if sentence not in near and _tells(query, sentence)]
    return near


def _tells(query: str, sentence: str) -> bool:
    """Say whether a sentence holds a value of the kind that a question asks for by its words."""
    words = words_of(language_of(query))
    return any(words.find(f"{kind}_asked_patterns", query) for kind in _KINDS) and _of_kind(query, sentence)


def siblings_in(query: str, hit: Hit, lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the siblings that the sentences which bear on the question give different values for."""
    sentences = [part for part in SENTENCE.split(hit.stored.chunk.text) if part.strip()]
    near = "\n".join(bearing(query, hit, sentences))
    named = [mention.entity for mention in mentions(near, lexicon) if mention.entity.kind == "name"]
    unique = list(dict.fromkeys(named))
    for entity in unique:
        kin = {other.name for other in lexicon.siblings(entity)} | {entity.name}
        family = [other for other in unique if other.name in kin]
        if len(family) > 1 and _differ(near, family):
            return tuple(Choice(other.name, other) for other in family)
    return ()


def _differ(text: str, family: Sequence[Entity]) -> bool:
    """Say whether at least two of the siblings have a number of their own told beside their names."""
    names = re.compile("|".join(re.escape(entity.name) for entity in family))
    places = [match.span() for match in names.finditer(text)]
    ends, starts = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    told: dict[str, str] = {}
    for n, (start, end) in enumerate(places):
        # 6 seconds on the X-1, but X-1 为 6 秒.
        before, behind = _STOP.split(text[ends[n] : start])[-1], _STOP.split(text[end : starts[n + 1]])[0]
        side = behind[:_BEHIND] if language_of(text) == "zh" else before + " " + behind
        numbers = _NUMBER.findall(side)
        if numbers:
            told.setdefault(text[start:end], " ".join(numbers))
    return len(told) > 1 and len(set(told.values())) > 1


def classes_in(query: str, hit: Hit) -> tuple[Choice, ...]:
    """Return the classes of one thing that Chinese clauses begin with, a value of its own for each.

    东馆 6:30 开门，西馆 9:00 开门 has two; a question that names one of them, or a part of a name, is settled.
    """
    words = words_of("zh")
    if language_of(query) != "zh" or not words.find("value_words", query):
        return ()
    sentences = [part for part in _FULL_STOP.split(hit.stored.chunk.text) if part.strip()]
    asked = pieces_of(query)
    scores = [len(asked & pieces_of(sentence)) for sentence in sentences]
    best = max(scores, default=0)
    for place, score in enumerate(scores):
        if score and score == best:
            told = _classes("".join(sentences[place : place + _ON]), query)
            for kind, stems in told.items():
                alike = len({len(stem) for stem in stems}) == 1 < len(set(stems.values()))
                if alike and kind not in query and not any(stem in query for stem in stems):
                    return tuple(Choice(stem + kind, Entity(stem + kind, "section")) for stem in stems)
    return ()


def _classes(text: str, query: str) -> dict[str, dict[str, str]]:
    """Return the stems of each class that begins a clause, with the first value behind it."""
    heads = list(_heads().finditer(text))
    told: dict[str, dict[str, str]] = {}
    for n, match in enumerate(heads):
        clause = text[match.end() : heads[n + 1].start() if n + 1 < len(heads) else len(text)]
        number = _NUMBER.search(clause)
        known = told.setdefault(match[2], {})
        if number and _of_kind(query, clause) and match[1] not in known:
            known[match[1]] = number.group()
    return told


@cache
def _heads() -> re.Pattern[str]:
    kinds = "|".join(words_of("zh").lists["told_classes"])
    return re.compile(rf"(?:^|[，；：:、。！？\s])([\u4e00-\u9fff]{{1,{_STEM}}}?)({kinds})")


def _of_kind(query: str, clause: str) -> bool:
    """Say whether a clause holds a value of the kind asked for; any value will do where none is."""
    words = words_of(language_of(query))
    kinds = [kind for kind in _KINDS if words.find(f"{kind}_asked_patterns", query)]
    return not kinds or any(words.find(f"{kind}_told_patterns", clause) for kind in kinds)
