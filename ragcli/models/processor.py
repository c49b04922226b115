"""What this machine's processor can do, which build of llama.cpp fits it, and whether the present build survives here.

Outside `probe` it is standard library only: the install script uses it before anything is installed. A build names
each instruction set: a native one also takes AMX, whose first evaluation dies on some virtual machines.
"""

from __future__ import annotations

import platform
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence, Set
from pathlib import Path

from ragcli.errors import ModelUnusable

# ggml's CMake option: the processor's flags that all have to be there.
_X86 = {
    "GGML_SSE42": {"sse4_2"},
    "GGML_AVX": {"avx"},
    "GGML_F16C": {"f16c"},
    "GGML_FMA": {"fma"},
    "GGML_BMI2": {"bmi2"},
    "GGML_AVX2": {"avx2"},
    "GGML_AVX_VNNI": {"avx_vnni"},
    "GGML_AVX512": {"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"},
    "GGML_AVX512_VBMI": {"avx512vbmi"},
    "GGML_AVX512_VNNI": {"avx512_vnni"},
    "GGML_AVX512_BF16": {"avx512_bf16"},
}
_NEVER = ("GGML_NATIVE", "GGML_AMX_TILE", "GGML_AMX_INT8", "GGML_AMX_BF16")
_NOT_BUILT = (
    "LLAMA_BUILD_TOOLS",
    "LLAMA_BUILD_SERVER",
    "LLAMA_BUILD_EXAMPLES",
    "LLAMA_BUILD_TESTS",
    "LLAVA_BUILD",
    "LLAMA_CURL",
)
PORTABLE = frozenset({"sse4_2", "avx", "avx2", "fma", "f16c", "bmi2"})
_SECONDS = 180
# Long enough that prompt evaluation takes its batched path, where AMX would be used.
_TEXT = (
    b"The quick brown fox jumps over the lazy dog, and again, and once more, until the batch is long enough."
)


def processor_flags() -> frozenset[str]:
    """Return the instruction sets of this processor, by Linux's names."""
    if sys.platform == "darwin":
        return _mac_flags()
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return frozenset()
    # Cores can differ: only what all of them have counts.
    lines = [
        line.partition(":")[2].split() for line in text.splitlines() if line.startswith(("flags", "Features"))
    ]
    return frozenset(set.intersection(*map(set, lines))) if lines else frozenset()


def _mac_flags() -> frozenset[str]:
    names = ("machdep.cpu.features", "machdep.cpu.leaf7_features")
    done = subprocess.run(["/usr/sbin/sysctl", "-n", *names], capture_output=True, text=True, check=False)
    words = done.stdout.lower().replace("avx1.0", "avx").replace("sse4.2", "sse4_2").split()
    return frozenset(words)


def cmake_options(flags: Set[str], machine: str, system: str) -> tuple[str, ...]:
    """Return the CMake options of a build that runs on a processor with these flags."""
    options = dict.fromkeys((*_NEVER, *_NOT_BUILT), False)
    if machine.lower() in ("x86_64", "amd64"):
        options |= {name: needed <= flags for name, needed in _X86.items()}
        if not options["GGML_AVX512"]:
            options |= {name: False for name in _X86 if name.startswith("GGML_AVX512")}
    if system == "Darwin":
        options["GGML_METAL"] = False
    named = [f"-D{name}={'ON' if on else 'OFF'}" for name, on in options.items()]
    if machine.lower() in ("arm64", "aarch64"):
        named.append(f"-DGGML_CPU_ARM_ARCH={_arm_level(flags, system)}")
    return ("-DCMAKE_BUILD_TYPE=Release", *named)


def _arm_level(flags: Set[str], system: str) -> str:
    """Return the -march level: every Apple chip has dot products and half floats; elsewhere the flags say."""
    level = "armv8.2-a" if system == "Darwin" or "asimdhp" in flags or "asimddp" in flags else "armv8-a"
    if system == "Darwin" or "asimddp" in flags:
        level += "+dotprod"
    if system == "Darwin" or "asimdhp" in flags:
        level += "+fp16"
    return level + ("+i8mm" if "i8mm" in flags else "")


def reinstall_command() -> str:
    """Return what to type for a build of llama.cpp that fits this processor."""
    options = " ".join(cmake_options(processor_flags(), platform.machine(), platform.system()))
    pip = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps --no-cache-dir"
    return f'CMAKE_ARGS="{options}" {pip} --no-binary llama-cpp-python llama-cpp-python'


def check_llama(model: Path | None, child: Sequence[str] = ()) -> str:
    """Load llama.cpp in a child and evaluate a few tokens; return a line about it.

    `child` is the command that does it (the end of this module). Raises ModelUnusable: `llama_dies` where the child
    is killed by a signal, `llama_fails` where it gives an error, `llama_hangs`.
    """
    command = [*(child or (sys.executable, "-m", __name__)), *([str(model)] if model else [])]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as err:
        raise ModelUnusable("llama_hangs", seconds=_SECONDS, command=reinstall_command()) from err
    if done.returncode < 0:
        raise ModelUnusable("llama_dies", signal=_signal_name(-done.returncode), command=reinstall_command())
    if done.returncode:
        reason = [line.strip() for line in done.stderr.splitlines() if line.strip()][-1:] or ["?"]
        raise ModelUnusable("llama_fails", reason=reason[0], command=reinstall_command())
    return done.stdout.strip()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def probe(path: str) -> str:
    """Load the library and evaluate with the model, if one is named. This runs in the child; it may die, that is its use."""
    import llama_cpp

    system = llama_cpp.llama_print_system_info().decode("utf-8", "replace").strip()
    if not path:
        return f"llama.cpp {llama_cpp.__version__}, no model to try; {system}"
    model = llama_cpp.Llama(model_path=path, n_ctx=128, n_batch=128, n_threads=2, verbose=False)
    model.eval(model.tokenize(_TEXT))
    return f"llama.cpp {llama_cpp.__version__}, {Path(path).name}; {system}"


if __name__ == "__main__":
    sys.stdout.write(probe(sys.argv[1] if len(sys.argv) > 1 else "") + "\n")
