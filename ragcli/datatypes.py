"""The values that the rooms hand to each other, and the protocols that adapters keep.

Nothing here reads, writes or decides: a room knows this module and `errors`, and no other room.
Lines are 1-based and counted in the decoded text, whose line ends are all `\\n`; characters are 0-based
offsets into the same text; scores are better when higher; times are seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

ChunkKind = Literal["text", "table"]
Action = Literal["answer", "correct", "clarify", "not_found", "smalltalk"]


# ---------------------------------------------------------------- documents


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that opens a chapter, section or subsection (level 1 is the outermost)."""

    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """A statute's article whose number is glued to its text: `第三条 …`."""

    line: int
    number: str


@dataclass(frozen=True, slots=True)
class Table:
    """A run of lines that is a table; its first `header_lines` lines name the columns."""

    first_line: int
    last_line: int
    header_lines: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know about a file: a warning changes the exit code, a doubt does not."""

    kind: str
    line: int = 0
    fields: Mapping[str, object] = field(default_factory=dict)
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """The stored unit of text: a slice of the decoded text under one chapter path.

    `body` is exactly `text[char_start:char_end]`; `header` is the repeated header of a long table's later
    piece, else empty. `embed_text` is the body without page headers and the like where it differs.
    """

    chunk_id: int
    heading_path: tuple[str, ...]
    kind: ChunkKind
    body: str
    line_start: int
    line_end: int
    char_start: int
    char_end: int
    header: str = ""
    embed_text: str | None = None

    @property
    def text(self) -> str:
        """The text as it is shown, searched and cited."""
        return self.header + self.body


@dataclass(frozen=True, slots=True)
class Document:
    """A file, read and split."""

    text: str
    encoding: str
    title: Heading | None
    headings: tuple[Heading, ...]
    articles: tuple[Article, ...]
    tables: tuple[Table, ...]
    chunks: tuple[Chunk, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadingRule:
    """A heading pattern of the user's: a regular expression for a whole line, and its level."""

    pattern: str
    level: int


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """How documents are cut. Sizes are characters; `count_tokens` is exact where a model is at hand."""

    min_chars: int = 300
    max_chars: int = 500
    overlap_chars: int = 80
    table_max_chars: int = 1200
    max_tokens: int = 480
    count_tokens: Callable[[str], int] | None = None
    heading_rules: tuple[HeadingRule, ...] = ()


TermKind = Literal["name", "heading", "defined", "unit", "part", "row", "column"]


@dataclass(frozen=True, slots=True)
class Term:
    """A name that the knowledge base itself uses, its other spellings, and the files that it stands in."""

    text: str
    kind: TermKind
    aliases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may appear in a rewrite and the entities that a turn can be about."""

    terms: tuple[Term, ...] = ()


# ---------------------------------------------------------------- retrieval


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it is read back from the store, with the file that it is cited by."""

    chunk: Chunk
    file: str
    title: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a query, its score, and where each part of the score came from."""

    stored: StoredChunk
    score: float
    scores: Mapping[str, float]
    shown: bool = False


class Embedder(Protocol):
    """A model that turns text into vectors of length one."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What a vector depends on besides its text: model, file hash, backend, precision, prefix."""

    @property
    def dimension(self) -> int:
        """The width of a vector."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""

    def embed_query(self, text: str) -> Vectors:
        """Return a single row."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage of this text takes, prefix and marks included."""


# ---------------------------------------------------------------- language model


@dataclass(frozen=True, slots=True)
class Passage:
    """What the model is shown of one chunk or of neighbouring ones, under the number it is cited by.

    `n` counts from 1 in the order in which passages stand in the prompt (document order); a sequence of
    passages is best first. The first `header_lines` lines of `text` are a table's header and stay.
    `chunk_texts`, one a chunk id, let a citation name the very chunk of joined ones; empty: the first.
    `keep`: the text is the same in every prompt that shows it, so what the model has read of it may be put back.
    """

    n: int
    file: str
    heading_path: tuple[str, ...]
    text: str
    chunk_ids: tuple[int, ...]
    title: str = ""
    header_lines: int = 0
    chunk_texts: tuple[str, ...] = ()
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a chat prompt.

    `pieces`, joined, are the content, cut where tokens must not reach across: each passage is tokenised by
    itself. Empty: the content is one piece. `kept` are the places in `pieces` of texts that come again in other
    prompts, whose evaluated state may be put back instead of evaluating them here.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    pieces: tuple[str, ...] = ()
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model wrote, and what it cost in tokens and seconds.

    Of the prompt's tokens, `put_back_tokens` were read earlier and put back in `put_back_s`; evaluating took
    `evaluate_s`; the rest stood in the model's memory. `read_ahead_tokens` were evaluated before the call and
    since the last one: a fixed part the first time, a conversation while nobody asked.
    """

    text: str
    finish: Literal["stop", "length", "time", "cancelled"]
    prompt_tokens: int
    evaluated_tokens: int
    completion_tokens: int
    first_token_s: float
    total_s: float
    put_back_tokens: int = 0
    put_back_s: float = 0.0
    evaluate_s: float = 0.0
    read_ahead_tokens: int = 0


class StateStore(Protocol):
    """Where evaluated states lie, by name; whatever gets lost there costs time only."""

    def get(self, name: str) -> bytes | None:
        """Return a state as it was put, or None."""

    def put(self, name: str, data: bytes) -> bool:
        """Keep a state; False where there is no room for it."""

    def has(self, name: str) -> bool:
        """Tell whether there is one, without reading it."""


class LanguageModel(Protocol):
    """A chat model. Greedy unless said otherwise: the same prompt gives the same text."""

    @property
    def context_tokens(self) -> int:
        """How many tokens the prompt and the answer may take together."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text takes."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        grammar: str | None = None,
        timeout: float | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Write an answer; `grammar` is GBNF; `on_text` gets each piece of text as it comes."""

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        """Return the mean log-probability a token of each answer as the next assistant message."""


# ---------------------------------------------------------------- helpers of the vocabulary itself


def chunk_id_of(file: str, heading_path: Sequence[str], text: str, occurrence: int) -> int:
    """Return the 60-bit id of a chunk: the same file, path and text give the same id in every run.

    `occurrence` counts equal texts under one path from 0. Sixty bits fit the index's signed integers.
    """
    parts = "\x00".join((file, *heading_path, str(occurrence), text))
    digest = hashlib.sha256(parts.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 4


def chunk_name(chunk_id: int) -> str:
    """Return a chunk id as people and JSON see it: 15 hexadecimal digits."""
    return f"{chunk_id:015x}"


Json = dict[str, Any]


def with_tuples(row: Json) -> Json:
    """Return a JSON object with its lists as the tuples that frozen values hold."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


Progress = Callable[[int, int], None]
