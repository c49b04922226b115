"""Count tokens with a model's own tokenizer, without the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ragcli.errors import ModelUnusable


def counter(path: Path) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text, marks included; `path` is a tokenizer.json."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as err:  # the library raises plain Exception for a file that it can't read
        raise ModelUnusable("model_corrupt", path=path, reason=str(err)) from err
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text).ids)
