"""What is put back, what is evaluated, and that nothing wrong is ever put back; over the library that counts."""

import pytest

from ragcli.datatypes import Message
from ragcli.generation.native import Aborted
from tests.generation.test_llm import RULES, make_model

assert make_model  # a fixture

PASSAGES = ("甲" * 60, "乙" * 70, "丙" * 50)


def asked(question, passages=PASSAGES, kept=True):
    pieces = ("资料：", *passages, question)
    places = tuple(range(1, len(passages) + 1)) if kept else ()
    return [RULES, Message("user", "".join(pieces), pieces, places)]


def ready(make_model, store, **more):
    model, native = make_model(store=store, **more)
    model.prepare([RULES])
    native.evaluated.clear()
    return model, native


def test_passages_are_evaluated_once_and_put_back_afterwards(make_model, memory_store):
    model, _ = ready(make_model, memory_store)
    first = model.complete(asked("一？"), max_tokens=9)
    second = model.complete(asked("二二？", PASSAGES[::-1]), max_tokens=9)
    assert (first.put_back_tokens, second.put_back_tokens) == (0, 180)
    assert second.evaluated_tokens <= len("user:资料：二二？\nbot:")
    assert (first.text, second.text) == ("好的", "好的")


def test_the_cells_are_those_of_the_plain_prompt_at_its_positions(make_model, memory_store):
    model, native = ready(make_model, memory_store)
    model.complete(asked("一？"), max_tokens=9)
    native.moved.clear()
    model.complete(
        [RULES, Message("user", "前"), Message("assistant", "后"), *asked("二？")[1:]], max_tokens=9
    )
    plain, other = make_model()
    plain.complete(
        [RULES, Message("user", "前"), Message("assistant", "后"), *asked("二？")[1:]], max_tokens=9
    )
    assert other._seen == native._seen
    between = len("user:前\nassistant:后\nuser:资料：") - len("user:")
    assert [distance - native.moved[0] for distance in native.moved] == [0, 60, 130]
    assert native.moved[0] - between in (0, len("user:"))


def test_another_process_finds_them(make_model, memory_store):
    ready(make_model, memory_store)[0].complete(asked("一？"), max_tokens=9)
    done = ready(make_model, memory_store)[0].complete(asked("二？"), max_tokens=9)
    assert done.put_back_tokens == 180


@pytest.mark.parametrize("change", [{"model_hash": "other"}, {"store": None}])
def test_another_models_passages_are_not_used(make_model, memory_store, change):
    ready(make_model, memory_store)[0].complete(asked("一？"), max_tokens=9)
    model, _ = make_model(**{"store": memory_store, **change})
    model.prepare([RULES])
    done = model.complete(asked("二？"), max_tokens=9)
    assert (done.put_back_tokens, done.text) == (0, "好的")


def test_no_damaged_state_is_put_back(make_model, memory_store):
    ready(make_model, memory_store)[0].complete(asked("一？", PASSAGES[:1]), max_tokens=9)
    [name] = [name for name in memory_store if name.startswith("passage-")]
    whole = memory_store[name]
    for place in range(0, len(whole), 3):
        broken = bytearray(whole)
        broken[place] ^= 1 << (place % 8)
        for data in (bytes(broken), whole[:place]):
            memory_store[name] = data
            model, _ = ready(make_model, memory_store)
            done = model.complete(asked("二？", PASSAGES[:1]), max_tokens=9)
            assert (done.put_back_tokens, memory_store[name]) == (0, whole), place


def test_a_model_that_cannot_shift_evaluates_everything(make_model, memory_store):
    model, native = ready(make_model, memory_store)
    native.shifts = False
    assert not model.keeps_passages
    assert model.complete(asked("一？"), max_tokens=9).evaluated_tokens > 180
    assert not any(name.startswith("passage-") for name in memory_store)


def test_cells_that_the_library_refuses_are_evaluated(make_model, memory_store):
    model, native = ready(make_model, memory_store)
    native.refuses = True
    done = model.complete(asked("一？"), max_tokens=9)
    assert (done.text, done.put_back_tokens) == ("好的", 0)
    assert native._seen[: len(native._seen) - 2] == [ord(c) for c in _plain(asked("一？"))]


def _plain(messages):
    return "".join(f"{item.role}:{item.content}\n" for item in messages) + "bot:"


@pytest.mark.parametrize("when", range(1, 6))
def test_an_interrupt_anywhere_keeps_the_cache(make_model, memory_store, when):
    model, native = ready(make_model, memory_store)
    count = [0]

    def interrupt(tokens):
        count[0] += 1
        if count[0] == when:
            raise KeyboardInterrupt

    native.on_decode = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.complete(asked("一？"), max_tokens=9)
    native.on_decode = lambda tokens: None
    done = model.complete(asked("二？"), max_tokens=9)
    assert done.text == "好的"
    assert native._seen[: len(native._seen) - 2] == [ord(c) for c in _plain(asked("二？"))]


def test_a_passage_is_warmed_once_and_then_put_back(make_model, memory_store):
    model, _ = ready(make_model, memory_store)
    assert [model.warm([RULES], text) for text in (*PASSAGES, PASSAGES[0])] == [True, True, True, False]
    done = model.complete(asked("一？"), max_tokens=9)
    assert done.put_back_tokens == 180


def test_warming_that_is_given_up_keeps_nothing_of_the_passage(make_model, memory_store):
    stop = [False]
    model, _ = ready(make_model, memory_store, cancelled=lambda: stop[0])
    model.warm([RULES], PASSAGES[0])
    stop[0] = True
    with pytest.raises(Aborted):
        model.warm([RULES], PASSAGES[1])
    assert len([name for name in memory_store if name.startswith("passage-")]) == 1


def test_a_conversation_that_was_read_ahead_leaves_the_question_alone_to_evaluate(make_model, memory_store):
    model, native = ready(make_model, memory_store)
    model.complete(asked("一？"), max_tokens=9)
    talk = [RULES, Message("user", "一？"), Message("assistant", "好的")]
    model.read(talk, "资料：")
    native.evaluated.clear()
    done = model.complete([*talk, asked("二？")[1]], max_tokens=9)
    assert (done.put_back_tokens, done.text) == (180, "好的")
    assert done.evaluated_tokens == len("二？\nbot:")
    assert native._seen[: len(native._seen) - 2] == [ord(c) for c in _plain([*talk, asked("二？")[1]])]


def test_the_words_before_the_passages_are_kept_with_the_fixed_part(make_model, memory_store):
    make_model(store=memory_store)[0].prepare([RULES], "资料：")
    model, _ = make_model(store=memory_store)
    assert model.prepare([RULES], "资料：")
    ready(make_model, memory_store)[0].complete(asked("一？"), max_tokens=9)
    done = model.complete(asked("二？"), max_tokens=9)
    assert (done.put_back_tokens, done.evaluated_tokens) == (180, len("二？\nbot:"))
    after = model.complete(
        [RULES, Message("user", "前"), Message("assistant", "后"), *asked("三？")[1:]], max_tokens=9
    )
    assert (after.put_back_tokens, after.text) == (180, "好的")


def test_reading_ahead_that_is_given_up_harms_nothing(make_model, memory_store):
    stop = [False]
    model, _ = ready(make_model, memory_store, cancelled=lambda: stop[0])
    stop[0] = True
    with pytest.raises(Aborted):
        model.read([RULES, Message("user", "一？"), Message("assistant", "好的")], "资料：")
    stop[0] = False
    assert model.complete(asked("二？"), max_tokens=9).text == "好的"


def test_warming_makes_room_in_a_full_cache(make_model, memory_store):
    model, native = ready(make_model, memory_store)
    for n in range(4):
        model.complete([Message("user", chr(0x4E00 + n) * 900)], max_tokens=9)
    native.most = native.options.cells
    assert model.warm([RULES], "丁" * 400)


@pytest.mark.real
def test_real_passages_put_back_read_as_if_they_were_evaluated(small_model):
    fixed = [Message("system", "只根据资料回答。" * 20)]
    passages = ("青松A1的水箱容量是 1.8 升，每天换一次水。\n", "青松B2的水箱容量是 3.5 升，每周换一次水。\n")
    pieces = ("资料：\n", *passages, "青松B2的水箱容量是多少？")
    plain = Message("user", "".join(pieces), pieces)
    kept = Message("user", plain.content, pieces, (1, 2))
    small_model.prepare(fixed)
    want = small_model.complete([*fixed, plain], max_tokens=24)
    cold = small_model.complete(
        [*fixed, Message("user", "？"), Message("assistant", "？"), kept], max_tokens=24
    )
    warm = small_model.complete([*fixed, kept], max_tokens=24)
    assert all("3.5" in done.text for done in (want, cold, warm))
    assert warm.put_back_tokens > 30
    assert warm.evaluated_tokens < want.prompt_tokens - warm.put_back_tokens
