"""Ask the language model for a rewrite and, where the user wants that, whether the rewrite means the same.

One call a turn, two with the second look. The prompt holds the state in a sentence, the allowed names and the most relevant
turns; never a passage of an earlier turn. What comes back is checked by `validate` before it is used.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ragcli.datatypes import LanguageModel, Message
from ragcli.dialogue.gate import near
from ragcli.dialogue.lexicon import Lexicon
from ragcli.dialogue.reading import DEFAULTS, Example, RewriteOptions
from ragcli.dialogue.state import DialogueState, Turn
from ragcli.dialogue.validate import clean, refusal
from ragcli.dialogue.wording import content
from ragcli.dialogue.words import Language, language_of
from ragcli.errors import RagcliError

_TURNS = 3
_ANSWER_CHARS = 60
_NAMES = 8
_YES_OR_NO = 4


@dataclass(frozen=True, slots=True)
class Proposal:
    """A model's rewrite (empty where it was refused), why, and the prompt tokens that it cost."""

    text: str
    why: str
    tokens: int
    raw: str = ""


@cache
def _texts(language: Language) -> Mapping[str, Any]:
    raw = tomllib.loads(files(__package__).joinpath("data/rewrite.toml").read_text(encoding="utf-8"))
    texts: Mapping[str, Any] = raw[language]
    return texts


@cache
def _grammar() -> str:
    return files(__package__).joinpath("data/rewrite.gbnf").read_text(encoding="utf-8")


def fixed_messages(language: Language, options: RewriteOptions = DEFAULTS) -> list[Message]:
    """Return the part of the prompt that is the same in every turn: the built-in examples, then the base's."""
    texts = _texts(language)
    out = [Message("system", texts["system"])]
    for example in texts["examples"] if options.built_in else ():
        out += [Message("user", example["user"]), Message("assistant", example["assistant"])]
    for own in options.examples:
        if language_of(own.query) == language:
            shown = json.dumps({"query": own.rewrite}, ensure_ascii=False)
            out += [Message("user", _shown(own, texts)), Message("assistant", shown)]
    return out


def _shown(example: Example, texts: Mapping[str, Any]) -> str:
    said = [Turn(n, user, user, "answer", answer) for n, (user, answer) in enumerate(example.history, 1)]
    turns = "\n".join(_told(turn, texts) for turn in said)
    shown: str = texts["user"].format(state="", names="—", turns=turns, query=example.query)
    return shown


def messages_for(query: str, state: DialogueState, options: RewriteOptions = DEFAULTS) -> list[Message]:
    """Return the rewriter's prompt for a question."""
    language = language_of(query)
    texts = _texts(language)
    names = [entity.name for entity in near(state)]
    between = "、" if language == "zh" else ", "
    told = relevant(query, state) if options.similar_turns else state.context.turns[-_TURNS:]
    user = texts["user"].format(
        state=texts["state"].format(names=names[0]) if names else "",
        names=between.join(names[:_NAMES]) or "—",
        turns="\n".join(_told(turn, texts) for turn in told),
        query=query,
    )
    return [*fixed_messages(language, options), Message("user", user)]


def _told(turn: Turn, texts: Mapping[str, Any]) -> str:
    said: str = texts["turn"].format(query=turn.standalone or turn.query)
    if turn.answer and turn.action in ("answer", "correct"):
        said += "\n" + texts["answer"].format(answer=" ".join(turn.answer.split())[:_ANSWER_CHARS])
    return said


def relevant(query: str, state: DialogueState) -> Sequence[Turn]:
    """Return the last turn and those that share the most words with the question, in their order."""
    turns = [turn for turn in state.context.turns if turn.kind not in ("smalltalk", "about_base")]
    asked = set("".join(content(query)))
    rest = sorted(turns[:-1], key=lambda turn: (len(asked & set(turn.query + turn.standalone)), turn.number))
    kept = {turn.number for turn in (*rest[-(_TURNS - 1) :], *turns[-1:])}
    return [turn for turn in turns if turn.number in kept]


def propose(
    query: str, state: DialogueState, lexicon: Lexicon, model: LanguageModel, options: RewriteOptions
) -> Proposal:
    """Return the model's rewrite of a question, checked."""
    try:
        done = model.complete(
            messages_for(query, state, options),
            max_tokens=options.max_tokens,
            grammar=_grammar(),
            timeout=options.timeout,
        )
    except RagcliError as err:
        return Proposal("", f"the model failed: {err.kind}", 0)
    text = clean(done.text)
    said = [part for turn in state.context.turns for part in (turn.query, turn.standalone, turn.answer)]
    names = [entity.name for entity in near(state)]
    why = refusal(text, query, said, lexicon, names, whitelist=options.whitelist)
    tokens = done.evaluated_tokens
    if not why and options.verify:
        why, looked = _second_look(query, text, state, model, options)
        tokens += looked
    return Proposal("" if why else text, why, tokens, done.text)


def _second_look(
    query: str, text: str, state: DialogueState, model: LanguageModel, options: RewriteOptions
) -> tuple[str, int]:
    """Return why the model takes its rewrite back (nothing where it stands by it), and the tokens of asking."""
    texts = _texts(language_of(query))
    turns = "\n".join(_told(turn, texts) for turn in relevant(query, state))
    asked = texts["verify"].format(turns=turns, query=query, rewrite=text)
    grammar = 'root ::= "{}" | "{}"'.format(texts["yes"], texts["no"])
    try:
        done = model.complete(
            [Message("user", asked)], max_tokens=_YES_OR_NO, grammar=grammar, timeout=options.timeout
        )
    except RagcliError as err:
        return f"the second look failed: {err.kind}", 0
    denied = done.text.strip() != texts["yes"]
    return ("the second look denied it" if denied else ""), done.evaluated_tokens
