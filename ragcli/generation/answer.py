"""From passages to an answer that can be checked: the room's own column of steps.

Prompt → model → sentences checked as they come → citations → decision. A sentence whose numbers stand in no
passage is never shown; an attempt that leaves nothing is repeated once; then the sentence that clearly bears on
the question is quoted, or the passages are listed, or, where the model wrote nothing at all, NoUsableAnswer is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragcli.datatypes import Action, Completion, LanguageModel, Passage
from ragcli.errors import NoUsableAnswer
from ragcli.generation.expected import holds_what_is_asked
from ragcli.generation.focus import NOTHING, Looking, alone, leader
from ragcli.generation.gate import Checks, Gate
from ragcli.generation.grounding import chunk_of, foreign_values, numbers, units
from ragcli.generation.names import of_its_own
from ragcli.generation.prompt import Budget, Prompt, build_prompt, path_of
from ragcli.generation.wording import language_of, mentions, wording

_LISTED = 3
_LEFT_OUT = 0.3  # share of a sentence's pairs of characters, or words


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that is shown and stored, what it does, and where it stands.

    `citations[i]` is the chunk that `[i+1]` names, and `cited[i]` its passage.
    """

    text: str
    action: Action
    citations: tuple[int, ...]
    completion: Completion | None
    checks: Checks
    cited: tuple[Passage, ...] = ()
    prompt: Prompt | None = None


def answer(
    question: str,
    passages: Sequence[Passage],
    *,
    model: LanguageModel,
    history: Sequence[tuple[str, str]] = (),
    summary: str = "",
    facts: Sequence[str] = (),
    state_line: str = "",
    language: str = "",
    max_tokens: int = 400,
    passage_tokens: int = 900,
    timeout: float | None = None,
    on_text: Callable[[str], None] | None = None,
    looking: Looking = NOTHING,
) -> Answer:
    """Answer a complete question from passages given best first; `on_text` gets checked sentences.

    Raises NoUsableAnswer where two attempts bring no text.
    """
    language = language or language_of(question)
    if not passages:
        return _told(not_found(language), on_text)
    passages = of_its_own(question, passages)
    doubtful = _asserted(question, passages, language)
    budget = Budget(model.context_tokens, max_tokens, passage_tokens)
    prompt = build_prompt(
        question,
        passages,
        history,
        summary,
        facts,
        state_line,
        language,
        budget,
        model.count_tokens,
        _pointed_out(question, doubtful, language),
        looking,
    )
    asking = _Asking(question, language, model, budget.room_for_answer, timeout, on_text, doubtful)
    gate, completion = asking.attempt(prompt)
    attempts = 1
    if not (gate.text or gate.refusal or gate.beside) and asking.may_try_again(completion):
        again = replace(asking, timeout=timeout - completion.total_s if timeout else None)
        gate, completion = again.attempt(prompt.asking_again(wording(language)["retry"]))
        attempts = 2
    result = _decided(gate, completion, prompt, language, attempts)
    return result if gate.shown else _told(result, on_text)


def _told(result: Answer, on_text: Callable[[str], None] | None) -> Answer:
    """Pass on a text that didn't come from the model's stream."""
    if on_text:
        on_text(result.text)
    return result


def not_found(language: str) -> Answer:
    """Return the answer where the passages don't tell."""
    return Answer(wording(language)["not_found"], "not_found", (), None, Checks(attempts=0))


@dataclass(frozen=True, slots=True)
class _Asking:
    question: str
    language: str
    model: LanguageModel
    max_tokens: int
    timeout: float | None
    on_text: Callable[[str], None] | None
    doubtful: Sequence[str]

    def may_try_again(self, done: Completion) -> bool:
        """Tell whether a second attempt is worth it: nobody stopped the first and time is left."""
        if done.finish in ("time", "cancelled"):
            return False
        return not self.timeout or done.total_s * 2 < self.timeout

    def attempt(self, prompt: Prompt) -> tuple[Gate, Completion]:
        doubtful = frozenset(numbers(" ".join(self.doubtful)))
        inside = bool(getattr(self.model, "opens_thought", False))
        gate = Gate(self.question, prompt.passages, self.language, self.on_text, inside, doubtful)
        completion = self.model.complete(
            prompt.messages, max_tokens=self.max_tokens, timeout=self.timeout, on_text=gate.feed
        )
        gate.finish(whole=completion.finish == "stop")
        return gate, completion


def _asserted(question: str, passages: Sequence[Passage], language: str) -> list[str]:
    """Return the values that a question asserts, or asks to confirm, and no passage holds."""
    words = wording(language)
    endings = [*words["assertions"], *words["yes_no"]]
    if not mentions(question, endings):
        return []
    return [_without(value, endings) for value in foreign_values(question, passages)]


def _pointed_out(question: str, doubtful: Sequence[str], language: str) -> list[str]:
    """Warn the model of a value where the question asserts it: a limit that is only asked about is no mistake."""
    words = wording(language)
    asserted = doubtful if mentions(question, words["assertions"]) else ()
    return [words["foreign_value"].format(value=value) for value in asserted[:1]]


def _without(value: str, endings: Sequence[str]) -> str:
    """Return a value without the question's particle: `4 元吧` is `4 元`."""
    for ending in endings:
        value = value.removesuffix(ending)
    return value.strip()


def _decided(gate: Gate, completion: Completion, prompt: Prompt, language: str, attempts: int) -> Answer:
    checks = Checks(tuple(gate.unsupported), tuple(gate.missing), gate.attached, attempts)
    if not gate.text:
        if not gate.raw:
            raise NoUsableAnswer("no_usable_answer", finish=completion.finish)
        if gate.missing and not gate.refusal:
            return _listing(prompt, language, completion, checks)
    _quote(gate, prompt, language)
    if not gate.text:
        refusal = not_found(language)
        return replace(
            refusal, text=gate.refusal or refusal.text, prompt=prompt, completion=completion, checks=checks
        )
    cited = _cited(gate, prompt)
    action: Action = "answer"
    if gate.refused and not cited:
        action = "not_found"
    elif gate.corrected:
        action = "correct"
    chunks = tuple(_chunk(gate, passage) for passage in cited)
    return Answer(gate.text, action, chunks, completion, checks, cited, prompt)


def _quote(gate: Gate, prompt: Prompt, language: str) -> None:
    """Quote the sentence that stands clear of the others, where the answer is none or leaves most of it out.

    师傅给开 is no answer to 师傅给开吗, and the sentence about it stands right there. Below an answer it shows what a
    small model passed over or got wrong: a condition, the row beside. Where none stands clear, nothing is quoted;
    in the place of an answer, only what is like the question and tells a value of the kind asked for.
    """
    best = alone(prompt.pointed) if gate.text else leader(prompt.pointed)
    if best is None or not any(passage.n == best.n for passage in prompt.passages):
        return
    if gate.text:
        if gate.refused or not _leaves_out(gate.text, best.text):
            return
    elif not holds_what_is_asked(gate.question, best.text, language):
        return
    gate.quote(best.text, best.n)


def _leaves_out(text: str, sentence: str) -> bool:
    """Say whether a text lacks a good part of what a sentence says."""
    said = units(sentence)
    return len(said - units(text)) > _LEFT_OUT * len(said)


def _chunk(gate: Gate, passage: Passage) -> int:
    return chunk_of(passage, [sentence for sentence, cited in gate.said if passage.n in cited])


def _cited(gate: Gate, prompt: Prompt) -> tuple[Passage, ...]:
    by_number = {passage.n: passage for passage in prompt.passages}
    return tuple(by_number[n] for n in gate.numbering.order)


def _listing(prompt: Prompt, language: str, completion: Completion, checks: Checks) -> Answer:
    """List the passages themselves, where no sentence about them could be checked."""
    words = wording(language)
    cited = prompt.passages[:_LISTED]
    entries = [
        words["listing_entry"].format(n=n, path=path_of(passage), text=passage.text.strip())
        for n, passage in enumerate(cited, start=1)
    ]
    text = (words["listing"] + "".join(entries)).strip()
    chunks = tuple(passage.chunk_ids[0] for passage in cited)
    return Answer(text, "answer", chunks, completion, checks, cited, prompt)
