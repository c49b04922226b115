"""The real models, in the real command line: pulled once by `make test`, found through RAGCLI_MODELS."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragcli import config

ROOT = Path(__file__).parents[2]
SMALL = "qwen2.5-coder-0.5b-instruct"


@dataclass(frozen=True)
class Installed:
    """Runs the installed command as a person's shell would."""

    environ: dict[str, str]

    def __call__(self, *argv: str, typed: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ragcli", *argv]
        done = subprocess.run(
            command, input=typed, capture_output=True, text=True, env=self.environ, timeout=280
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a command line with a base made of the sample documents, by the real models."""
    folder = tmp_path_factory.mktemp("base")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RAGCLI_")}
    environ |= {
        "RAGCLI_KB": str(folder / "kb"), "RAGCLI_MODELS": str(config.models_dir(os.environ)), "RAGCLI_UI_LANGUAGE": "en",
        "RAGCLI_GENERATION_MODEL": SMALL, "XDG_STATE_HOME": str(folder / "state"),
    }  # fmt: skip
    ragcli = Installed(environ)
    ragcli("init")
    ragcli("sync", str(ROOT / "sample_docs"))
    return ragcli
