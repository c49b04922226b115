"""Make a dependent question whole by rule: put in what it points at, carry on what it leaves out.

Two wordings come out where they differ: the resolved one names the thing, the topical one also carries the
words of the chain of questions; searching both is surer than choosing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragcli.dialogue.gate import GateVerdict, near
from ragcli.dialogue.linking import Lexicon, Mention, mentions
from ragcli.dialogue.referents import Referents, earlier, resolve
from ragcli.dialogue.state import DialogueState, Entity, Task
from ragcli.dialogue.wording import ENDS, content, joined, strip_fillers
from ragcli.dialogue.words import Words, language_of, words_of

_HEAD = 3
_TAIL = 3


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the rules made of a question."""

    queries: tuple[str, ...]
    reason: str
    entities: tuple[Entity, ...]
    content: tuple[str, ...]
    relation: str = "same"


def rewrite(query: str, state: DialogueState, lexicon: Lexicon, verdict: GateVerdict) -> Ruled:
    """Return the standalone queries for a question that the gate found dependent."""
    text = strip_fillers(query).strip(ENDS)
    words = words_of(language_of(query))
    if verdict.kind == "return":
        return _returned(text, state, lexicon, words)
    if verdict.kind == "correction":
        text = after_correction(text, words)
    text = _headless(text, words)
    named = mentions(text, lexicon, near(state))
    anchors = tuple(mention for mention in named if mention.anchors)
    if anchors:
        return _switched(text, state, anchors, named, words)
    referents = resolve(text, state, lexicon, named)
    return _carried(text, state.task.current, referents, named, words)


def after_correction(text: str, words: Words) -> str:
    """Return what was meant: 330 of 不是，我说的是 330."""
    match = words.find("corrections", text)
    return text[match.end() :].strip(ENDS) if match else text


def _headless(text: str, words: Words) -> str:
    """Take off 那, 那么, 换成, and: they say that the question goes on."""
    lead = words.starts("continuations", text if words.language == "zh" else text.lower())
    drop = lead in (
        "那",
        "那么",
        "换成",
        "如果换成",
        "还有",
        "另外",
        "然后",
        "and",
        "but",
        "what about",
        "how about",
        "then",
    )
    rest = text[len(lead) :].lstrip(ENDS) if drop else text
    return rest or text


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    cut = list(text)
    for start, end in spans:
        cut[start:end] = " " * (end - start)
    return "".join(cut)


def _own_content(text: str, named: tuple[Mention, ...]) -> tuple[str, ...]:
    return content(_blanked(text, [(m.start, m.end) for m in named if m.anchors]))


def _linked(text: str, named: tuple[Mention, ...]) -> str:
    """Put canonical names in the place of what was said."""
    out, at = [], 0
    for mention in named:
        if mention.anchors and mention.entity.kind == "name":
            out += [text[at : mention.start], mention.entity.name]
            at = mention.end
    return "".join([*out, text[at:]])


def _switched(
    text: str, state: DialogueState, anchors: tuple[Mention, ...], named: tuple[Mention, ...], words: Words
) -> Ruled:
    """Ask the same of another thing: 那 800 呢, or 500 也能这样."""
    entities = tuple(mention.entity for mention in anchors)
    own = _own_content(text, named)
    carried = _carry(state.task.current, own)
    swapped = _swap(state, entities)
    names = " ".join(entity.name for entity in entities)
    plain = _linked(text, named).strip(ENDS)
    if not own:
        topical = joined([names, *carried])
        queries = (swapped or topical, topical)
    else:
        queries = (plain, joined([names, *carried, *own]))
    return Ruled(_distinct(queries), "switch", entities, (*carried, *own))


def _swap(state: DialogueState, entities: tuple[Entity, ...]) -> str:
    """Put the new thing in the old one's place in the last whole question."""
    last = state.last
    if not last or not last.entities or len(entities) != 1:
        return ""
    old = next((one.name for one in last.entities if one.name in last.standalone), "")
    return last.standalone.replace(old, entities[0].name) if old else ""


def _carried(text: str, task: Task, referents: Referents, named: tuple[Mention, ...], words: Words) -> Ruled:
    """Ask something else of the same thing: 它多久换一次, 保养周期呢, 为什么."""
    names = " ".join(entity.name for entity in referents.entities)
    own = content(_blanked(text, [referents.span] if referents.span else []))
    carried = _carry(task, own)
    resolved = _point(text, names, referents, words) if names else ""
    topical = joined([names, *carried, text])
    bare = len("".join(own)) < 2
    queries = (topical,) if bare or not resolved else (resolved, topical)
    return Ruled(_distinct(queries), referents.how or "topic", referents.entities, (*carried, *own))


def _point(text: str, names: str, referents: Referents, words: Words) -> str:
    """Put names in the place of the pointing word, or before a question without one."""
    if referents.span:
        start, end = referents.span
        return (text[:start] + f" {names} " + text[end:]).strip()
    for name in ("pronouns", "demonstratives"):
        match = words.find(name, text)
        if match and match.group().lower() not in ("so", "such"):
            return (text[: match.start()] + names + text[match.end() :]).strip()
    left_out = words.ends("ellipsis_ends", text) if words.language == "zh" else ""
    text = text.removesuffix(left_out)
    return f"{names} {text}" if words.language == "zh" else f"{text} {names}"


def _carry(task: Task, own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of the chain that the question leaves out: its head, and the newest."""
    words = [word for word in task.content if word not in own]
    return tuple(dict.fromkeys((*words[:_HEAD], *words[_HEAD:][-_TAIL:])))


def _returned(text: str, state: DialogueState, lexicon: Lexicon, words: Words) -> Ruled:
    """Back to something said before: by name, or by what was said of it."""
    match = words.find("returns", text)
    rest = (text[: match.start()] + text[match.end() :]).strip(ENDS) if match else text
    named = mentions(rest, lexicon, near(state))
    anchors = tuple(mention for mention in named if mention.anchors)
    turn = earlier(rest, state)
    own = _own_content(rest, named)
    if anchors:
        entities = tuple(mention.entity for mention in anchors)
        queries: tuple[str, ...] = (_linked(rest, named), joined([" ".join(e.name for e in entities), *own]))
        return Ruled(_distinct(queries), "return", entities, own, "return")
    if not turn:
        return Ruled((rest,), "return", (), own, "return")
    names = " ".join(entity.name for entity in turn.entities[:1])
    carried = tuple(word for word in turn.content if word not in own)[:_HEAD]
    queries = (joined([names, *carried, rest]),)
    return Ruled(_distinct(queries), "return", turn.entities[:1], (*carried, *own), "return")


def _distinct(queries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query.strip(ENDS) for query in queries if query.strip(ENDS)))
