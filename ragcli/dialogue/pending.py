"""Complete the question that was asked back about with the short reply to it."""

from __future__ import annotations

from ragcli.dialogue.linking import Lexicon, mentions
from ragcli.dialogue.referents import sized
from ragcli.dialogue.rewrite_rules import Ruled
from ragcli.dialogue.state import Choice, Entity, Pending
from ragcli.dialogue.wording import ENDS, content, joined, squash, strip_fillers
from ragcli.dialogue.words import language_of, words_of


def complete(reply: str, pending: Pending, lexicon: Lexicon) -> Ruled:
    """Return the pending question completed by a reply: a name, a place in the list, all, or other words."""
    text = strip_fillers(reply).strip(ENDS)
    chosen = choose(text, pending, lexicon)
    own = content(pending.standalone)
    if chosen:
        queries = tuple(f"{entity.name} {pending.standalone}".strip(ENDS) for entity in chosen)
        return Ruled(queries, "reply", chosen, own, separate=len(queries) > 1)
    return Ruled((joined([text, pending.standalone]),), "reply", (), (*own, *content(text)))


def choose(text: str, pending: Pending, lexicon: Lexicon) -> tuple[Entity, ...]:
    """Return the choices that a reply takes."""
    words = words_of(language_of(text))
    choices = pending.choices
    low = text.lower()
    for name, place in (("first_words", 0), ("second_words", 1), ("third_words", 2), ("last_words", -1)):
        if words.find(name, text) and -len(choices) <= place < len(choices):
            return (choices[place].entity,)
    if words.has("all_words", low):
        return tuple(choice.entity for choice in choices)
    if text.isdigit() and len(text) == 1 and 0 < int(text) <= len(choices):
        return (choices[int(text) - 1].entity,)
    size = sized(low, [choice.entity for choice in choices])
    if size:
        return size.entities
    found = tuple(choice.entity for choice in choices if _says(text, choice, lexicon))
    if found:
        return found
    named = mentions(text, lexicon, tuple(choice.entity for choice in choices))
    anchors = [mention.entity for mention in named if mention.anchors]
    if anchors:
        return tuple(anchors)
    yes = words.has("affirmations", low) and len(choices) == 1
    return (choices[0].entity,) if yes else ()


def _says(text: str, choice: Choice, lexicon: Lexicon) -> bool:
    said = squash(text, lexicon.fold).text.strip("的那个款种吧呢")
    label = squash(choice.label, lexicon.fold).text
    return bool(said) and (said in label or label in said)
