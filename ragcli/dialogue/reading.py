"""What a turn was understood as: the value that the dialogue room hands to the corridors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ragcli.dialogue.gate import GateVerdict
from ragcli.dialogue.state import Choice, Entity

Status = Literal["none", "rules", "llm", "failed", "off"]


@dataclass(frozen=True, slots=True)
class Example:
    """A question made complete, to show the model how: what was said before it, as typed, complete."""

    history: tuple[tuple[str, str], ...]
    query: str
    rewrite: str


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """How far the rewriting may go.

    `timeout` is in seconds; `clarify_after` 2 answers first and asks the second time. `examples` join the
    built-in ones in the model's prompt. The last three are only turned off to measure what they bring: the
    built-in examples, the check for names from nowhere, and the choice of earlier turns by likeness.
    """

    max_tokens: int = 200
    timeout: float = 20.0
    verify: bool = False
    clarify_after: int = 1
    examples: tuple[Example, ...] = ()
    built_in: bool = True
    whitelist: bool = True
    similar_turns: bool = True


DEFAULTS = RewriteOptions()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One wording that was considered, where it came from, and why it was taken or refused."""

    text: str
    way: str
    taken: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Clarify:
    """A question to ask back, with the choices that it names."""

    question: str
    choices: tuple[Choice, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What retrieval should lean towards. Weights are multipliers of the fused score, by file.

    `raw_weight` is how much the question as it was typed should count beside the standalone ones.
    """

    files: Mapping[str, float] = field(default_factory=dict)
    raw_weight: float = 1.0
    only_new: bool = False
    rejected: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A question, read in its conversation; `separate` where the queries ask different things.

    `fallback` are wordings to search besides where the passages don't answer the queries surely. `sentence` is
    the question for the model that answers, where the queries are rows of words.
    """

    query: str
    queries: tuple[str, ...]
    status: Status
    reason: str
    verdict: GateVerdict
    entities: tuple[Entity, ...] = ()
    content: tuple[str, ...] = ()
    slots: Mapping[str, str] = field(default_factory=dict)
    wishes: Wishes = Wishes()
    relation: str = "same"
    clarify: Clarify | None = None
    candidates: tuple[Candidate, ...] = ()
    rewriter_tokens: int = 0
    resolved_by: str = ""
    separate: bool = False
    fallback: tuple[str, ...] = ()
    sentence: str = ""

    def going_on(self) -> Reading:
        """Return the reading of a question that turned out to go on with what was said before."""
        queries = (*self.queries, *self.fallback)
        return replace(
            self,
            queries=queries,
            status="rules",
            reason="goes on with what was said before",
            sentence=self.query,
        )

    def standing_alone(self) -> Reading:
        """Return the reading of a question that turned out to need nothing added, however short it is."""
        wishes = replace(self.wishes, raw_weight=1.0)
        return replace(
            self, queries=(self.query,), status="none", reason="complete", separate=False, wishes=wishes
        )

    @property
    def smalltalk(self) -> bool:
        """Whether the turn wants no search at all."""
        return self.verdict.kind in ("smalltalk", "about_base")

    @property
    def question(self) -> str:
        """The question as the model that answers reads it."""
        return self.sentence or "\n".join(self.queries)

    @property
    def standalone(self) -> str:
        """The first of the standalone queries."""
        return self.queries[0]
