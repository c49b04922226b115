"""The child that `check_llama` starts: loads llama.cpp, evaluates a few tokens, prints one line. It may die; that is its use."""

from __future__ import annotations

import sys
from pathlib import Path

_TEXT = (
    b"The quick brown fox jumps over the lazy dog, and again, and once more, until the batch is long enough."
)


def run(path: str) -> str:
    """Load the library, and the model if one is named, evaluate it, and return what ran."""
    import llama_cpp

    system = llama_cpp.llama_print_system_info().decode("utf-8", "replace").strip()
    if not path:
        return f"llama.cpp {llama_cpp.__version__}, no model to try; {system}"
    embedding = Path(path).name.startswith("query")
    model = llama_cpp.Llama(
        model_path=path, n_ctx=128, n_batch=128, n_threads=2, embedding=embedding, verbose=False
    )
    if embedding:
        model.embed(_TEXT.decode())
    else:
        model.eval(model.tokenize(_TEXT))
    return f"llama.cpp {llama_cpp.__version__}, {Path(path).name}; {system}"


if __name__ == "__main__":
    sys.stdout.write(run(sys.argv[1] if len(sys.argv) > 1 else "") + "\n")
