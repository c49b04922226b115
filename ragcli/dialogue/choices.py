"""The readings that the found passages leave open: which siblings, sections or rows the question fits.

A question that names none of several alike things fits each of them; whether to ask is decided elsewhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ragcli.datatypes import Hit
from ragcli.dialogue.cells import cells_in, pieces_of
from ragcli.dialogue.linking import Lexicon
from ragcli.dialogue.state import Choice, Entity
from ragcli.dialogue.told import SENTENCE, classes_in, siblings_in
from ragcli.dialogue.wording import content, squash
from ragcli.dialogue.words import language_of, words_of

MOST = 6
_TWIN_SCORE = 0.6
_PARALLEL = 0.8
_LOOK = 6
_TABLES = 3
_SHORT_QUESTION = 6
_CORE = 2
_NUMBERING = re.compile(
    r"^\s*(?:第\s?[一二三四五六七八九十百\d]+[章节条部分篇]|附[录件]\s?[A-Z一二三四五六七八九十\d]?|\d+(?:\.\d+)+|[（(]?[一二三四五六七八九十\d]+[)）、.]"
    r"|\d+(?:\.\d+)*|Appendix [A-Z]|Chapter \d+|【)\s*"
)
_COUNT = re.compile(r"[\d一二两三四五六七八九十百千半几]")


def open_choices(query: str, hits: Sequence[Hit], lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the things that a question without a name of its own may be about; empty where it is settled."""
    if not hits or _settled(query, lexicon):
        return ()
    named = squash(query, lexicon.fold).text
    found = twins(hits, lexicon) or siblings_in(query, hits[0], lexicon)
    for rank, hit in enumerate(hits[:_TABLES]):
        foremost = rank == 0 or _place(hit) == _place(hits[0])
        found = found or cells_in(query, hit, lexicon, first=foremost)
    found = (
        found or _classes_told(query, hits) or parallels(query, hits) or documents_of(query, hits, lexicon)
    )
    if any(squash(choice.label, lexicon.fold).text in named for choice in found):
        return ()
    return found[:MOST] if len(found) > 1 else ()


def _classes_told(query: str, hits: Sequence[Hit]) -> tuple[Choice, ...]:
    near = (hit for hit in hits[:2] if hit.score >= _TWIN_SCORE * hits[0].score)
    return next((found for hit in near if (found := classes_in(query, hit))), ())


def _settled(query: str, lexicon: Lexicon) -> bool:
    """Say whether a question asks for several at once, or for the best of them."""
    return bool(words_of(language_of(query)).find("settling", query))


def twins(hits: Sequence[Hit], lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the documents or chapters whose sections of one name hold the best passages."""
    first = hits[0]
    leaf = _leaf(first)
    alike = [first]
    for hit in hits[1:_LOOK]:
        same = leaf and _leaf(hit) == leaf and hit.score >= _TWIN_SCORE * first.score
        if same and not any(_place(hit) == _place(other) for other in alike):
            alike.append(hit)
    if len(alike) < 2:
        return ()
    if len({hit.stored.file for hit in alike}) > 1:
        return _documents([hit.stored.file for hit in alike], lexicon)
    return tuple(Choice(name, Entity(name, "section")) for name in map(_parent, alike) if name)


def _documents(files: Sequence[str], lexicon: Lexicon) -> tuple[Choice, ...]:
    out = []
    for file in dict.fromkeys(files):
        name = own_name(file, files, lexicon)
        if name:
            out.append(Choice(name.name, name))
    return tuple(out)


def own_name(file: str, among: Sequence[str], lexicon: Lexicon) -> Entity | None:
    """Return the shortest title or model that stands for one file and for none of the others."""
    others = set(among) - {file}
    own = [
        place
        for place in sorted(lexicon.original)
        if file in lexicon.terms[place].files and not others & set(lexicon.terms[place].files)
    ]
    own.sort(key=lambda place: (not lexicon.siblings(lexicon.entity(place)), len(lexicon.terms[place].text)))
    return lexicon.entity(own[0]) if own else None


def documents_of(query: str, hits: Sequence[Hit], lexicon: Lexicon) -> tuple[Choice, ...]:
    """Return the documents that each treat of the one thing that a short question names."""
    if not words_of(language_of(query)).find("value_words", query):
        return ()  # 知道 X 吗 asks about X, whichever files speak of it
    words = [word for word in content(query) if len(word) > 1 and not _COUNT.match(word)]
    if not words or len("".join(words)) > _SHORT_QUESTION or language_of(query) == "en":
        return ()
    core = max(words, key=len)[:_CORE]
    files = [hit.stored.file for hit in hits[:_TABLES] if core in hit.stored.chunk.text]
    return _documents(files, lexicon) if len(set(files)) > 1 else ()


def _leaf(hit: Hit) -> str:
    path = hit.stored.chunk.heading_path
    return _NUMBERING.sub("", path[-1]).strip(" 】") if path else ""


def _parent(hit: Hit) -> str:
    path = hit.stored.chunk.heading_path
    return _NUMBERING.sub("", path[-2]).strip(" 】") if len(path) > 1 else ""


def _place(hit: Hit) -> tuple[str, tuple[str, ...]]:
    return hit.stored.file, hit.stored.chunk.heading_path


def parallels(query: str, hits: Sequence[Hit]) -> tuple[Choice, ...]:
    """Return the sections of one document that say the same of the thing asked about, with other numbers."""
    asked = pieces_of(query)
    least = 1 if words_of(language_of(query)).find("value_words", query) else 2
    told: list[tuple[Hit, str]] = []
    for hit in hits[:_LOOK]:
        sentences = [part for part in SENTENCE.split(hit.stored.chunk.text) if part.strip()]
        best = max(sentences, key=lambda part: len(asked & pieces_of(part)), default="")
        if len(asked & pieces_of(best)) >= least and hit.stored.file == hits[0].stored.file:
            told.append((hit, best))
    for n, (_, one) in enumerate(told):
        found = [told[n], *(pair for pair in told[n + 1 :] if _same_but_numbers(one, pair[1]))]
        alike = [hit for hit, _ in found]
        held = {tuple(sorted(word for word in _words(query) if word in text)) for _, text in found}
        if len(held) > 1:
            continue  # the question says which: 一年级招多少人
        names = dict.fromkeys(_apart(hit, alike) for hit in alike)
        if len(names) > 1 and all(names):
            return tuple(Choice(name, Entity(name, "section")) for name in names)
    return ()


def _words(text: str) -> set[str]:
    runs = content(text)
    return (
        {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
        if language_of(text) == "zh"
        else set(runs)
    )


def _same_but_numbers(one: str, other: str) -> bool:
    texts = [re.sub(r"\d+(?:[.,:]\d+)*", "", text).strip() for text in (one, other)]
    numbers = [re.findall(r"\d+(?:[.,:]\d+)*", text) for text in (one, other)]
    same = difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False).ratio() >= _PARALLEL
    return same and numbers[0] != numbers[1] and len(texts[0]) > _SHORT_QUESTION


def _apart(hit: Hit, alike: Sequence[Hit]) -> str:
    """Return the heading that tells a passage from those that say the same."""
    paths = [other.stored.chunk.heading_path for other in alike]
    for depth, heading in enumerate(hit.stored.chunk.heading_path):
        if any(path[depth : depth + 1] != (heading,) for path in paths):
            return _NUMBERING.sub("", heading).strip(" 】")
    return ""


def about(choices: Sequence[Choice]) -> str:
    """Return what a question with these choices is about: a key that says whether it was asked before."""
    return " / ".join(sorted(choice.label for choice in choices))
