"""Fetch a file from a model hub that the person configured: the only code here that opens a connection by itself.

A hub answers `<address>/<origin>/resolve/main/<file>`, as Hugging Face and its mirrors do. Without an address
nothing is ever asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from ragcli.errors import ModelUnusable, UsageError

_SECONDS = 60


@contextmanager
def open_remote(address: str, origin: str, file: str, start: int) -> Iterator[tuple[BinaryIO, int, bool]]:
    """Open a file from byte `start` on; yield the stream, its whole size (0: not told), whether it starts there."""
    if not address.startswith(("https://", "http://")):
        raise UsageError("bad_hub_address", address=address)
    url = f"{address.rstrip('/')}/{quote(origin)}/resolve/main/{quote(file)}"
    request = Request(url, headers={"Range": f"bytes={start}-"} if start else {})  # noqa: S310  checked above
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  checked above
            continued = answer.status == 206
            length = int(answer.headers.get("Content-Length") or 0)
            yield cast(BinaryIO, answer), length + start if continued else length, continued or start == 0
    except (URLError, TimeoutError, ConnectionError) as err:
        raise ModelUnusable("hub_failed", url=url, reason=str(getattr(err, "reason", err))) from err
