import time

import pytest

from ragcli.datatypes import Message
from ragcli.errors import ModelUnusable, NoUsableAnswer
from ragcli.generation.server import ServerModel


def said(text, finish=None):
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


ASK = [Message("system", "规则"), Message("user", "问")]


def test_an_answer_is_streamed(serve):
    url, asked = serve(
        said("甲"),
        said("乙"),
        said("", "stop"),
        usage={"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}},
    )
    pieces: list[str] = []
    done = ServerModel(url, "m", api_key="k").complete(ASK, max_tokens=9, grammar="g", on_text=pieces.append)
    assert (done.text, done.finish, done.prompt_tokens, done.evaluated_tokens) == ("甲乙", "stop", 9, 5)
    assert pieces == ["甲", "乙"]
    path, headers, body = asked[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer k")
    assert (body["temperature"], body["max_tokens"], body["grammar"]) == (0, 9, "g")
    assert body["messages"][0] == {"role": "system", "content": "规则"}


def test_limits_hold_against_a_server_that_ignores_them(serve):
    url, _ = serve(*[said("好")] * 500)
    assert len(ServerModel(url, "m").complete(ASK, max_tokens=5).text) == 10
    slow, _ = serve(*[said("好")] * 20, pause=0.2)
    started = time.monotonic()
    assert ServerModel(slow, "m").complete(ASK, max_tokens=50, timeout=0.5).finish == "time"
    assert time.monotonic() - started < 1.5


def test_a_cancel_ends_it(serve):
    url, _ = serve(*[said("好")] * 20)
    assert ServerModel(url, "m", cancelled=lambda: True).complete(ASK, max_tokens=50).finish == "cancelled"


def test_refusals_and_nonsense_are_said_in_words(serve):
    url, _ = serve(status=404)
    with pytest.raises(ModelUnusable) as caught:
        ServerModel(url, "m").complete(ASK, max_tokens=5)
    assert (caught.value.kind, caught.value.fields["status"]) == ("server_refused", 404)
    url, _ = serve("{nonsense")
    with pytest.raises(NoUsableAnswer):
        ServerModel(url, "m").complete(ASK, max_tokens=5)
    with pytest.raises(ModelUnusable) as caught:
        ServerModel("http://127.0.0.1:9/v1", "m").complete(ASK, max_tokens=5)
    assert caught.value.kind == "server_unreachable"
    with pytest.raises(ModelUnusable):
        ServerModel("file:///etc/passwd", "m")


def test_choosing_stands_in_for_likelihoods(serve):
    url, asked = serve(said("2"))
    assert ServerModel(url, "m").likelihoods(ASK, ["甲", "乙"]) == [-1.0, 0.0]
    assert "2. 乙" in asked[0][2]["messages"][-1]["content"]


def test_tokens_are_rather_counted_too_many():
    model = ServerModel("http://localhost:1/v1", "m")
    assert model.count_tokens("滤网每月清洗") >= 6
    assert model.count_tokens("clean the filter") >= 4


def test_a_busy_server_is_asked_again_as_it_wishes(serve):
    url, asked = serve(said("甲"), status=[503, 429, 200], retry_after="3")
    waits: list[float] = []
    done = ServerModel(url, "m", sleep=waits.append).complete(ASK, max_tokens=5)
    assert (done.text, len(asked), waits) == ("甲", 3, [3.0, 3.0])


def test_a_server_that_stays_busy_is_given_up_with_its_reason(serve):
    url, asked = serve(status=[503])
    waits: list[float] = []
    with pytest.raises(ModelUnusable) as caught:
        ServerModel(url, "m", sleep=waits.append).complete(ASK, max_tokens=5)
    assert (caught.value.fields["status"], waits, len(asked)) == (503, [1.0, 2.0, 4.0], 4)


def test_no_time_is_waited_that_is_not_there(serve):
    url, asked = serve(status=[429], retry_after="30")
    with pytest.raises(ModelUnusable):
        ServerModel(url, "m", sleep=pytest.fail).complete(ASK, max_tokens=5, timeout=10)
    assert len(asked) == 1


def test_a_name_and_password_in_an_address_are_shown_nowhere():
    assert ServerModel("http://me:secret@localhost:81/v1", "m").address == "http://localhost:81/v1"


def test_an_answer_that_was_broken_off_is_none(serve):
    url, _ = serve(said("水箱容"), ends=False)
    with pytest.raises(ModelUnusable) as caught:
        ServerModel(url, "m").complete(ASK, max_tokens=50)
    assert "broken off" in caught.value.fields["reason"]
