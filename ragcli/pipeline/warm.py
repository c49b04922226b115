"""Read passages ahead of time, so that the first word of an answer comes at once; and say how much is read.

The most often hit first, then by document. Every passage is kept as soon as it is read: a run may be killed at
any point and the next one goes on, with nothing but the passage in hand read twice.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragcli.datatypes import Json, Progress, StoredChunk, chunk_name
from ragcli.dialogue.reading import RewriteOptions
from ragcli.dialogue.rewrite_model import fixed_messages as rewriter_messages
from ragcli.errors import ModelUnusable, RagcliError, UsageError
from ragcli.generation.llm import Aborted, LlamaModel, kept_name, state_key
from ragcli.generation.prompt import fixed_messages, label, passage_piece
from ragcli.generation.wording import language_of, wording
from ragcli.pipeline.base import KnowledgeBase, conversations, reading
from ragcli.pipeline.engine import prepare_generator
from ragcli.pipeline.language import LanguageModels, restore_fixed, state_files
from ragcli.pipeline.models import file_hash, model_path
from ragcli.pipeline.prompts import base_examples
from ragcli.pipeline.shown import passage_of
from ragcli.storage.lock import writer_lock
from ragcli.storage.sessions import Sessions

# In a larger base, listing the passages alone would keep the person's typing waiting: the command is for that.
_MOST_IDLE = 20_000


@dataclass(frozen=True, slots=True)
class WarmLimits:
    """What a run may take; 0: no limit of its own."""

    minutes: float = 0.0
    gb: float = 0.0
    file_glob: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that is read ahead, and the language of the prompt that it is read behind."""

    language: str
    text: str


@dataclass(frozen=True)
class StateNames:
    """The names of a base's kept states, without a model being loaded."""

    base: KnowledgeBase

    def of(self, piece: Piece) -> str:
        """Return the name of what is kept of a piece."""
        fixed = fixed_messages(piece.language, self.base.settings.generation.context_tokens)
        return kept_name(self._key, fixed, piece.text)

    @cached_property
    def _key(self) -> str:
        path = model_path(self.base.settings.generation.model, "generator", self.base.models_dir)
        return state_key(file_hash(path, self.base.models_dir))


def piece_of(stored: StoredChunk) -> Piece:
    """Return a chunk as the model is shown it when a question in its own language is asked."""
    language = language_of(stored.chunk.text)
    return Piece(language, passage_piece(passage_of(stored, 1), wording(language)))


def labels(languages: Iterable[str], most: int) -> list[Piece]:
    """Return the pieces that stand before the passages."""
    return [Piece(language, label(n, language)) for language in languages for n in range(1, most + 1)]


def hit_counts(saved: Sessions) -> Counter[str]:
    """Return how often each chunk was shown to the model in the kept conversations, by its name."""
    return Counter(
        hit["chunk_id"]
        for info in saved.overview()
        for turn in saved.turns(info.session)
        for hit in turn.record["hits"]
        if hit["shown"]
    )


def in_order(chunks: Sequence[StoredChunk], counts: Counter[str], file_glob: str = "") -> list[StoredChunk]:
    """Return the chunks to read, the most often shown first, then by document."""
    wanted = [item for item in chunks if not file_glob or fnmatch.fnmatch(item.file, file_glob)]
    return sorted(
        wanted,
        key=lambda item: (
            -counts[chunk_name(item.chunk.chunk_id)],
            item.file,
            item.chunk.line_start,
        ),
    )


def warm_base(
    base: KnowledgeBase,
    limits: WarmLimits,
    clock: Callable[[], float],
    progress: Progress,
    *,
    verbose: bool = False,
) -> Json:
    """Read ahead until all is read, the time is up or the space is used; return what was done."""
    if base.settings.passage_states.mode == "off":
        raise UsageError("passage_states_off", path=base.folder)
    end = clock() + limits.minutes * 60 if limits.minutes else None
    pieces = wanted_pieces(base, limits.file_glob)
    with writer_lock(base.folder / "data" / "warm.lock"):
        models = LanguageModels(base, verbose, lambda: end is not None and clock() >= end)
        if limits.gb:
            models.states.max_bytes = min(models.states.max_bytes, int(limits.gb * 1e9))
        try:
            return _Warming(models, pieces).run(progress)
        finally:
            models.close()


def warm_idle(models: LanguageModels) -> None:
    """Read ahead as long as nobody asks; not where it is off, the base is large, or another process does it."""
    with reading(models.base) as store:
        many = store.count_chunks() > _MOST_IDLE
    settings = models.base.settings.passage_states
    if many or "off" in (settings.mode, settings.idle):
        return
    with writer_lock(models.base.folder / "data" / "warm.lock"):
        _Warming(models, wanted_pieces(models.base)).run(lambda _done, _of: None)


def wanted_pieces(base: KnowledgeBase, file_glob: str = "") -> list[Piece]:
    """Return the passages to be read ahead, in order."""
    with reading(base) as store, conversations(base) as saved:
        chunks = in_order(list(store.all_chunks()), hit_counts(saved), file_glob)
    return list(dict.fromkeys(piece_of(stored) for stored in chunks))


@dataclass(frozen=True)
class _Warming:
    """One run over the pieces."""

    models: LanguageModels
    pieces: Sequence[Piece]

    def run(self, progress: Progress) -> Json:
        served = self.models.base.settings.generation.url
        if served or not self.models.local.keeps_passages:
            raise ModelUnusable("model_cannot_shift", name=self.models.base.settings.generation.model)
        model, stopped, made = self.models.local, "", 0
        states, names = self.models.states, StateNames(self.models.base)
        try:
            self._fixed_parts(model)
            states.protected = states.fixed_names() | {names.of(piece) for piece in self._all()}
            for number, piece in enumerate(self._all()):
                progress(number, len(self.pieces))
                fixed = fixed_messages(piece.language, model.context_tokens)
                prepare_generator(model, piece.language)
                made += model.warm(fixed, piece.text)
                if not states.has(names.of(piece)):
                    stopped = "space"
                    break
        except Aborted:
            stopped = "time"
        return {**warm_share(self.models.base, self.pieces), "made": made, "stopped": stopped}

    def _all(self) -> list[Piece]:
        """Return the labels, which every turn needs, and the passages."""
        return [*labels(self._languages(), self.models.base.settings.retrieval.passages), *self.pieces]

    def _languages(self) -> list[str]:
        return list(dict.fromkeys(piece.language for piece in self.pieces))

    def _fixed_parts(self, model: LlamaModel) -> None:
        """Keep the fixed parts of both roles."""
        own = RewriteOptions(examples=base_examples(self.models.base))
        for language in self._languages():
            prepare_generator(model, language)
            restore_fixed(self.models.rewriter, rewriter_messages("zh" if language == "zh" else "en", own))


def warm_share(base: KnowledgeBase, pieces: Sequence[Piece] | None = None) -> Json:
    """Return how many passages are read ahead, of how many, and the bytes that all kept states take."""
    states, names = state_files(base), StateNames(base)
    there = states.names()
    with reading(base) as store:
        if pieces is None:  # many passages and nothing read: nothing to look through
            pieces = list({piece_of(stored): 0 for stored in store.all_chunks()}) if there else []
        of = len(pieces) or store.count_chunks()
    try:
        done = sum(names.of(piece) in there for piece in pieces)
    except RagcliError:  # no model, so nothing that it has read
        done = 0
    return {"passages": done, "of": of, "bytes": states.size()}
