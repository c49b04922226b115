"""Figures over measured turns: retrieval, rewriting, actions, answers, intervals and tests."""

import pytest

from ragcli.evaluation.actions import actions
from ragcli.evaluation.answers import answers, costs
from ragcli.evaluation.comparison import compare_reports
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import corpus_parts, figures, retrieval
from ragcli.evaluation.rewriting import Known, invented, restored, rewriting, rouge_l
from ragcli.evaluation.statistics import exact_mcnemar, interval
from tests.evaluation.conftest import hit, outcome

RIGHT, WRONG = hit("a.txt", "甲乙丙丁戊己"), hit("a.txt", "别的")


def test_retrieval_counts_only_turns_with_a_known_passage() -> None:
    rows = [
        outcome([RIGHT]),
        outcome([WRONG, RIGHT], name="d"),
        outcome([], evidence=(), expect="not_found", name="e"),
    ]
    table = figures(rows, seed=1)
    assert (table["turns"], table["hit1"], table["hit3"], table["mrr"]) == (2, 0.5, 1.0, 0.75)
    assert table["ndcg10"] == pytest.approx((1 + 0.6309) / 2, abs=1e-3)


def test_turns_are_split_by_number_kind_and_by_what_they_lean_on() -> None:
    rows = [
        outcome([RIGHT], kinds=("standalone",)),
        outcome([WRONG], number=2, kinds=("pronoun",)),
        outcome([RIGHT], number=5, kinds=("switch",)),
    ]
    table = retrieval(rows, seed=1)
    assert {name: row["hit5"] for name, row in table["by_turn"].items()} == {
        "turn1": 1.0,
        "turn2": 0.0,
        "turn4": 1.0,
    }
    assert {name: row["turns"] for name, row in table["by_dependence"].items()} == {
        "self_contained": 1, "dependent": 1, "moved_on": 1,
    }  # fmt: skip


def test_a_corpus_counts_each_document_once_and_one_of_the_same_text_as_right() -> None:
    hits = [hit("x.txt", "一", chunk="1"), hit("x.txt", "二", chunk="2"), hit("y.txt", "三", chunk="3")]
    plain = outcome(hits, evidence=(), documents=("y",), history=(("前", "后"),))
    same = Outcome(plain.case, plain.turn, plain.record, same={"y": ("x", "y")})
    assert (plain.rank, same.rank) == (2, 1)
    lost = outcome(
        [], evidence=(), expect="not_found", history=(("前", "后"),), record={"action": "not_found"}
    )
    row = corpus_parts([plain, lost])["g later"]
    assert (row["turns"], row["unanswerable"], row["held_back"], row["mrr"]) == (1, 1, 1, 0.5)


def test_restored_tokens_are_those_that_the_question_lacked() -> None:
    assert restored("水箱呢", "甲机水箱多大", "甲机的水箱多大") == (5, 4, 4)
    assert rouge_l("甲机水箱", "甲机的水箱") == pytest.approx(8 / 9)


def test_a_name_from_nowhere_is_invented_and_one_of_the_conversation_or_base_is_not() -> None:
    row = outcome(query="水箱呢", record={"rewritten": ["KX-9 的水箱"]})
    assert invented(row, "水箱呢", Known()) == ["KX-9"]
    assert invented(row, "先问 KX9，水箱呢", Known()) == []
    assert invented(row, "水箱呢", Known(things=lambda _text: frozenset({"KX-9"}))) == []


def test_rewriting_leaves_open_turns_out_and_counts_changed_complete_questions() -> None:
    rows = [
        outcome(query="问", rewrite="问", record={"rewritten": ["改了"]}),
        outcome(
            query="它呢", number=2, kinds=("pronoun",), rewrite="甲机呢", record={"rewritten": ["甲机呢？"]}
        ),
        outcome(query="哪个", expect="clarify", rewrite="（不明）", evidence=()),
    ]
    table = rewriting(rows, Known(), seed=1)
    assert (table["all"]["turns"], table["dependent"]["exact"]) == (2, 1.0)
    assert table["over_rewriting"] == {"turns": 1, "share": 1.0}


def test_putting_a_question_right_counts_as_answering_and_asking_back_does_not() -> None:
    rows = [
        outcome(expect="correct"),
        outcome(expect="answer", record={"action": "clarify"}),
        outcome(expect="clarify", evidence=(), record={"action": "clarify"}),
        outcome(expect="not_found", evidence=(), record={"action": "answer"}),
    ]
    table = actions(rows, seed=1)
    assert table["right"] == 0.5
    assert table["clarify"] == {"expected": 1, "taken": 2, "recall": 1.0, "precision": 0.5, "wrongly": 0.5}
    assert table["not_found"]["recall"] == 0.0


def test_an_answer_is_right_by_its_words_and_its_citation_by_the_passage() -> None:
    cited = {"answer": "六个月", "citations": [{"chunk_id": "1"}]}
    rows = [
        outcome([RIGHT], answer_has=(("六个月",),), record=cited),
        outcome(
            [WRONG], answer_has=(("六个月",),), record={"answer": "三个月", "citations": [{"chunk_id": "9"}]}
        ),
    ]
    table = answers(rows, seed=1)
    assert (table["accuracy"], table["citations_hold_evidence"], table["turns_citing_outside_hits"]) == (
        0.5,
        0.5,
        1,
    )


def test_an_interval_draws_whole_conversations_and_repeats_for_a_seed() -> None:
    values = {"a": [1.0] * 9, "b": [0.0]}
    low, high = interval(values, 7)
    assert (low, high) == interval(values, 7)
    assert (low, high) == (0.0, 1.0)
    assert interval({}, 7) == (0.0, 0.0)


def test_mcnemar_is_the_exact_binomial() -> None:
    assert exact_mcnemar(1, 9) == pytest.approx(0.021484)
    assert exact_mcnemar(3, 3) == 1.0


def _report(**flags):
    rows = [{"turn": name, "query": name, "rewritten": [name], "hit5": flag} for name, flag in flags.items()]
    return {"cases": {"sha256": "x"}, "turns": rows}


def test_a_comparison_names_each_turn_won_and_lost() -> None:
    found = compare_reports(_report(a=True, b=False, c=True), _report(a=False, b=False, c=False))
    assert found["worse"] == ["hit5"]
    assert found["measures"]["hit5"]["lost_turns"] == ["a", "c"]
    assert [entry["turn"] for entry in found["turns"]] == ["a", "c"]
    assert compare_reports(_report(a=True), _report(a=True))["worse"] == []


def test_costs_are_medians_and_means() -> None:
    rows = [
        outcome(record={"timings_ms": {"total": ms}, "tokens": {"prompt": 10}}) for ms in (1.0, 2.0, 30.0)
    ]
    assert costs(rows) == {"ms": {"total": {"median": 2.0, "p95": 30.0}}, "tokens_a_turn": {"prompt": 10.0}}
