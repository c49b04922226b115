"""Install llama-cpp-python into this Python, built for this processor with each instruction set named.

`python scripts/install_llama.py [--bundle DIR] [--force]`. The wheel is kept outside the work tree under a key of
version, Python and options, so that the next checkout takes it as it is; pip's own wheel cache, which knows nothing
of options, is not used. It does nothing where the right build is installed already.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ragcli.models.processor import PORTABLE, cmake_options, processor_flags  # noqa: E402  needs the path above

RECORD = Path(sys.prefix) / "llama-build.txt"
PACKAGE = "llama-cpp-python"


def main() -> int:
    """Install the build that fits, or say what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--bundle", type=Path, help="a folder of `make bundle`; nothing is fetched or compiled"
    )
    parser.add_argument("--force", action="store_true", help="build and install again")
    parser.add_argument(
        "--wheel-into", type=Path, help="only put wheels into this folder: this processor's, a portable one"
    )
    args = parser.parse_args()
    if args.wheel_into:
        return collect(args.wheel_into)
    options = cmake_options(processor_flags(), platform.machine(), platform.system())
    key = build_key(options)
    if not args.force and installed() and RECORD.is_file() and RECORD.read_text() in (key, portable_key()):
        say(f"{PACKAGE} {version()} is installed for this processor already")
        return 0
    wheel, key = choose_wheel(options, key, args.bundle, args.force)
    if wheel is None:
        return 1
    pip("install", "--force-reinstall", "--no-deps", "--no-index", str(wheel))
    pip("install", *constraints(), f"{PACKAGE}=={version()}")
    died = load_in_child()
    if died:
        say(f"the new build doesn't load: {died}\nsend this line and the processor's name to the maintainers")
        return 1
    RECORD.write_text(key)
    say(f"installed {wheel.name} ({key})")
    return 0


def choose_wheel(
    options: tuple[str, ...], key: str, bundle: Path | None, force: bool
) -> tuple[Path | None, str]:
    """Return a wheel that runs here and its key: a kept one, the bundle's, or a new one."""
    kept = find(wheels_dir() / key)
    if kept and not force:
        return kept, key
    if bundle is not None:
        exact = find(bundle / "llama" / key)
        if exact:
            return exact, key
        portable = find(bundle / "llama" / portable_key())
        if portable and (processor_flags() >= PORTABLE or platform.machine() not in ("x86_64", "AMD64")):
            return portable, portable_key()
        say(
            f"{bundle} holds no build of llama.cpp for this processor ({key}); install on a machine with a network"
        )
        return None, key
    return build(options, wheels_dir() / key), key


def collect(folder: Path) -> int:
    """Put this processor's wheel and a portable one into folders named by their keys."""
    flags = frozenset(processor_flags())
    for chosen in (flags, PORTABLE):
        options = cmake_options(chosen, platform.machine(), platform.system())
        key = build_key(options)
        wheel = find(wheels_dir() / key) or build(options, wheels_dir() / key)
        if wheel is None:
            return 1
        (folder / key).mkdir(parents=True, exist_ok=True)
        shutil.copy2(wheel, folder / key / wheel.name)
    return 0


def build(options: tuple[str, ...], place: Path) -> Path | None:
    """Compile a wheel into `place`; it appears there whole or not at all."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX") or "c++", "g++", "clang++"))), None)
    if compiler is None:
        say("no C++ compiler is here, and llama.cpp is compiled for this processor.")
        say(
            "install one (Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc-c++; "
            "macOS: xcode-select --install)"
        )
        return None
    say(f"compiling llama.cpp for this processor with {compiler}: about 5 minutes on two cores, once")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".building-") as temp:
        environ = {**os.environ, "CMAKE_ARGS": " ".join(options), "FORCE_CMAKE": "1"}
        pip(
            "wheel", "--no-deps", "--no-cache-dir", "--no-binary", PACKAGE, "--wheel-dir", temp,
            f"{PACKAGE}=={version()}", environ=environ,
        )  # fmt: skip
        wheel = find(Path(temp))
        if wheel is None:
            say("pip made no wheel; its messages are above")
            return None
        place.mkdir(exist_ok=True)
        os.replace(wheel, place / wheel.name)
        return place / wheel.name


def load_in_child() -> str:
    """Return how a child died that loads the library; empty where it lives."""
    done = subprocess.run(
        [sys.executable, "-m", "ragcli.models.processor"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def version() -> str:
    """Return the version that the constraints pin."""
    match = re.search(
        r"^llama[-_]cpp[-_]python==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
    )
    if not match:
        raise SystemExit("constraints.txt pins no llama-cpp-python")
    return match[1]


def build_key(options: tuple[str, ...]) -> str:
    """Return the name of a build: version, Python, machine, and a hash of its options."""
    digest = hashlib.sha256(" ".join(options).encode()).hexdigest()[:12]
    return f"{version()}-py{sys.version_info.major}{sys.version_info.minor}-{platform.system()}-{platform.machine()}-{digest}"


def portable_key() -> str:
    """Return the key of the build for every processor with AVX2."""
    return build_key(cmake_options(PORTABLE, platform.machine(), platform.system()))


def wheels_dir() -> Path:
    """Return the folder of kept wheels."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "ragcli" / "wheels"


def find(folder: Path) -> Path | None:
    """Return the wheel in a folder."""
    return next(iter(sorted(folder.glob("*.whl"))), None)


def installed() -> bool:
    """Return whether the pinned version is installed."""
    try:
        return metadata.version(PACKAGE) == version()
    except metadata.PackageNotFoundError:
        return False


def constraints() -> list[str]:
    """Return pip's option for the pinned versions."""
    return ["-c", str(ROOT / "constraints.txt")]


def pip(*words: str, environ: dict[str, str] | None = None) -> None:
    """Run this Python's pip; leave with its code where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    code = subprocess.run(command, env=environ, check=False).returncode
    if code:
        say("pip failed: " + " ".join(command))
        raise SystemExit(code)


def say(text: str) -> None:
    """Print a line now: what follows may take minutes."""
    print(text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
