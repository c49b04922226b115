"""The gate: whether a question is self-contained, and if not, what it leans on.

The gate only looks: it resolves nothing and changes nothing. A question that it calls complete goes
through as it was said, without a call of any model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragcli.dialogue.linking import Lexicon, Mention, mentions
from ragcli.dialogue.state import DialogueState, Entity
from ragcli.dialogue.wording import ENDS, asking_clause, asks, content, outside, quotations, strip_fillers
from ragcli.dialogue.words import Words, language_of, words_of

Kind = Literal[
    "complete", "dependent", "switch", "reply", "correction", "denial", "return", "smalltalk", "about_base"
]
_SHORT = 5
_OWN = 5
_UNKNOWN = 7
_HOME = 5
_FEW = 0
_CLAUSE = 3
_REPLY = 16

_DEFINES = re.compile(r"(?:what|who) (?:is|are|was|were) (?:an? )?(?!the )[\w-]+(?: [\w-]+)?$|define \S+$")
_STRONG = re.compile(
    r"多少钱|在哪|哪里|哪儿|什么时候|啥时候|多久|多长时间|谁|为什么|为啥|几点|几号|哪[年天]|是什么|好不好|怎么样"
)
_CONTRAST = re.compile(r"不是(?!不)[^,，。?？]{1,16}[,，]\s*(?:而)?是")
_NEXT_CLAUSE = re.compile(
    r"[,.;:?!…—]\s|\b(?:and|but|if|when|because|so|that|who|while|after|before)\b", re.IGNORECASE
)
_HOW = re.compile("怎样|怎么|如何|为什么|为何")
_ASKS_ON = re.compile(r"(?:and|but|also|then)\W+(?:what|how|why|where|when|who|which)\b(?! about\b)")
_SAYS_THAT = re.compile(
    r"\b(?:heard|hear|read|said|say|says|know|think|thought|believe|told|mean|sure) (?=that \w)"
)
_ORDINAL = re.compile(
    r"the (?:first|second) (?=(?:\d+|two|three|four|five|six|few|several|time|step|day|week|month|year|edition|part|chapter)\b)"
)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a question stands alone, what kind it is, and why (each reason is a key with its evidence).

    `doubtful` where only its form speaks against it: no word points back, and the passages may know better.
    """

    complete: bool
    reasons: tuple[str, ...]
    kind: Kind
    doubtful: bool = False


def near(state: DialogueState) -> tuple[Entity, ...]:
    """Return what the conversation is about, newest first."""
    return tuple(focus.entity for focus in state.retrieval.focus)


def judge(query: str, state: DialogueState, lexicon: Lexicon) -> GateVerdict:
    """Say whether `query` can be searched as it stands."""
    text = strip_fillers(query).strip(ENDS).replace("’", "'")
    words = words_of(language_of(query))
    talk = _small(text, words)
    if talk:
        return talk
    if state.pending and _is_reply(text, state, lexicon):
        return GateVerdict(False, ("reply to the pending question",), "reply")
    if not state.turn and not state.retrieval.focus and not state.context.summary:
        return GateVerdict(True, ("nothing was said before",), "complete")
    named = mentions(text, lexicon, near(state))
    if words.language == "en":
        text = _behind_denial(text, words)
    steer = _steering(text, words) or _retracting(text, named, words)
    if steer:
        return steer
    if words.language == "en":
        return _judge_en(text, named, words)
    return _judge_zh(text, state, named, lexicon)


def _pinned(state: DialogueState, lexicon: Lexicon) -> bool:
    """Say whether the running thing has siblings in other files, so that its name decides between files."""
    focus = near(state)[:1]
    return any(set(kin.files) - set(entity.files) for entity in focus for kin in lexicon.siblings(entity))


def _small(text: str, words: Words) -> GateVerdict | None:
    plain = re.sub(r"[\s,，、。.!！~～]+", "", text) if words.language == "zh" else text.lower().strip(ENDS)
    if words.has("about_base", plain):
        return GateVerdict(True, ("asks about the base itself",), "about_base")
    if words.has("greetings", plain) or words.has("thanks", plain) or not plain:
        return GateVerdict(True, ("small talk",), "smalltalk")
    pieces = [piece for piece in re.split(r"[\s,，、。.!！~～]+", text.lower()) if piece]
    if (
        words.language == "zh"
        and pieces
        and all(words.has("greetings", piece) or words.has("thanks", piece) for piece in pieces)
    ):
        return GateVerdict(True, ("small talk",), "smalltalk")
    return None


def _is_reply(text: str, state: DialogueState, lexicon: Lexicon) -> bool:
    """Take a short answer as one: it names a choice, a place in the list, or all; and asks nothing more."""
    pending = state.pending
    if pending is None:
        return False
    words = words_of(language_of(text))
    if len(text) > (_REPLY if words.language == "zh" else 40):
        return False
    if words.has("all_words", text.lower()) or any(
        words.find(name, text) for name in ("first_words", "second_words", "third_words", "last_words")
    ):
        return True
    if words.has("affirmations", text.lower()) or words.has("negations", text.lower()):
        return True
    labels = tuple(choice.entity for choice in pending.choices)
    named = mentions(text, lexicon, labels)
    rest = content(_without(text, named))
    asking = asks(text) if words.language == "zh" else text.endswith("?")
    return not asking and (bool(named) or len("".join(rest)) <= _SHORT * 2)


def _steering(text: str, words: Words) -> GateVerdict | None:
    low = text.lower()
    denial = words.starts("denials", low)
    contrast = _CONTRAST.match(text)
    if contrast:
        return GateVerdict(False, (f"corrects: {contrast.group()}",), "correction")
    correction = words.starts("corrections", low) or _after_comma(words, low)
    if correction:
        return GateVerdict(False, (f"corrects: {correction}",), "correction")
    if denial and len(text) - len(denial) <= 2:
        return GateVerdict(False, (f"denies: {denial}",), "denial")
    back = words.find("returns", text)
    if back and (back.start() == 0 or words.language == "zh"):
        return GateVerdict(False, (f"goes back: {back.group()}",), "return")
    first = words.find("returns_first", text)
    if first and words.language == "en":
        return GateVerdict(False, (f"goes back: {first.group()}",), "return")
    return None


def _behind_denial(text: str, words: Words) -> str:
    """Return what an English text goes on to ask for behind its denial; all of it where it only denies."""
    rest = text[len(words.starts("denials", text.lower())) :].strip(ENDS + ".,")
    return rest if len(content(rest)) > 1 else text


def _retracting(text: str, named: tuple[Mention, ...], words: Words) -> GateVerdict | None:
    """Take 不对，我家那台是 330 as a correction: it takes something back, names a thing and asks nothing."""
    lead = words.starts("retractions", text.lower())
    rest = text[len(lead) :]
    paused = bool(lead) and rest[:1] in "，,、 。" and bool(rest.strip(ENDS))
    asking = asks(rest) if words.language == "zh" else text.endswith("?")
    if not paused or asking or not any(mention.anchors for mention in named):
        return None
    return GateVerdict(False, (f"corrects: {lead}",), "correction")


def _after_comma(words: Words, text: str) -> str:
    """Find a correction behind a short opening: 等等，我说的是 330."""
    head, mark, tail = re.sub("[，,。]", "，", text).partition("，")
    found = words.starts("corrections", tail.strip()) if mark and len(head) <= 6 else ""
    return found if found not in ("应该是",) else ""


def _without(text: str, named: tuple[Mention, ...]) -> str:
    cut = list(text)
    for mention in named:
        cut[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(cut)


def pointer(text: str, named: tuple[Mention, ...]) -> re.Match[str] | None:
    """Return the first word that points back to something outside this sentence."""
    words = words_of(language_of(text))
    aside = [*quotations(text), *(match.span() for match in words.findall("not_pointing", text))]
    if words.language == "en":
        aside += [(match.end(), match.end() + len("that")) for match in _SAYS_THAT.finditer(text.lower())]
        aside += [match.span() for match in _ORDINAL.finditer(text.lower())]
    first_anchor = min((mention.end for mention in named if mention.anchors), default=len(text))
    ends = {mention.end for mention in named if mention.anchors}
    found = [
        match
        for match in words.findall("demonstratives", text)
        if outside(aside, match) and not ends & {match.start(), match.start() - 1}
    ]
    for match in words.findall("pronouns", text):
        if outside(aside, match) and match.start() < first_anchor:
            found.append(match)
    if words.language == "zh":
        found += [m for m in _pointed(text) if outside(aside, m)]
    return min(found, key=lambda match: (match.start(), -match.end()), default=None)


def _pointed(text: str) -> list[re.Match[str]]:
    lists = words_of("zh").lists
    nouns, counts = "|".join(lists["pointed_nouns"]), "|".join(lists["measure_words"])
    pattern = (
        rf"(?<!应)(?:该|此)(?=(?:{nouns}))|(?<![与尤极])其(?![他它中实余次])|(?<=的)[这那]一?(?:{counts})"
    )
    return list(re.finditer(pattern, text))


def _judge_zh(text: str, state: DialogueState, named: tuple[Mention, ...], lexicon: Lexicon) -> GateVerdict:
    words = words_of("zh")
    anchors = [mention for mention in named if mention.anchors]
    rest = "".join(content(_without(text, tuple(anchors))))
    pointing = pointer(text, named)
    inside = bool(anchors) and anchors[0].start < (pointing.start() if pointing else 0) and len(rest) >= _OWN
    if pointing and not inside and not _leading_na(pointing, text):
        return GateVerdict(False, (f"points back: {pointing.group()}",), "dependent")
    asking = asks(_without(text, named))
    if anchors and not rest and not _STRONG.search(text):
        return GateVerdict(False, ("names a thing and asks nothing of it",), "switch")
    if words.ends("ellipsis_ends", text) and not asking:
        return GateVerdict(False, ("no predicate",), "dependent")
    if anchors and not asking and len(rest) <= _SHORT:
        return GateVerdict(False, ("asks nothing",), "dependent")
    if anchors:
        same = words.find("same_measure", text)
        if same and len(rest) < _OWN:
            return GateVerdict(False, (f"leaves the measure unsaid: {same.group()}",), "dependent")
        return GateVerdict(True, (f"names {anchors[0].entity.name}",), "complete")
    exchange = words.starts("exchanges", text)
    if exchange:
        return GateVerdict(False, (f"exchanges a part: {exchange}",), "dependent")
    frame = words.find("edition_frame_patterns", text)
    if frame and asking and len("".join(content(text[frame.end() :]))) >= _OWN:
        return GateVerdict(True, (f"names an edition: {frame.group().strip()}",), "complete")
    clause = asking_clause(text)
    return _unanchored_zh(clause, "".join(content(clause)), state, named, lexicon)


def _leading_na(pointing: re.Match[str], text: str) -> bool:
    """Say whether this is the 那 at the head of a question, which only says that it goes on."""
    return pointing.start() == 0 and pointing.group() in ("那", "那么") and len(text) > 1


def _unanchored_zh(
    text: str, rest: str, state: DialogueState, named: tuple[Mention, ...], lexicon: Lexicon
) -> GateVerdict:
    """Judge a question that names nothing: first by what its terms belong to, then by what it leaves out."""
    if words_of("zh").has("bare_questions", text) or not rest:
        return GateVerdict(False, ("no subject",), "dependent")
    return _by_terms(text, rest, state, named, lexicon) or _by_form(text, rest)


def _by_terms(
    text: str, rest: str, state: DialogueState, named: tuple[Mention, ...], lexicon: Lexicon
) -> GateVerdict | None:
    running = {file for entity in near(state)[:2] for file in entity.files} | set(state.retrieval.files[:1])
    at_home = [mention for mention in named if running & set(mention.entity.files)]
    if at_home and (len(rest) <= _HOME or _pinned(state, lexicon)):
        why = f"about the running subject: {at_home[0].surface}"
        return GateVerdict(False, (why,), "dependent", doubtful=asks(text))
    sides = [mention for mention in named if lexicon.common(mention.entity)]
    if sides and len(rest) <= 2 * _SHORT:
        return GateVerdict(False, (f"a side of something: {sides[0].surface}",), "dependent")
    if named and not sides and all(mention.entity.files for mention in named) and running:
        where = "a subject of its own" if at_home else "something else"
        return GateVerdict(True, (f"about {where}: {(at_home or named)[0].surface}",), "complete")
    return None


def _by_form(text: str, rest: str) -> GateVerdict:
    words = words_of("zh")
    owner = words.find("relational", text)
    lead = words.starts("continuations", text)
    kind = words.find("kind_nouns", text)
    brief = len(rest) <= 2 * _SHORT
    why = ""
    if owner and text[owner.start() - 1 : owner.start()] != "的" and brief:
        why = f"does not say of what: {owner.group()}"
    elif not asks(text) and brief:
        why = "asks nothing"
    elif words.starts("subjectless_starts", text) and len(rest) <= _SHORT * (1 if _HOW.match(text) else 2):
        why = "no subject"
    elif (lead or kind) and brief:
        why = f"goes on: {lead}" if lead or not kind else f"says only the kind: {kind.group()}"
    elif len(rest) <= (_SHORT if _HOW.match(text) else _UNKNOWN):
        why = "too short to stand alone"
    if why:
        return GateVerdict(False, (why,), "dependent", doubtful=asks(text))
    return GateVerdict(True, ("has a subject and a predicate of its own",), "complete")


def _judge_en(text: str, named: tuple[Mention, ...], words: Words) -> GateVerdict:
    low = text.lower().strip(ENDS)
    anchors = tuple(mention for mention in named if mention.anchors)
    rest = content(_without(text, anchors))
    own = [word for word in rest if word.lower() not in words.lists["relational"]]
    if words.has("bare_questions", low):
        return GateVerdict(False, ("no subject",), "dependent")
    pointing = pointer(text, named)
    if pointing and not _inside_en(pointing, text):
        return GateVerdict(False, (f"points back: {pointing.group()}",), "dependent")
    lead = words.starts("continuations", low)
    if anchors and not rest:
        return GateVerdict(False, ("names a thing and asks nothing of it",), "switch")
    if lead and len(own) + len(anchors) <= (1 if _ASKS_ON.match(low) else 3):
        return GateVerdict(False, (f"goes on: {lead}",), "dependent")
    if _DEFINES.match(low) and own:
        return GateVerdict(True, ("asks what something is",), "complete")
    if not anchors and len(own) <= _FEW and not any(word[0].isupper() or word[0].isdigit() for word in own):
        return GateVerdict(False, ("too few words of its own",), "dependent")
    return GateVerdict(True, ("has a subject and a predicate of its own",), "complete")


def _inside_en(pointing: re.Match[str], text: str) -> bool:
    """Say whether a pronoun stands behind a clause with a subject of its own, and so points at that."""
    before = text[: pointing.start()]
    pronoun = pointing.group().lower() in words_of("en").lists["pronouns"]
    return bool(_NEXT_CLAUSE.search(before)) and len(content(before)) >= (2 if pronoun else _CLAUSE)
