"""Put the generator's prompt together so that it fits, and so that its beginning never changes.

Order: fixed part, summary, history (only ever appended to), passages in document order, state, facts,
question. What doesn't fit goes in this order: oldest turns, lowest passages, the end of the last passage left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ragcli.datatypes import Message, Passage
from ragcli.generation.citations import split_marks
from ragcli.generation.focus import NOTHING, Looking, Piece, focus
from ragcli.generation.sentences import sentences
from ragcli.generation.tables import as_records
from ragcli.generation.wording import wording

Count = Callable[[str], int]
Words = Mapping[str, Any]
_MARKS = 12  # tokens of a template around one message, at most
_BLOCK = 4  # turns leave the history in blocks, so that its beginning stays the same for several turns
_ROOM_FOR_EXAMPLES = 2048
_LEAST = 48  # tokens: a shorter rest of a passage tells nothing


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens there are: in all, kept for the answer, and for passages at most."""

    context: int = 4096
    answer: int = 400
    passages: int = 900

    @property
    def room_for_answer(self) -> int:
        """What is kept for the answer: at most a third of a small context."""
        return min(self.answer, self.context // 3)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, the messages of it that never change, and the passages that it shows, best first.

    `pointed` are the pieces that are shown once more right before the question, the best one last.
    """

    messages: tuple[Message, ...]
    fixed: int
    passages: tuple[Passage, ...]
    dropped_turns: int = 0
    pointed: tuple[Piece, ...] = ()

    def asking_again(self, note: str) -> Prompt:
        """Return the same prompt with a note after the question."""
        last = self.messages[-1]
        again = Message("user", last.content + note, (*(last.pieces or (last.content,)), note), last.kept)
        return replace(self, messages=(*self.messages[:-1], again))


@cache
def fixed_messages(language: str, context_tokens: int = 4096) -> tuple[Message, ...]:
    """Return the part that every prompt of a language begins with: rules and worked examples.

    A small context has no room for the examples.
    """
    words = wording(language)
    out = [Message("system", words["system"])]
    for example in words["examples"] if context_tokens >= _ROOM_FOR_EXAMPLES else ():
        shown = [
            Passage(n, passage["path"], (), passage["text"], (), header_lines=passage.get("header_lines", 0))
            for n, passage in enumerate(example["passages"], start=1)
        ]
        pointer = _pointer(focus(example["question"], shown), words)
        out.append(_user(_passage_pieces(shown, words), [pointer, _question(example["question"], words)]))
        out.append(Message("assistant", example["answer"]))
    return tuple(out)


def build_prompt(
    question: str,
    passages: Sequence[Passage],
    history: Sequence[tuple[str, str]] = (),
    summary: str = "",
    facts: Sequence[str] = (),
    state_line: str = "",
    language: str = "zh",
    budget: Budget = Budget(),
    count_tokens: Count = len,
    hints: Sequence[str] = (),
    looking: Looking = NOTHING,
) -> Prompt:
    """Return the prompt for a question over passages given best first; history holds (question, answer).

    System text, question, state, facts and room for the answer always stay.
    """
    words = wording(language)
    fixed = fixed_messages(language, budget.context)
    pointed = focus(question, passages, looking=looking)
    tail = _tail(question, facts, state_line, [_pointer(pointed, words), *hints], words)
    opening = [Message("system", words["summary"].format(summary=summary))] if summary else []
    room = budget.context - budget.room_for_answer - _size([*fixed, *opening], count_tokens)
    room -= count_tokens("".join(tail)) + 2 * _MARKS
    wanted = _fitting(passages, min(budget.passages, room), words, count_tokens)
    turns = _recent(history, room - _passage_size(wanted, words, count_tokens), count_tokens)
    last = _user(_passage_pieces(wanted, words), tail)
    spoken = [message for turn in turns for message in _spoken(turn)]
    messages = (*fixed, *opening, *spoken, last)
    return Prompt(messages, len(fixed), tuple(wanted), len(history) - len(turns), tuple(pointed))


def path_of(passage: Passage, separator: str = " > ") -> str:
    """Return file and chapters of a passage as one line; control marks and line ends are blanks."""
    name = re.sub(r"\.(txt|text)$", "", passage.file.rsplit("/", 1)[-1], flags=re.IGNORECASE)
    return " ".join(separator.join((name, *passage.heading_path)).split())


def cut_text(text: str, header_lines: int, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of whole rows or sentences that fits, its table header always with it."""
    lines = text.splitlines(keepends=True)
    header, rest = "".join(lines[:header_lines]), "".join(lines[header_lines:])
    units = rest.splitlines(keepends=True) if header_lines else sentences(rest)
    kept = 0
    while kept < len(units) and fits(header + "".join(units[: kept + 1])):
        kept += 1
    return (header + "".join(units[:kept])).rstrip() if kept else ""


# ---------------------------------------------------------------- inside


def _user(shown: Sequence[tuple[str, bool]], tail: Sequence[str]) -> Message:
    pieces = [(text, keep) for text, keep in (*shown, *((text, False) for text in tail)) if text]
    kept = tuple(place for place, (_, keep) in enumerate(pieces) if keep)
    return Message("user", "".join(text for text, _ in pieces), tuple(text for text, _ in pieces), kept)


def _spoken(turn: tuple[str, str]) -> tuple[Message, Message]:
    # The numbers of an earlier turn's passages mean others in this one.
    return Message("user", turn[0]), Message("assistant", split_marks(turn[1], ())[0])


def _question(question: str, words: Words) -> str:
    return str(words["question"].format(question=question.strip()))


def _pointer(pieces: Sequence[Piece], words: Words) -> str:
    """Return the pieces that bear most on the question, to be read last."""
    lines = [words["pointer_line"].format(n=piece.n, text=" ".join(piece.text.split())) for piece in pieces]
    told = "".join(lines).replace('"""', "“”")
    return f"{words['pointer']}{told}{words['pointer_end']}" if lines else ""


def _tail(
    question: str, facts: Sequence[str], state_line: str, hints: Sequence[str], words: Words
) -> list[str]:
    out = [words["state"].format(state=state_line)] if state_line else []
    out += [words["facts"].format(facts="；".join(facts))] if facts else []
    out += [hint for hint in hints if hint]
    return [*out, _question(question, words)]


def label(n: int, language: str) -> str:
    """Return the piece that stands before each passage and says by which number it is cited."""
    return str(wording(language)["label"].format(n=n))


def passage_piece(passage: Passage, words: Words) -> str:
    """Return a passage as one piece: its path, so that what is read of it knows what it is about, and its text."""
    path = path_of(passage, words["path_separator"])
    text = as_records(passage.text, passage.header_lines).strip("\n").replace('"""', "“”")
    return str(words["passage"].format(path=path, text=text))


def _passage_pieces(passages: Sequence[Passage], words: Words) -> list[tuple[str, bool]]:
    """Return each label and each passage as a piece of its own, and whether its state may be put back.

    A label before a passage that is put back is too: a few tokens by themselves take as long as many.
    """
    pieces = [(words["passages"], False)] if passages else []
    for passage in sorted(passages, key=lambda p: p.n):
        pieces.append((str(words["label"].format(n=passage.n)), passage.keep))
        pieces.append((passage_piece(passage, words), passage.keep))
    return pieces


def _passage_size(passages: Sequence[Passage], words: Words, count: Count) -> int:
    return sum(count(text) for text, _ in _passage_pieces(passages, words))


def _size(messages: Sequence[Message], count: Count) -> int:
    return sum(count(message.content) + _MARKS for message in messages)


def _fitting(passages: Sequence[Passage], room: int, words: Words, count: Count) -> list[Passage]:
    """Return the best passages that fit, the last of them cut where that leaves something worth reading."""
    kept: list[Passage] = []
    for passage in passages:
        left = room - _passage_size(kept, words, count)
        taken = _passage_size([passage], words, count)
        if taken <= left:
            kept.append(passage)
            continue
        if left >= _LEAST or not kept:
            kept += _shortened(passage, left, words, count)
        break
    return kept


def _shortened(passage: Passage, room: int, words: Words, count: Count) -> list[Passage]:
    def short(text: str) -> Passage:
        return replace(passage, text=f"{text.rstrip()}\n{words['cut_note']}", keep=False)

    def fits(text: str) -> bool:
        return _passage_size([short(text)], words, count) <= room

    text = cut_text(passage.text, passage.header_lines, fits)
    return [short(text)] if text else []


def _recent(history: Sequence[tuple[str, str]], room: int, count: Count) -> Sequence[tuple[str, str]]:
    for start in range(0, len(history), _BLOCK):
        turns = history[start:]
        if _size([message for turn in turns for message in _spoken(turn)], count) <= room:
            return turns
    return ()
