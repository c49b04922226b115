"""Vectors from an OpenAI-compatible server that the user configured: opt-in, never a default.

Only this module of the room can reach a network, and only the address handed in: no proxies, no redirects. The key is
sent to that address and named nowhere else. A batch that is refused as too long is halved; one that fails after its
retries is the caller's to record.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

from ragcli.errors import BatchFailed, ModelUnusable

if TYPE_CHECKING:
    from ragcli.datatypes import Vectors

_WAITS = (1.0, 2.0, 4.0)
# A server may ask for a longer wait than this; then the batch is left for a later run.
_LONGEST_WAIT = 120.0
_TOO_LONG = ("too long", "too large", "too many tokens", "context", "maximum", "exceed")
# Bytes of JSON that a number of a vector may take, and what may stand around the vectors.
_NUMBER_BYTES = 32
_AROUND = 2**20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where vectors come from, and how much is asked for at once. `url` goes up to and with `/v1`."""

    url: str
    model: str
    dimension: int
    api_key: str = field(default="", repr=False)
    batch_texts: int = 32
    batch_tokens: int = 8192
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came back: 0 for no answer at all, with the reason as its body."""

    status: int
    body: bytes
    retry_after: str = ""

    @property
    def passing(self) -> bool:
        return self.status in (0, 408, 429) or self.status >= 500

    @property
    def too_long(self) -> bool:
        text = self.body[:2000].decode("utf-8", "replace").lower()
        return self.status == 413 or (self.status >= 400 and any(sign in text for sign in _TOO_LONG))


class EndpointEmbedder:
    """A model behind `POST {url}/embeddings`, with the prefixes handed in."""

    def __init__(
        self,
        endpoint: Endpoint,
        identity: Mapping[str, str],
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Keep the address; nothing is sent before the first text."""
        self._endpoint, self._parts = endpoint, address_of(endpoint.url)
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._identity, self._sleep, self._now = dict(identity), sleep, now

    @property
    def identity(self) -> Mapping[str, str]:
        """What a passage vector depends on besides its text."""
        return self._identity

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self._endpoint.dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one a text; a text that the server refuses gets a row of NaN.

        Raises BatchFailed where the server didn't answer after all retries, ModelUnusable where it won't.
        """
        prefixed = [self._passage_prefix + text for text in texts]
        return np.concatenate([self._rows(part) for part in self._requests(prefixed)])

    def embed_query(self, text: str) -> Vectors:
        """Return one row of length one."""
        row: Vectors = self._rows([self._query_prefix + text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens a passage takes, rather too many: the server's tokenizer isn't here."""
        return _tokens(self._passage_prefix + text)

    def _requests(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts in runs that one request may carry, by number and by tokens."""
        part: list[str] = []
        tokens = 0
        for text in texts:
            more = _tokens(text)
            full = len(part) == self._endpoint.batch_texts or tokens + more > self._endpoint.batch_tokens
            if part and full:
                yield part
                part, tokens = [], 0
            part.append(text)
            tokens += more
        if part:
            yield part

    def _rows(self, texts: list[str]) -> Vectors:
        """Return the rows of one request, halved where it is too long."""
        reply = self._asked(texts)
        if reply.status == http.client.OK:
            return self._parsed(reply.body, len(texts))
        if reply.too_long and len(texts) > 1:
            middle = len(texts) // 2
            return np.concatenate([self._rows(texts[:middle]), self._rows(texts[middle:])])
        if reply.too_long:
            return np.full((1, self.dimension), np.nan, dtype=np.float32)
        raise self._failure(reply)

    def _asked(self, texts: list[str]) -> _Reply:
        """Return the server's answer, asked again after 1, 2 and 4 seconds where trying again may help."""
        for wait in _WAITS:
            reply = self._post(texts)
            if not reply.passing or reply.too_long:
                return reply
            asked = self._asked_wait(reply.retry_after)
            if asked > _LONGEST_WAIT:
                return reply
            self._sleep(max(wait, asked))
        return self._post(texts)

    def _asked_wait(self, header: str) -> float:
        """Return the seconds that a Retry-After header asks for, as a number or a date; 0 without one."""
        try:
            return max(0.0, float(header))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(header).timestamp() - self._now())
        except (ValueError, TypeError):
            return 0.0

    def _post(self, texts: list[str]) -> _Reply:
        parts = self._parts
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self._endpoint.timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._endpoint.api_key:
            headers["Authorization"] = f"Bearer {self._endpoint.api_key}"
        body = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        most = len(texts) * self.dimension * _NUMBER_BYTES + _AROUND
        try:
            connection.request(
                "POST", f"{parts.path.rstrip('/')}/embeddings", json.dumps(body).encode(), headers
            )
            response = connection.getresponse()
            return _Reply(response.status, response.read(most), response.getheader("Retry-After") or "")
        except (OSError, http.client.HTTPException) as err:
            return _Reply(0, (str(err) or type(err).__name__).encode())
        finally:
            connection.close()

    def _parsed(self, body: bytes, number: int) -> Vectors:
        try:
            data = sorted(json.loads(body)["data"], key=lambda item: int(item.get("index", 0)))
            found = [np.asarray(item["embedding"], dtype=np.float32) for item in data]
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            raise BatchFailed("endpoint_nonsense", url=self._shown, reason=type(err).__name__) from err
        if len(found) != number:
            raise BatchFailed("endpoint_wrong_number", url=self._shown, asked=number, found=len(found))
        widths = {row.shape for row in found}
        if widths != {(self.dimension,)}:
            raise ModelUnusable(
                "endpoint_wrong_width", url=self._shown, set=self.dimension, found=_width(widths)
            )
        rows = np.stack(found)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, np.nan), dtype=np.float32)

    def _failure(self, reply: _Reply) -> ModelUnusable:
        said = reply.body[:200].decode("utf-8", "replace").replace("\n", " ")
        if self._endpoint.api_key:
            said = said.replace(self._endpoint.api_key, "…")
        if reply.passing:
            return BatchFailed("endpoint_failed", url=self._shown, status=reply.status, reason=said)
        return ModelUnusable("server_refused", url=self._shown, status=reply.status, reason=said)

    @property
    def _shown(self) -> str:
        """The address without what may be secret in it."""
        return shown_address(self._parts)


def address_of(url: str) -> SplitResult:
    """Return the parts of an address, or say what is wrong with it."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:  # a port that is no number
        whole = False
    if not whole:
        raise ModelUnusable("bad_server_address", url=url.rpartition("@")[2] or "-")
    return parts


def shown_address(parts: SplitResult) -> str:
    """Return an address without user, password and query."""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def _tokens(text: str) -> int:
    wide = sum(ord(char) > 0x2E7F for char in text)
    return wide + (len(text) - wide) // 2 + 3


def _width(shapes: set[Any]) -> str:
    return ", ".join(sorted("x".join(map(str, shape)) or "0" for shape in shapes))
