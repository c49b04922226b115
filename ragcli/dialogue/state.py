"""What a conversation has come to: five layers of frozen values, each with its own life.

Only `events.apply` makes a new state from an old one; nothing here decides, and nothing here knows a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FOCUS_DEPTH = 5
STACK_DEPTH = 2

Said = Literal["user", "assistant", "hits", "profile"]
Stage = Literal["new", "asking", "clarifying", "done"]


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a turn can be about, by its canonical name, and the files that name it."""

    name: str
    kind: str = "said"
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    """An entity that 它 may mean, who named it last and in which turn."""

    entity: Entity
    turn: int
    by: Said = "user"


@dataclass(frozen=True, slots=True)
class Task:
    """What is being asked about: the last complete question of a chain, its words, entities and slots."""

    topic: str = ""
    content: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    slots: Mapping[str, str] = field(default_factory=dict)
    stage: Stage = "new"
    last_turn: int = 0


@dataclass(frozen=True, slots=True)
class TaskLayer:
    """The running task, up to two set aside, and those that wait to be forgotten."""

    current: Task = Task()
    stack: tuple[Task, ...] = ()
    dormant: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalLayer:
    """Which chunks were seen, found, cited and rejected, and what the conversation points at."""

    seen: tuple[int, ...] = ()
    hits: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    focus: tuple[Focus, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the user confirmed, corrected or decided, in the user's words."""

    kind: Literal["affirmed", "corrected", "decided"]
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange: the user's own words, what they were read as, and what was answered."""

    number: int
    query: str
    standalone: str
    action: str
    answer: str = ""
    entities: tuple[Entity, ...] = ()
    content: tuple[str, ...] = ()
    kind: str = "complete"
    hits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextLayer:
    """The turns as they were said, and a summary of those that were compressed away."""

    turns: tuple[Turn, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One reading that a clarifying question offers."""

    label: str
    entity: Entity


@dataclass(frozen=True, slots=True)
class Pending:
    """A clarifying question that waits for its reply, and the question that the reply completes."""

    query: str
    standalone: str
    question: str
    choices: tuple[Choice, ...]
    about: str
    turn: int


@dataclass(frozen=True, slots=True)
class DialogueState:
    """A conversation between two turns. `turn` counts the turns that are done."""

    turn: int = 0
    profile: Mapping[str, str] = field(default_factory=dict)
    task: TaskLayer = TaskLayer()
    retrieval: RetrievalLayer = RetrievalLayer()
    facts: tuple[Fact, ...] = ()
    context: ContextLayer = ContextLayer()
    pending: Pending | None = None
    clarified: tuple[str, ...] = ()

    @property
    def last(self) -> Turn | None:
        """The turn before this one."""
        return self.context.turns[-1] if self.context.turns else None


def empty_state(profile: Mapping[str, str] | None = None) -> DialogueState:
    """Return the state of a conversation in which nothing was said."""
    return DialogueState(profile=dict(profile or {}))
