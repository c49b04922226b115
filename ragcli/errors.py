"""What can go wrong, and the exit code that scripts see for it.

An error is a kind and the facts about it, never a sentence: the sentence, and what to type next, stand in
`cli/messages/` in the user's language under `errors.<kind>`. Rooms raise these at their edge; they are
caught in one place, `cli/app.py`.
"""

from __future__ import annotations


class RagcliError(Exception):
    """Stop the command with a kind, its facts and an exit code."""

    exit_code = 1

    def __init__(self, kind: str, **fields: object) -> None:
        super().__init__(kind, fields)
        self.kind = kind
        self.fields = fields

    def __str__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.kind}: {facts}" if facts else self.kind


class UsageError(RagcliError):
    """Wrong usage, wrong settings, or a path that doesn't exist."""

    exit_code = 2


class SomeSourcesFailed(RagcliError):
    """Some of the sources were skipped or failed; the report lists each."""

    exit_code = 3


class SourceUnreadable(RagcliError):
    """A source can't be read as text: gone, refused, too large, binary, or without a word in it."""

    exit_code = 3


class AllSourcesFailed(RagcliError):
    """No source could be read; the report lists each."""

    exit_code = 7


class NothingFound(RagcliError):
    """Nothing in the knowledge base bears on the question."""

    exit_code = 4


class NeedsClarifying(RagcliError):
    """The question has to be clarified first."""

    exit_code = 5


class CheckFailed(RagcliError):
    """A comparison or a check found something worse."""

    exit_code = 6


class NotReady(RagcliError):
    """There is no knowledge base or no index here yet."""

    exit_code = 10


class Locked(RagcliError):
    """Another writer holds the knowledge base."""

    exit_code = 11


class Damaged(RagcliError):
    """Stored data is not what was written, or of a format that this version can't read."""

    exit_code = 12


class StorageFailed(RagcliError):
    """The disk refused: full, read-only, broken."""

    exit_code = 13


class ModelUnusable(RagcliError):
    """A model is missing, corrupt or can't run here."""

    exit_code = 14


class BatchFailed(ModelUnusable):
    """A batch of texts got no vectors this time; others may. It is recorded and tried again when asked."""


class NoUsableAnswer(RagcliError):
    """The model gave no usable answer."""

    exit_code = 15
