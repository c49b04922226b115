"""Reading ahead with a model that counts: what is read, in which order, how often, and what a kill leaves."""

import random
from collections import Counter

import pytest

from ragcli.datatypes import Chunk, StoredChunk, chunk_name
from ragcli.generation.llm import Aborted
from ragcli.generation.state import fixed_name
from ragcli.pipeline import warm
from ragcli.pipeline.language import LanguageModels
from tests.doubles import ScriptedModel


class Killed(BaseException):
    """What a kill does: nothing after it happens."""


class ReadingModel(ScriptedModel):
    """Keeps `text` itself as the state of a text; may be killed at the n-th one, or given up."""

    keeps_passages = True

    def __init__(self, store, stop=lambda _count: None):
        super().__init__(["好。"])
        self.store, self.stop = store, stop
        self.read: list[str] = []

    def prepare(self, messages, opening=""):
        return True

    def warm(self, fixed, text):
        name = warm.kept_name("key", fixed, text)
        if self.store.has(name):
            return False
        self.stop(len(self.read))
        self.read.append(text)
        return self.store.put(name, text.encode())


@pytest.fixture
def base(ragcli, monkeypatch):
    for n in range(4):
        pages = "".join(
            f"第{m}节 项目{n}{m}\n\n{'油水电气'[n]}的第 {m} 项要求是 {n}{m} 次，不得更改。\n\n"
            for m in range(1, 6)
        )
        ragcli.write(f"docs/{n}.txt", pages)
    ragcli.built("docs")
    monkeypatch.setattr(warm, "state_key", lambda _hash: "key")
    monkeypatch.setattr(warm, "model_path", lambda *_: "model")
    monkeypatch.setattr(warm, "file_hash", lambda *_: "hash")

    def model(stop=lambda _count: None):
        held = []

        def load(self, _name):
            if not held:
                held.append(ReadingModel(self.states, stop))
            return held[0]

        monkeypatch.setattr(LanguageModels, "_load", load)
        return held

    ragcli.model_of = model
    return ragcli


def test_everything_is_read_once_and_status_says_so(base):
    model = base.model_of()
    assert base("status", "--json").json["warm"]["passages"] == 0
    first = base("warm", "--json").json
    assert first["passages"] == first["of"] > 3
    assert first["made"] == len(model[0].read) == len(set(model[0].read))
    assert base("warm", "--json").json["made"] == 0
    assert f"{first['of']} of {first['of']} passages" in base("status").out


def test_a_run_killed_anywhere_is_gone_on_with_and_reads_nothing_twice(base):
    chance = random.Random(5)
    read: Counter[str] = Counter()
    for _ in range(40):
        limit = chance.randrange(3)

        def stop(count, limit=limit):
            if count >= limit:
                raise Killed

        model = base.model_of(stop)
        try:
            base("warm")
        except Killed:
            read.update(model[0].read)
        else:
            read.update(model[0].read)
            break
    assert max(read.values()) == 1
    assert base("status", "--json").json["warm"]["passages"] == base("status", "--json").json["warm"]["of"]


def test_time_that_is_up_ends_a_run_in_words(base):
    def stop(count):
        if count == 6:
            raise Aborted

    base.model_of(stop)
    outcome = base("warm", "--minutes", "1")
    assert outcome.code == 0
    assert "time was up" in outcome.err


def test_space_that_is_used_up_ends_a_run_and_drops_nothing_it_read(base):
    base.model_of()
    outcome = base("warm", "--gb", "0.0000002", "--json").json
    assert outcome["stopped"] == "space"
    assert 0 < outcome["bytes"] <= 200
    assert base("warm", "--gb", "0.0000002", "--json").json["made"] == 0


def test_one_file_alone_is_read(base):
    model = base.model_of()
    base("warm", "--file", "2.txt")
    assert any("电的第" in text for text in model[0].read)
    assert not any("油的第" in text for text in model[0].read)


def test_sync_keeps_what_was_read_of_unchanged_passages(base):
    base.model_of()
    before = base("warm", "--json").json
    base.write("docs/9.txt", "新\n\n新的一段文字写在这里。\n")
    base("sync", "docs")
    after = base("warm", "--json").json
    assert after["made"] == after["of"] - before["of"]


@pytest.mark.parametrize("change", [{}, {"mode": "off"}, {"idle": "off"}])
def test_a_waiting_chat_reads_ahead_where_it_may(base, change):
    from dataclasses import replace

    from ragcli.config import Settings
    from ragcli.pipeline.base import KnowledgeBase

    model = base.model_of()
    settings = Settings()
    settings = replace(settings, passage_states=replace(settings.passage_states, **change))
    models = LanguageModels(KnowledgeBase(base.folder / "kb", settings, base.folder))
    warm.warm_idle(models)
    assert bool(model) is not bool(change)
    assert not model or len(model[0].read) > 3


def test_off_and_a_model_that_cannot_shift_are_said(base, monkeypatch):
    base.environ["RAGCLI_PASSAGE_STATES_MODE"] = "off"
    assert base("warm").code == 2
    del base.environ["RAGCLI_PASSAGE_STATES_MODE"]
    base.model_of()
    monkeypatch.setattr(ReadingModel, "keeps_passages", False)
    assert base("warm").code == 14


def test_the_most_often_shown_come_first_then_the_documents_in_order():
    def stored(number, file, line):
        return StoredChunk(Chunk(number, (), "text", "x", line, line, 0, 1), file, "")

    chunks = [stored(1, "b", 1), stored(2, "a", 9), stored(3, "a", 2), stored(4, "c", 1)]
    counts = Counter({chunk_name(4): 2, chunk_name(2): 1})
    assert [item.chunk.chunk_id for item in warm.in_order(chunks, counts)] == [4, 2, 3, 1]
    assert [item.chunk.chunk_id for item in warm.in_order(chunks, counts, "[ab]")] == [2, 3, 1]


def test_a_passage_is_named_by_its_prompt_and_its_text():
    from ragcli.datatypes import Message

    one, two = [Message("system", "a")], [Message("system", "b")]
    assert fixed_name(one) != fixed_name(two)
    assert (
        len({warm.kept_name("k", one, "x"), warm.kept_name("k", two, "x"), warm.kept_name("j", one, "x")})
        == 3
    )
