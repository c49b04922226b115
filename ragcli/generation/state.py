"""The evaluated fixed part of a prompt as bytes that another run can trust: what it belongs to, and a checksum.

Nothing here reads or writes files, and a state that doesn't fit exactly is never used: it costs time only.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence

_MAGIC = b"RCPS0001"


def pack(key: str, tokens: Sequence[int], cells: bytes) -> bytes:
    """Return one blob: magic, checksum of the rest, head, cells."""
    head = json.dumps({"key": key, "tokens": list(tokens)}, separators=(",", ":")).encode()
    body = struct.pack("<I", len(head)) + head + cells
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes, key: str) -> tuple[list[int], bytes] | None:
    """Return tokens and cells, or None for a state that is damaged or belongs to something else."""
    body = data[len(_MAGIC) + 32 :]
    if not data.startswith(_MAGIC) or len(body) < 4:
        return None
    if hashlib.sha256(body).digest() != data[len(_MAGIC) : len(_MAGIC) + 32]:
        return None
    (size,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + size])
    return (head["tokens"], body[4 + size :]) if head["key"] == key else None


def key_of(model: str, build: str) -> str:
    """Return the name of what a state depends on besides its tokens."""
    return hashlib.sha256(f"{model}\x00{build}".encode()).hexdigest()


def name_of(key: str, tokens: Sequence[int]) -> str:
    """Return a file name for a state: the same model, build and tokens have the same one."""
    text = key + "\x00" + ",".join(map(str, tokens))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
