"""Reading case files: three forms, and every slip named by its line."""

import json

import pytest

from ragcli.evaluation.forms import by_roles, corpus_documents, paired, read_set, same_texts
from tests.evaluation.conftest import CASES, lines, turn


def _read(*rows):
    return read_set(
        {
            "cases.jsonl": b"\n".join(
                row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows
            )
        }
    )


def test_cases_are_read_with_their_evidence() -> None:
    found, problems = read_set({"cases.jsonl": lines(CASES).encode("utf-8-sig")})
    assert problems == []
    assert (found.form, found.turns, len(found.digest)) == ("documents", 4, 64)
    assert found.cases[0].turns[1].dependent
    assert found.cases[0].turns[0].evidence[0].wordings == ("滤芯每六个月更换一次",)
    assert [case.name for case in found.first(2).cases] == ["C1", "C2"]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (b'{"id": ', "case_bad_json"),
        (b"\xff\xfe", "case_bad_json"),
        (b"[" * 100_000, "case_bad_json"),
        (b"[1]", "case_not_object"),
        ({"id": "a"}, "case_missing_field"),
        ({"id": "a", "turns": []}, "case_bad_value"),
        ({"id": "a", "turns": [{"expect": "answer"}]}, "case_missing_field"),
        ({"id": "a", "turns": [turn("问", expect="guess")]}, "case_bad_value"),
        ({"id": "a", "turns": [turn("问", kind=["odd"])]}, "case_bad_value"),
        ({"id": "a", "turns": [turn("问", answer_has=["六"])]}, "case_bad_value"),
        ({"id": "a", "turns": [turn("问", evidance=[])]}, "case_unknown_field"),
        ({"id": "a", "turns": [turn(" ")]}, "case_bad_value"),
        ({"id": "a", "turns": [turn("问")], "note": 1}, "case_unknown_field"),
        (
            {"id": "a", "turns": [turn("问", evidence=[("f", "t")]) | {"evidence": [{"file": "f"}]}]},
            "case_missing_field",
        ),
    ],
)
def test_a_wrong_line_is_named_by_number_and_the_others_are_read(row, kind) -> None:
    good = {"id": "good", "turns": [turn("问")]}
    found, problems = _read(good, row)
    assert [(problem.line, problem.kind) for problem in problems] == [(2, kind)]
    assert [case.name for case in found.cases] == ["good"]


def test_an_unknown_field_names_the_nearest_known_one() -> None:
    _, problems = _read({"id": "a", "turns": [turn("问", evidance=[])]})
    assert problems[0].fields["nearest"] == "evidence"


def test_a_repeated_id_names_both_lines() -> None:
    _, problems = _read({"id": "a", "turns": [turn("问")]}, {"id": "a", "turns": [turn("问")]})
    assert (problems[0].line, problems[0].kind, problems[0].fields["first"]) == (2, "case_same_id", 1)


def test_no_case_and_two_forms_are_said() -> None:
    assert [problem.kind for problem in read_set({"a": b""})[1]] == ["case_none"]
    other = json.dumps({"id": "r", "history": [], "query": "q", "gold": "g"}).encode()
    _, problems = read_set({"a": lines(CASES).encode(), "b": other})
    assert [problem.kind for problem in problems] == ["case_two_forms"]


def test_a_conversation_over_a_corpus_has_its_history_and_knows_what_moved() -> None:
    row = {
        "id": "k",
        "turns": [
            {"query": "甲", "gold_ids": ["d/1"], "answer": "答"},
            {"query": "乙", "gold_ids": ["d2"], "gold_rewrite": "全"},
            {"query": "丙", "gold_ids": [], "answerability": ["UNANSWERABLE"]},
        ],
    }
    found, problems = _read(row)
    assert (found.form, problems) == ("corpus", [])
    first, second, third = found.cases[0].turns
    assert (first.history, first.documents, first.moved) == ((), ("d_1",), False)
    assert (second.history, second.moved, second.rewrite) == ((("甲", "答"),), True, "全")
    assert third.expect == "not_found"


def test_messages_and_given_histories_stand_in_for_the_turns() -> None:
    row = {
        "id": "k",
        "messages": ["a", "b", "c", "d"],
        "turns": [{"query": "q", "gold_ids": ["x"], "turn": 3}],
    }
    assert _read(row)[0].cases[0].turns[0].history == (("", "a"), ("b", "c"))
    row = {"id": "k", "turns": [{"query": "q", "gold_ids": ["x"], "history": [{"text": "u"}, {"text": "v"}]}]}
    assert _read(row)[0].cases[0].turns[0].history == (("u", "v"),)


def test_a_question_with_a_reference_rewrite_is_a_case_of_its_own() -> None:
    found, _ = _read(
        {"id": "r", "history": ["甲机多重", "三斤"], "query": "它多高", "gold": "甲机多高", "source": "x"}
    )
    assert found.form == "rewriting"
    assert found.cases[0].turns[0].history == (("甲机多重", "三斤"),)
    assert found.cases[0].turns[0].dependent


def test_messages_are_paired_from_the_last_answer_backwards_and_by_roles_where_given() -> None:
    assert paired(["a", "b", "c"]) == (("", "a"), ("b", "c"))
    assert by_roles(["a", "b", "c"], ["user", "user", "assistant"]) == (("a", ""), ("b", "c"))


def test_a_corpus_gives_its_documents_and_which_have_the_same_text() -> None:
    data = lines(
        [{"id": "a/1", "title": "题", "text": "文"}, {"id": "b", "title": "", "text": "文"}]
    ).encode()
    assert dict(corpus_documents(data)) == {"a/1": "题\n\n文", "b": "文"}
    assert same_texts(data) == {"a_1": ("a_1", "b"), "b": ("a_1", "b")}
