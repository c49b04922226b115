"""A model's chat template as marks and text, so that only the marks are ever read as control tokens.

llama.cpp renders the chat with stand-ins for the contents; the rendering is cut at them. Whatever a document
or a question says, it can't open or close a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragcli.datatypes import Message

Apply = Callable[[Sequence[tuple[str, str]]], str | None]

_STAND_IN = re.compile("\ue000(\\d+)\ue001")
_MARK = re.compile(r"<\|[A-Za-z0-9_]+\|>|<(?:start|end)_of_turn>")


class Piece(NamedTuple):
    """A piece of a prompt: its text, whether it is marks of ours, whether its evaluated state may be put back."""

    text: str
    marks: bool = False
    kept: bool = False


def render(messages: Sequence[Message], apply: Apply) -> list[Piece] | None:
    """Return the prompt in pieces with the assistant's opening; None: unknown template."""
    text = apply([(message.role, f"\ue000{i}\ue001") for i, message in enumerate(messages)])
    if text is None:
        return None
    pieces: list[Piece] = []
    end = 0
    for found in _STAND_IN.finditer(text):
        pieces.append(Piece(text[end : found.start()], marks=True))
        message = messages[int(found.group(1))]
        pieces += [
            Piece(piece, kept=place in message.kept)
            for place, piece in enumerate(message.pieces or (message.content,))
        ]
        end = found.end()
    pieces.append(Piece(text[end:], marks=True))
    return [piece for piece in pieces if piece.text]


def opening(apply: Apply) -> str:
    """Return what a prompt of one message ends with: the assistant's opening."""
    text = apply([("user", "\ue0000\ue001")]) or ""
    return text[text.rfind("\ue001") + 1 :]


def marks_of(template: str) -> list[str]:
    """Return the marks that a template writes, each once."""
    return sorted(set(_MARK.findall(template)))
