"""Work while nobody asks: it ends within a token when somebody does, and its faults trouble nobody.

One thread at a time, started and joined by the thread that answers, so that the models are never used by two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ragcli.errors import RagcliError
from ragcli.generation.llm import Aborted


class Idle:
    """Runs work in the background while a block lasts."""

    def __init__(self) -> None:
        self._over = threading.Event()

    def cancelled(self) -> bool:
        """Tell whether the work has to end; models ask it at every token."""
        return self._over.is_set()

    @contextmanager
    def during(self, work: Callable[[], None]) -> Iterator[None]:
        """Let the work run until it is done or the block ends."""
        thread = threading.Thread(target=_quietly, args=(work,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            self._over.clear()


def _quietly(work: Callable[[], None]) -> None:
    with suppress(RagcliError, Aborted):
        work()
