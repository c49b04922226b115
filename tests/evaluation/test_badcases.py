"""Bad cases: kept with their trace and without the profile, exported in three forms, measured again."""

import io
import json

import pytest

from ragcli.evaluation.badcases import as_case, as_example, as_pair, bad_case, exported, redacted
from ragcli.evaluation.forms import read_set
from tests.evaluation.conftest import MANUAL, POLICY, ragcli_lines


@pytest.fixture
def asked(ragcli):
    """Return a command line with a base and a session of two turns."""
    ragcli.environ["XDG_CACHE_HOME"] = str(ragcli.folder / "cache")
    ragcli.write("docs/净化机.txt", MANUAL)
    ragcli.write("docs/差旅.txt", POLICY)
    ragcli.built("docs")
    ragcli("profile", "set", "department", "会计三科")
    for question in ("甲型净化机的滤芯多久更换", "它的水箱多大"):
        ragcli("ask", question, "--session", "s", "--no-generate", "--rewrite", "rules")
    return ragcli


def test_a_kept_turn_has_its_steps_and_the_turns_before_and_no_profile(asked) -> None:
    kept = asked(
        "badcase", "add", "--rewrite", "甲型净化机的水箱多大", "--passage", "净化机.txt:4", "--json"
    ).json
    assert kept == {"case": 1, "session": "s", "turn": 2}
    row = asked("badcase", "list", "--json").json["badcases"][0]
    assert row["right"]["evidence"][0]["file"] == "净化机.txt"
    assert "水箱容量 3 L" in row["right"]["evidence"][0]["text"]
    from ragcli.storage.badcases import saved_cases
    from ragcli.storage.sessions import Sessions

    sessions = Sessions(asked.folder / "kb" / "data" / "sessions.sqlite")
    body = saved_cases(sessions)[0].body
    sessions.close()
    assert len(body["turns"]) == 2
    assert body["trace"]["gate"]
    assert "会计三科" not in json.dumps(body, ensure_ascii=False)
    assert "profile" not in body["trace"]["state"]


def test_bad_cases_are_measured_and_left_as_cases_that_eval_reads(asked) -> None:
    asked("badcase", "add", "--rewrite", "甲型净化机的水箱多大", "--passage", "净化机.txt:4")
    report = asked("eval", "--badcases", "--rewrite", "rules", "--json").json
    assert [row["turn"] for row in report["turns"]] == ["badcases/bad-1/2"]
    assert report["ways"]["ragcli"]["retrieval"]["all"]["turns"] == 1
    lines = asked("badcase", "export", "--as", "cases").out
    found, problems = read_set({"mine.jsonl": lines.encode()})
    assert problems == []
    assert [turn.judged for turn in found.cases[0].turns] == [False, True]


def test_examples_exported_into_prompts_join_the_built_in_ones_and_are_shown_by_status(asked) -> None:
    asked("badcase", "add", "--rewrite", "甲型净化机的水箱多大")
    lines = asked("badcase", "export", "--as", "fewshot").out
    asked.write("kb/prompts/mine.jsonl", lines)
    assert asked("status", "--json").json["prompts"] == {"files": ["mine.jsonl"], "examples": 1}
    assert "mine.jsonl" in asked("status").out
    asked.model = type(asked.model)(['{"query": "甲型净化机的滤芯怎么换"}'])
    asked("ask", "为什么", "--session", "s", "--no-generate", "--rewrite", "llm")
    prompt = [message.content for message in asked.model.asked[0]]
    assert '{"query": "甲型净化机的水箱多大"}' in prompt
    asked.write("kb/prompts/mine.jsonl", lines + '{"query": 1}\n')
    broken = asked("ask", "为什么", "--session", "s", "--no-generate")
    assert broken.code == 2
    assert "line 2" in broken.err


@pytest.mark.parametrize(
    "text", ['{"query": "问"}', "[]", "{", '{"query": "问", "rewrite": "' + "长" * 301 + '"}', "x" * 70_000]
)
def test_prompts_of_a_base_are_limited_in_form_and_size(asked, text) -> None:
    asked.write("kb/prompts/a.jsonl", text)
    assert asked("status").code == 2


def test_a_pair_to_train_with_holds_the_wrong_reading_too(asked) -> None:
    asked("badcase", "add", "--rewrite", "甲型净化机的水箱多大")
    asked("badcase", "add", "s", "1")
    done = asked("badcase", "export", "--as", "train")
    rows = ragcli_lines(done.out)
    assert len(rows) == 1
    assert (rows[0]["query"], rows[0]["rewrite"]) == ("它的水箱多大", "甲型净化机的水箱多大")
    assert rows[0]["rejected"]
    assert "1 cases" in done.err


def test_a_case_can_be_dropped_and_wrong_usage_is_refused(asked) -> None:
    asked("badcase", "add")
    assert asked("badcase", "add", "s", "9").code == 2
    assert asked("badcase", "add", "--expect", "guess").code == 2
    assert asked("badcase", "add", "--passage", "净化机.txt:900").code == 2
    assert asked("badcase", "export", "--as", "csv").code == 2
    assert asked("badcase", "rm", "1").code == 0
    assert asked("badcase", "rm", "1").code == 2
    assert asked("eval", "--badcases").code == 2


def test_the_chat_keeps_the_last_turn_as_a_bad_case(asked, monkeypatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("/bad\n报销单几天内交\n/bad 报销单在几天内交财务\n/bad 差旅.txt:7\n")
    )
    done = asked("chat", "--no-generate", "--rewrite", "rules")
    assert done.code == 0
    rows = asked("badcase", "list", "--json").json["badcases"]
    assert [row["right"].get("rewrite") for row in rows] == ["报销单在几天内交财务", None]
    assert rows[1]["right"]["evidence"][0]["file"] == "差旅.txt"


def test_secrets_are_redacted_at_any_depth_and_short_ones_stay() -> None:
    assert redacted({"a": [("会计三科", 1)], "b": "x"}, ["会计三科", "x"]) == {"a": [["▇", 1]], "b": "x"}


def test_forms_need_what_was_said_to_be_right() -> None:
    record = {"query": "问", "rewritten": ["问"], "action": "clarify", "hits": []}
    body = bad_case([record], {}, {"answer": "六个月"}, {})
    assert as_example(body) is None
    assert as_pair(body) is None
    assert as_case(3, body)["turns"][0]["answer_has"] == [["六个月"]]
    assert exported("fewshot", [(3, body)]) == ("", 1)
