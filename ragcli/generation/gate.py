"""Check an answer sentence by sentence while it is written: what is shown is what stays.

Text goes in as it comes from the model; sentences that stand in the passages come out with their citations.
Nothing here knows the model or the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragcli.datatypes import Passage
from ragcli.generation.citations import Numbering, split_marks
from ragcli.generation.expected import holds_what_is_asked
from ragcli.generation.grounding import Support, numbers, support, written_numbers
from ragcli.generation.streaming import Thoughts
from ragcli.generation.wording import fold, mentions, wording

# A sentence ends at its punctuation, the marks and closing quotes behind it included.
_END = re.compile(
    r"(?:[。！？；]+|[!?;]+(?![A-Za-z0-9/=&_.-])|(?<=[^\d\s])\.(?=\s|[\[［【])|(?<=\d)\.(?=\s)|(?=\n))[”’」』）)\"]*(?:\s*[\[［【][^\]］】\n]{0,12}[\]］】](?!\())*\n*"
)
# A link or an image is no sentence of an answer: what a document orders to be embedded would be fetched by whoever
# renders it. A bare address stays, for those who ask for one.
_MARKUP = re.compile(r"!\[|\]\(\s*\w+:|<\s*(?:img|a|iframe)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*\d{1,2}\.\s*")  # the number of an entry is no sentence: it goes with what it counts


@dataclass(frozen=True, slots=True)
class Checks:
    """What the code found in an answer, for the trace."""

    unsupported: tuple[str, ...] = ()
    missing_numbers: tuple[str, ...] = ()
    attached: int = 0
    attempts: int = 1


@dataclass(slots=True)
class Gate:
    """The checked text of one attempt.

    `doubtful` are numbers that the question asserts and no passage holds: they may be denied, not confirmed.
    Sentences wait until one of them holds a value of the kind that is asked for; `beside` says that none did. A
    refusal waits for what follows it: by itself it is `refusal` and not shown, for the passages may tell after all.
    """

    question: str
    passages: Sequence[Passage]
    language: str
    on_text: Callable[[str], None] | None = None
    inside_thought: bool = False
    doubtful: frozenset[str] = frozenset()
    numbering: Numbering = field(default_factory=Numbering)
    shown: list[str] = field(default_factory=list)
    said: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    attached: int = 0
    refused: bool = False
    refusal: str = ""
    corrected: bool = False
    beside: bool = False
    _waiting: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    _held: str = ""
    _short: str = ""  # a bare yes or no waits for the sentence that gives its reason
    _thoughts: Thoughts = field(default_factory=Thoughts)

    def __post_init__(self) -> None:
        self._thoughts = Thoughts(inside=self.inside_thought)

    def feed(self, text: str) -> None:
        """Take what the model wrote next."""
        new = self._thoughts.feed(text)
        if self._thoughts.dropped_before:
            self._start_again()
        self._held += new
        while True:
            ends = (m for m in _END.finditer(self._held) if m.end() > m.start() or m.start() > 0)
            found = next((m for m in ends if not _ITEM.fullmatch(self._held[: m.end()])), None)
            # Marks may still follow the end of a sentence: wait for the character after it.
            if found is None or found.end() >= len(self._held):
                return
            self._judge(self._held[: found.end()])
            self._held = self._held[found.end() :]

    def finish(self, *, whole: bool = True) -> str:
        """Take the end of the answer and return all of it that may stay.

        Where the model was stopped (`whole` is false) its last sentence may be cut within a number: it goes,
        unless it is all there is.
        """
        self._held += self._thoughts.finish()
        if not whole and self.shown:
            self._held = ""
        for line in self._held.splitlines(keepends=True):
            self._judge(line)
        if self._short:
            self.unsupported.append(self._short.strip())
        if self._waiting:
            self.beside = not self.shown
            self.unsupported += [bare.strip() for bare, _ in self._waiting]
        self._held = self._short = ""
        return self.text

    @property
    def text(self) -> str:
        """What has passed so far."""
        return "".join(self.shown).strip()

    def quote(self, text: str, n: int) -> None:
        """Quote a sentence of passage `n`: below what stands, or in the place of a refusal."""
        if not self.shown:
            self.refusal, self.corrected = "", False
        line = wording(self.language)["quoted"].format(text=text.strip())
        self._show(f"\n{line}" if self.shown else line, (n,))

    def _judge(self, sentence: str) -> None:
        bare, cited = split_marks(sentence, {p.n for p in self.passages})
        if not re.search(r"\w", bare):
            return
        words = wording(self.language)
        self.raw.append(sentence)
        if _MARKUP.search(sentence):
            self.unsupported.append(bare.strip())
            return
        if mentions(bare, words["refusals"]):
            self.refused, self._short = True, ""
            if self.shown:
                self._show(bare, ())
            else:
                self.refusal += bare
            return
        if len(self.raw) == 1:
            self.corrected = fold(bare).strip().startswith(tuple(words["corrections"]))
        if _letters(bare) in words["short_answers"]:
            self._short = bare
            return
        found = support(
            bare, cited, self.passages, self.question, computed=mentions(self.question, words["calculations"])
        )
        repeated = numbers(bare) & self.doubtful
        told = numbers(bare) - written_numbers(self.question)  # a limit of the passages, say
        if repeated and not told and not mentions(bare, words["negations"]):
            found = Support((), tuple(sorted(repeated)))
        self._decide(bare, cited, found)

    def _decide(self, bare: str, cited: tuple[int, ...], found: Support) -> None:
        if found.missing:
            self.missing += found.missing
            self.unsupported.append(bare.strip())
        elif found.weak:
            self.unsupported.append(bare.strip())
        else:
            self.attached += found.cited != cited
            self._waiting.append((bare, found.cited))
            said = " ".join([*(before for before, _ in self.said), *(text for text, _ in self._waiting)])
            if self.corrected or holds_what_is_asked(self.question, said, self.language):
                for text, marks in self._waiting:
                    self._show(text, marks)
                self._waiting = []

    def _show(self, bare: str, cited: tuple[int, ...]) -> None:
        text = self.refusal + self._short + self.numbering.marked(bare, cited)
        self.refusal = self._short = ""
        self.shown.append(text)
        self.said.append((bare, cited))
        if self.on_text:
            self.on_text(text)

    def _start_again(self) -> None:
        """All so far was a thought without an opening mark."""
        self._thoughts.dropped_before = False
        if self.shown and self.on_text:
            self.on_text(wording(self.language)["thought_ends"])
        self._held = self._short = ""
        self.numbering, self.shown, self.said, self.raw = Numbering(), [], [], []
        self.unsupported, self.missing, self.refused, self.corrected = [], [], False, False
        self.refusal = ""
        self._waiting = []


def _letters(sentence: str) -> str:
    """Return what is left of a sentence without blanks and punctuation."""
    return re.sub(r"\W", "", fold(sentence))
