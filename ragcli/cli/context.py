"""What every command starts from: what was typed, the screen, and the knowledge base that it means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragcli import config
from ragcli.cli.render import Screen
from ragcli.config import Settings
from ragcli.pipeline.base import KnowledgeBase, open_base


@dataclass(frozen=True, slots=True)
class Environment:
    """The process as a command sees it; tests hand in another."""

    screen: Screen
    environ: Mapping[str, str]
    kb: str | None = None

    @property
    def base_folder(self) -> Path:
        """The folder of the knowledge base that is meant, whether it exists or not."""
        return config.base_dir(self.kb, self.environ, Path.cwd())

    @property
    def models_dir(self) -> Path:
        """The folder of the model files."""
        return config.models_dir(self.environ)

    def settings(self) -> Settings:
        """Return the settings that hold here: the base's where there is one."""
        return config.load_settings(self.base_folder, self.environ)

    def base(self) -> KnowledgeBase:
        """Return the knowledge base, or say that there is none."""
        folder = config.require_base(self.base_folder)
        return open_base(folder, config.load_settings(folder, self.environ), self.environ)


def this_process(screen: Screen, kb: str | None) -> Environment:
    """Return the environment of this process."""
    return Environment(screen, os.environ, kb)
