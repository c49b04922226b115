"""What a base's models and index take in memory, against what the machine has: said before it swaps.

Estimates on the high side, from the files alone; nothing is loaded for them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ragcli.config import Settings
from ragcli.errors import ModelUnusable
from ragcli.generation.llm import memory_need
from ragcli.pipeline.models import model_path
from ragcli.pipeline.served import local_models

# The program with its libraries, the mapped query embedder and the caches of a running conversation.
_PROGRAM_BYTES = 700 * 2**20
_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Need:
    """The bytes that a conversation takes, part by part."""

    models: int
    index: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.models + self.index + _PROGRAM_BYTES


def need_of(settings: Settings, models_dir: Path, index_dir: Path | None = None) -> Need:
    """Return what answering takes: both roles' models, once where they are one file, and the index."""
    paths = dict.fromkeys(model_path(name, "generator", models_dir) for name in local_models(settings))
    models = sum(memory_need(path, settings.generation.context_tokens) for path in paths)
    files = index_dir.rglob("*") if index_dir and index_dir.is_dir() else ()
    return Need(models, sum(path.stat().st_size for path in files if path.is_file()))


def check_load(path: Path, context_tokens: int) -> None:
    """Raise ModelUnusable where loading a model would make the machine swap, naming the setting that helps."""
    need, have = memory_need(path, context_tokens), available_bytes()
    if need > have:
        raise ModelUnusable("too_little_memory", need_gb=_gb(need), have_gb=_gb(have))


def available_bytes() -> int:
    """Return the memory that can be taken without swapping: what is free or holds files that can be read again."""
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return machine_bytes()


def machine_bytes() -> int:
    """Return the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _gb(size: int) -> float:
    return round(size / 2**30, 1)
