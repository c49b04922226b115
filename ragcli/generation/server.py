"""A language model behind an OpenAI-compatible server that the user configured: opt-in, never a default.

Only this module of the room can reach a network, and only the address handed in: no proxies, no redirects.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ragcli.datatypes import Completion, Message
from ragcli.errors import ModelUnusable, NoUsableAnswer
from ragcli.generation.run import Run
from ragcli.generation.wording import language_of, wording

_LONGEST_LINE = 2**20
_SILENCE = 600.0  # seconds without a byte after which a server counts as dead


_WAITS = (1.0, 2.0, 4.0)  # seconds before a busy server is asked again
_LONGEST_WAIT = 60.0  # a server that asks for more is given up
_PASSING = (http.client.REQUEST_TIMEOUT, http.client.TOO_MANY_REQUESTS)


@dataclass(frozen=True)
class _Busy(Exception):
    """The server asks to come again, before it has written anything."""

    status: int
    reason: str
    wait: float


class ServerModel:
    """A chat model served at `url` (up to and with `/v1`)."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        context_tokens: int = 4096,
        api_key: str = "",
        cancelled: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep the address; nothing is sent before the first question."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelUnusable("bad_server_address", url=url)
        self._parts, self._model = parts, model
        self._context_tokens, self._key = context_tokens, api_key
        self._cancelled, self._clock, self._sleep = cancelled or (lambda: False), clock, sleep

    @property
    def name(self) -> str:
        """The model's name there."""
        return self._model

    @property
    def address(self) -> str:
        """Where the server is, without a name or password that the address may hold."""
        port = f":{self._parts.port}" if self._parts.port else ""
        return f"{self._parts.scheme}://{self._parts.hostname}{port}{self._parts.path}"

    @property
    def context_tokens(self) -> int:
        """How many tokens the prompt and the answer may take together."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens the text takes, rather too many: the server's tokenizer isn't here."""
        wide = sum(ord(char) > 0x2E7F for char in text)
        return wide + (len(text) - wide) // 2 + 1

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        grammar: str | None = None,
        timeout: float | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Write an answer; a grammar is sent along, for servers that know it.

        Raises ModelUnusable where the server can't be reached or refuses, NoUsableAnswer for nonsense.
        """
        run = Run(self._clock(), timeout, self._clock, self._cancelled, on_text=on_text, room=max_tokens)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if grammar:
            body["grammar"] = grammar
        usage: dict[str, Any] = {}
        try:
            for event in self._events(body, run, timeout):
                usage = event.get("usage") or usage
                if not _take(event, run) or run.over():
                    break
        except TimeoutError:
            run.finish = "time"
        prompt = int(
            usage.get("prompt_tokens") or sum(self.count_tokens(message.content) for message in messages)
        )
        cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        run.evaluated = prompt - cached
        return run.completion(prompt)

    def likelihoods(self, messages: Sequence[Message], answers: Sequence[str]) -> list[float]:
        """Return 0 for the answer that the server chooses and -1 for the others: it tells no probabilities."""
        language = language_of(messages[-1].content if messages else "")
        listed = "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, start=1))
        asked = Message("user", wording(language)["choose"].format(answers=listed))
        said = self.complete([*messages, asked], max_tokens=4).text
        chosen = next((int(char) for char in said if char.isdigit()), 0)
        return [0.0 if number == chosen else -1.0 for number in range(1, len(answers) + 1)]

    def _events(self, body: dict[str, Any], run: Run, timeout: float | None) -> Iterator[dict[str, Any]]:
        """Yield the server's events, one a piece of text; a server that is busy is asked again, within the time."""
        for wait in (*_WAITS, None):
            try:
                yield from self._once(body, timeout)
                return
            except _Busy as busy:
                pause = max(wait or 0.0, busy.wait)
                late = bool(timeout) and self._clock() - run.start + pause >= (timeout or 0.0)
                if wait is None or busy.wait > _LONGEST_WAIT or late or run.over():
                    raise ModelUnusable(
                        "server_refused", url=self.address, status=busy.status, reason=busy.reason
                    ) from None
                self._sleep(pause)

    def _once(self, body: dict[str, Any], timeout: float | None) -> Iterator[dict[str, Any]]:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=timeout or _SILENCE)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request(
                "POST", f"{self._parts.path.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers
            )
            with connection.getresponse() as response:
                if response.status in _PASSING or response.status >= http.client.INTERNAL_SERVER_ERROR:
                    after = response.headers.get("Retry-After", "")
                    raise _Busy(response.status, response.reason, float(after) if after.isdecimal() else 0.0)
                if response.status != http.client.OK:
                    raise ModelUnusable(
                        "server_refused", url=self.address, status=response.status, reason=response.reason
                    )
                yield from _parsed(response)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as err:
            raise ModelUnusable(
                "server_unreachable", url=self.address, reason=str(err) or type(err).__name__
            ) from err
        finally:
            connection.close()


def _parsed(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream; one that ends without saying so was broken off, and is no answer."""
    ended = False
    while line := response.readline(_LONGEST_LINE):
        text = line.decode("utf-8", "replace").strip()
        if not text.startswith("data:"):
            continue
        text = text.removeprefix("data:").strip()
        if text == "[DONE]":
            return
        try:
            event = json.loads(text)
        except ValueError as err:
            raise NoUsableAnswer("server_nonsense", reason=text[:80]) from err
        if isinstance(event, dict):
            choices = event.get("choices") or [{}]
            ended = ended or bool(choices[0].get("finish_reason"))
            yield event
    if not ended:
        raise http.client.HTTPException("the answer was broken off")


def _take(event: dict[str, Any], run: Run) -> bool:
    """Add what an event brings; False where the answer has reached its limit."""
    choice = (event.get("choices") or [{}])[0]
    text = (choice.get("delta") or {}).get("content") or ""
    if choice.get("finish_reason") == "length":
        run.finish = "length"
    if text:
        run.take(len(run.tokens), text.replace("\ufffd", "").encode("utf-8", "ignore"))
    if len(run.tokens) >= 2 * run.room:  # a server that ignores the limit
        run.finish = "length"
        return False
    return True
