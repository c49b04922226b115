"""Make the environment in .venv: torch first, llama.cpp built for this processor, then ragcli and its tools.

Run with any Python 3.11 or newer. With `--bundle DIR` everything is taken from that folder and no network is
used. The wheel of llama.cpp is kept outside the work tree, named by version, Python and processor options, so
that it is compiled once and never used on a processor that it wasn't made for.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CONSTRAINTS = ROOT / "constraints.txt"
# What the options need of the processor. Never AMX: on some virtual machines that list it, the first
# evaluation dies of SIGSEGV in ggml_backend_amx_mul_mat.
_X86 = {
    "GGML_AVX": {"avx"},
    "GGML_AVX2": {"avx2"},
    "GGML_FMA": {"fma"},
    "GGML_F16C": {"f16c"},
    "GGML_BMI2": {"bmi2"},
    "GGML_AVX512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "GGML_AVX512_VBMI": {"avx512f", "avx512_vbmi", "avx512vbmi"},
    "GGML_AVX512_VNNI": {"avx512f", "avx512_vnni"},
    "GGML_AVX512_BF16": {"avx512f", "avx512_bf16"},
}
_PORTABLE = {"avx", "avx2", "fma", "f16c", "bmi2"}
_LEFT_OUT = ("LLAVA_BUILD", "LLAMA_BUILD_TOOLS", "LLAMA_BUILD_SERVER", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_TESTS", "LLAMA_CURL")


def processor_flags() -> set[str]:
    """Return the features that the processor lists; empty where the system doesn't tell."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    line = next((line for line in text.splitlines() if line.startswith(("flags", "Features"))), "")
    return set(line.partition(":")[2].split())


def cmake_options(flags: set[str], machine: str) -> list[str]:
    """Return the options for llama.cpp: the named features and nothing native.

    >>> [o for o in cmake_options({"avx", "avx2", "amx_tile"}, "x86_64") if o.endswith("=ON")]
    ['GGML_AVX=ON', 'GGML_AVX2=ON']
    """
    options = ["GGML_NATIVE=OFF", *(f"{name}=OFF" for name in _LEFT_OUT)]
    if machine in ("x86_64", "AMD64"):
        # vbmi is spelled differently by different kernels, so one of its two names is enough.
        known = flags | ({"avx512_vbmi", "avx512vbmi"} if flags & {"avx512_vbmi", "avx512vbmi"} else set())
        options += [f"{name}={'ON' if needs <= known else 'OFF'}" for name, needs in _X86.items()]
    return options


def pinned(package: str) -> str:
    """Return `package==version` as constraints.txt has it."""
    for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines():
        if line.partition("==")[0].lower().replace("_", "-") == package:
            return f"{package}=={line.partition('==')[2]}"
    raise SystemExit(f"constraints.txt doesn't name {package}")


def wheel_folder(options: list[str]) -> Path:
    """Return the place of the wheel that these options make."""
    key = hashlib.sha256("\n".join([pinned("llama-cpp-python"), platform.machine(), *sorted(options)]).encode()).hexdigest()[:12]
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "ragcli" / "wheels" / f"cp{sys.version_info[0]}{sys.version_info[1]}-{key}"


def pip(*args: str, env: dict[str, str] | None = None) -> None:
    """Run the environment's pip; its output is shown, its failure ends the script."""
    if subprocess.run([str(PYTHON), "-m", "pip", *args], env=env).returncode:
        raise SystemExit(f"pip {' '.join(args[:3])} … failed; see above")


def build_llama(options: list[str], source: list[str]) -> Path:
    """Return the wheel of llama.cpp, built once for these options."""
    folder = wheel_folder(options)
    found = sorted(folder.glob("llama_cpp_python-*.whl"))
    if found:
        return found[0]
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++") if name):
        raise SystemExit("no C++ compiler found; install one (Debian: apt install g++, macOS: xcode-select --install)")
    print("compiling llama.cpp for this processor (about five minutes on two cores)", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / "half"
    shutil.rmtree(half, ignore_errors=True)
    env = {**os.environ, "CMAKE_ARGS": " ".join(f"-D{option}" for option in options), "FORCE_CMAKE": "1"}
    pip("wheel", "--no-cache-dir", "--no-deps", "--no-binary", "llama-cpp-python", "-w", str(half), *source, pinned("llama-cpp-python"), env=env)
    wheel = next(half.glob("llama_cpp_python-*.whl"))
    done = wheel.rename(folder / wheel.name)
    shutil.rmtree(half)
    return done


def main() -> None:
    """Make the environment, or bring it up to date; what is there already is left alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=Path, help="take wheels from this folder instead of a registry")
    parser.add_argument("--wheels", type=Path, help="only collect all wheels into this folder, for a bundle")
    options = parser.parse_args()
    if sys.version_info < (3, 11):
        raise SystemExit(f"Python 3.11 or newer is needed, this is {platform.python_version()}")
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    source = ["--no-index", "--find-links", str(options.bundle / "wheels")] if options.bundle else []
    if options.wheels:
        collect(options.wheels)
        return
    pip("install", "--quiet", "-c", str(CONSTRAINTS), *source, pinned("torch"))
    native = cmake_options(processor_flags(), platform.machine())
    wheel = bundled_llama(options.bundle, native) if options.bundle else build_llama(native, source)
    pip("install", "--quiet", "--no-deps", *(["--no-index"] if source else []), str(wheel))
    pip("install", "--quiet", "-c", str(CONSTRAINTS), *source, "setuptools>=77", "wheel")
    pip("install", "--quiet", "--no-build-isolation", "-c", str(CONSTRAINTS), *source, "-e", f"{ROOT}[dev]")


def bundled_llama(bundle: Path, native: list[str]) -> Path:
    """Return the bundle's wheel for this processor, else the one that any AVX2 processor runs."""
    for name in (wheel_folder(native).name, "portable"):
        found = sorted((bundle / "llama" / name).glob("*.whl"))
        if found:
            return found[0]
    raise SystemExit(f"{bundle} holds no llama.cpp for this processor; make the bundle on a machine like this one")


def collect(target: Path) -> None:
    """Put every wheel that an install needs into `target/wheels`, and llama.cpp twice into `target/llama`."""
    wheels = target / "wheels"
    pip("download", "--quiet", "-c", str(CONSTRAINTS), "-d", str(wheels), pinned("torch"))
    needs = [line for line in CONSTRAINTS.read_text(encoding="utf-8").split() if not line.lower().startswith(("llama", "torch=="))]
    pip("wheel", "--quiet", "-c", str(CONSTRAINTS), "--find-links", str(wheels), "-w", str(wheels), "setuptools>=77", "wheel", *needs)
    native = cmake_options(processor_flags(), platform.machine())
    for name, options in ((wheel_folder(native).name, native), ("portable", cmake_options(_PORTABLE, platform.machine()))):
        place = target / "llama" / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build_llama(options, []), place)


if __name__ == "__main__":
    main()
