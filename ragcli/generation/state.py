"""An evaluated part of a prompt as bytes that another run can trust: what it belongs to, and a checksum.

Nothing here reads or writes files, and a state that doesn't fit exactly is never used: it costs time only.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence

from ragcli.datatypes import Message

_MAGIC = b"RCPS0001"


def pack(key: str, tokens: Sequence[int], cells: bytes) -> bytes:
    """Return one blob: magic, checksum of the rest, head, cells."""
    head = json.dumps({"key": key, "tokens": list(tokens)}, separators=(",", ":")).encode()
    body = struct.pack("<I", len(head)) + head + cells
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes, key: str, tokens: Sequence[int]) -> bytes | None:
    """Return the cells, or None for a state that is damaged or belongs to something else."""
    body = data[len(_MAGIC) + 32 :]
    if not data.startswith(_MAGIC) or len(body) < 4:
        return None
    if hashlib.sha256(body).digest() != data[len(_MAGIC) : len(_MAGIC) + 32]:
        return None
    (size,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + size])
    return body[4 + size :] if head == {"key": key, "tokens": list(tokens)} else None


def key_of(model: str, build: str) -> str:
    """Return the name of what a state depends on besides its tokens."""
    return _digest(model, build)


def fixed_name(messages: Sequence[Message]) -> str:
    """Return the name of the messages that a role's prompts begin with."""
    return _digest(*(part for item in messages for part in (item.role, item.content)))


def passage_name(key: str, fixed: str, text: str) -> str:
    """Return the name of a passage's state behind a fixed part; no model has to be loaded to know it."""
    return "passage-" + _digest(key, fixed, text)[:32]


def name_of(key: str, tokens: Sequence[int]) -> str:
    """Return a file name for a state: the same model, build and tokens have the same one."""
    return "fixed-" + _digest(key, ",".join(map(str, tokens)))[:32]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
