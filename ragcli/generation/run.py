"""One call of a language model while it runs: its text so far, what it has cost, whether it must end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ragcli.datatypes import Completion
from ragcli.generation.streaming import Characters

Finish = Literal["stop", "length", "time", "cancelled"]


@dataclass(slots=True)
class Run:
    """What one call has cost so far, and whether it must end."""

    start: float
    timeout: float | None
    clock: Callable[[], float]
    cancelled: Callable[[], bool]
    evaluated: int = 0
    evaluate_s: float = 0.0
    put_back: int = 0
    put_back_s: float = 0.0
    ahead: int = 0
    first: float = 0.0
    finish: Finish = "stop"
    room: int = 0
    guessed: int = 0
    on_text: Callable[[str], None] | None = None
    characters: Characters = field(default_factory=Characters)
    tokens: list[int] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def over(self) -> bool:
        """Tell whether time is up or the caller gave up, and keep which."""
        if self.cancelled():
            self.finish = "cancelled"
            return True
        if self.timeout and self.clock() - self.start >= self.timeout:
            self.finish = "time"
            return True
        return False

    def take(self, token: int, data: bytes) -> None:
        """Add a token to the answer and pass on the characters that it completes."""
        if not self.tokens:
            self.first = self.clock() - self.start
        self.tokens.append(token)
        text = self.characters.feed(data)
        if text:
            self.parts.append(text)
            if self.on_text:
                self.on_text(text)

    def completion(self, prompt: int) -> Completion:
        """Return what came of it; `prompt` is the whole prompt in tokens."""
        total = self.clock() - self.start
        return Completion(
            "".join(self.parts),
            self.finish,
            prompt,
            self.evaluated,
            len(self.tokens),
            self.first or total,
            total,
            self.put_back,
            self.put_back_s,
            self.evaluate_s,
            self.ahead,
        )
