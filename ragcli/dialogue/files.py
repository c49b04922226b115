"""Which files a question is more likely about: those that hold what it names, the one in hand, its edition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragcli.dialogue.editions import edition_weights

if TYPE_CHECKING:
    from ragcli.dialogue.lexicon import Lexicon
    from ragcli.dialogue.state import Entity

RUNNING_FILE = 1.15
NAMED_FILE = 2.0
_FEW_FILES = 3


def file_weights(
    entities: Sequence[Entity], running: Sequence[str], lexicon: Lexicon, edition: str = ""
) -> dict[str, float]:
    """Return how much each file should count, 1 where it isn't named; `running` are the files of the turn before."""
    files = dict.fromkeys(running[:1], RUNNING_FILE)
    for entity in entities:
        if 0 < len(entity.files) <= _FEW_FILES:
            files.update(dict.fromkeys(entity.files, NAMED_FILE))
    for file, weight in edition_weights(lexicon.editions, edition).items():
        files[file] = files.get(file, 1.0) * weight
    return files
