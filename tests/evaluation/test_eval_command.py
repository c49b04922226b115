"""`ragcli eval` from the command line: what it measures, refuses, keeps and compares."""

import json
import re

import pytest

from tests.evaluation.conftest import CASES, lines, turn


def run(line, *argv):
    done = line("eval", *argv, "--rewrite", "rules", "--json")
    assert done.code == 0, done.err
    return done.json


def untimed(report):
    return {name: value for name, value in report.items() if name != "times"}


def test_cases_are_measured_over_the_documents_beside_them_without_a_base(measured) -> None:
    report = run(measured, "set/cases.jsonl")
    assert report["cases"]["turns"] == 4
    assert report["base"]["files"] == 2
    assert report["ways"]["ragcli"]["retrieval"]["all"]["turns"] == 3
    assert [row["turn"] for row in report["turns"]] == [
        "cases/C1/1",
        "cases/C1/2",
        "cases/C2/1",
        "cases/C3/1",
    ]


def test_two_runs_are_the_same_but_for_times(measured) -> None:
    first = run(measured, "set", "--ablate")
    assert untimed(first) == untimed(run(measured, "set", "--ablate"))
    assert {"raw", "concat", "rules", "gold", "dense alone", "no threshold"} <= set(first["ways"])
    # The row of fixed pieces searches a base of its own.
    assert list((measured.folder / "cache" / "ragcli" / "eval" / "bases").glob("fixed-*/data/index/rev-*"))


def test_fixed_pieces_are_cut_wherever_chapters_end_and_cover_the_text() -> None:
    from ragcli.pipeline.evaluate_fixed import pieces

    text = "一二三四五六七八九十\n" * 30
    found = list(pieces("a.txt", text, size=100, overlap=20))
    assert [piece.char_start for piece in found] == [0, 80, 160, 240]
    assert all(piece.body == text[piece.char_start : piece.char_end] for piece in found)
    assert found[-1].char_end == len(text)
    assert found[1].line_start == 8
    assert len({piece.chunk_id for piece in found}) == len(found)


def test_the_figures_are_those_of_the_same_turns_in_a_chat(measured) -> None:
    measured.built("set/docs")
    report = run(measured, "set")
    said = "".join(
        json.dumps({"session": case["id"], "query": item["query"]}) + "\n"
        for case in CASES
        for item in case["turns"]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", __import__("io").StringIO(said))
        records = [
            json.loads(row)
            for row in measured("chat", "--jsonl", "--no-generate", "--rewrite", "rules").out.splitlines()
        ]
    assert [row["rewritten"] for row in report["turns"]] == [record["rewritten"] for record in records]
    assert [row["action"] for row in report["turns"]] == [record["action"] for record in records]


def test_a_base_that_holds_the_files_is_measured_itself(measured) -> None:
    measured.built("set/docs")
    done = measured("eval", "set/cases.jsonl", "--rewrite", "rules", "--json")
    assert str(measured.folder / "kb") in done.err
    assert not (measured.folder / "cache" / "ragcli" / "eval" / "bases").exists()
    made = measured("eval", "set/cases.jsonl", "--rewrite", "rules", "--json", "--docs", "set/docs")
    assert "cache" in made.err


def test_everything_wrong_with_the_cases_is_listed_before_anything_runs(measured) -> None:
    rows = [*CASES, CASES[0], {"id": "X", "turns": [turn("问", extra=1)]}]
    measured.write("set/cases.jsonl", lines(rows) + "{\n")
    done = measured("eval", "set", "--rewrite", "rules", "--json")
    assert done.code == 2
    assert done.out == ""
    for place in ("cases.jsonl:4", "cases.jsonl:5", "cases.jsonl:6"):
        assert place in done.err
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert (error["kind"], error["code"]) == ("bad_cases", 2)
    assert not (measured.folder / "cache").exists()


def test_evidence_that_the_files_do_not_hold_is_named_by_case_and_turn(measured) -> None:
    wrong = {
        "id": "W",
        "turns": [turn("问", evidence=[("净化机.txt", "没有这句话的"), ("别的.txt", "没有这个文件")])],
    }
    measured.write("set/cases.jsonl", lines([wrong]))
    done = measured("eval", "set", "--rewrite", "rules")
    assert done.code == 2
    assert "cases.jsonl:1: W, turn 1: 净化机.txt" in done.err
    assert "别的.txt" in done.err
    assert "2 problems" in done.err


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["missing.jsonl"], 2),
        ([], 2),
        (["set", "--badcases"], 2),
        (["set", "--report", "out.pdf"], 2),
        (["set", "--answers", "some"], 2),
        (["set", "--only", "nothing"], 2),
        (["set", "--rewrite", "guess"], 2),
        (["set", "--compare", "set/docs/差旅.txt"], 2),
        (["--badcases"], 10),
    ],
)
def test_wrong_usage_is_refused(measured, argv, code) -> None:
    assert measured("eval", *argv).code == code


def test_a_comparison_exits_6_only_where_more_was_lost_than_won(measured) -> None:
    measured.write(
        "set/cases.jsonl", lines([*CASES, {"id": "Q", "turns": [turn("滤芯多久更换", expect="clarify")]}])
    )
    report = run(measured, "set")
    assert report["turns"][-1]["action_right"] is False
    measured.write("old.json", json.dumps(report))
    assert measured("eval", "set", "--rewrite", "rules", "--compare", "old.json").code == 0
    report["turns"][-1]["action_right"] = True
    measured.write("old.json", json.dumps(report))
    worse = measured("eval", "set", "--rewrite", "rules", "--compare", "old.json", "--json")
    assert worse.code == 6
    assert worse.json["comparison"]["measures"]["action_right"]["lost_turns"] == ["cases/Q/1"]
    shown = measured("eval", "set", "--rewrite", "rules", "--compare", "old.json")
    assert "cases/Q/1" in shown.out


def test_a_killed_run_goes_on_where_it_stopped(measured, monkeypatch) -> None:
    from ragcli.pipeline import turn as corridor

    taken = []
    real = corridor.take_turn

    def counting(engine, state, query, *rest, **more):
        if len(taken) == 2:
            taken.append("killed")
            raise KeyboardInterrupt
        taken.append(query)
        return real(engine, state, query, *rest, **more)

    whole = run(measured, "set")
    monkeypatch.setattr("ragcli.pipeline.conversation.take_turn", counting)
    assert measured("eval", "set", "--rewrite", "rules", "--json").code == 130
    resumed = run(measured, "set")
    assert untimed(resumed) == untimed(whole)
    assert taken == [
        "甲型净化机的滤芯多久更换",
        "它的水箱多大",
        "killed",
        "报销单几天内交财务",
        "食堂几点开门",
    ]
    assert list((measured.folder / "cache" / "ragcli" / "eval" / "runs").iterdir()) == []


def test_answers_are_written_for_as_many_turns_as_asked_and_repeat_for_a_seed(measured) -> None:
    measured.model = type(measured.model)(["滤芯每六个月更换一次。[1]"])
    report = run(measured, "set", "--answers", "3", "--seed", "4")
    rows = report["answers"]["turns_answered"]
    assert len(rows) == 3
    assert [row["turn"] for row in rows] == [
        row["turn"]
        for row in run(measured, "set", "--answers", "3", "--seed", "4")["answers"]["turns_answered"]
    ]
    assert set(report["times"]) == {"without_answers", "with_answers"}


def test_rewriting_alone_is_scored_without_a_base(ragcli) -> None:
    ragcli.environ["XDG_CACHE_HOME"] = str(ragcli.folder / "cache")
    rows = [
        {"id": "1", "history": ["甲机多重", "三斤"], "query": "它多高", "gold": "甲机多高"},
        {"id": "2", "history": [], "query": "乙机多高", "gold": "乙机多高"},
    ]
    ragcli.write("zh.jsonl", lines(rows))
    report = run(ragcli, "zh.jsonl")
    assert report["form"] == "rewriting"
    assert "base" not in report
    assert report["ways"]["ragcli"]["rewriting"]["over_rewriting"] == {"turns": 1, "share": 0.0}


def test_a_corpus_is_made_into_a_base_of_one_file_a_document(measured) -> None:
    measured.write(
        "c/corpus.jsonl",
        lines(
            [
                {"id": "a/1", "title": "净化机", "text": "净化机的滤芯六个月更换"},
                {"id": "b", "title": "", "text": "出差提前两天申请，单据交财务"},
            ]
        ),
    )
    measured.write(
        "c/conversations.jsonl",
        lines(
            [
                {
                    "id": "k",
                    "turns": [
                        {"query": "净化机的滤芯多久更换", "gold_ids": ["a/1"], "answer": "六个月"},
                        {"query": "那出差呢", "gold_ids": ["b"]},
                    ],
                }
            ]
        ),
    )
    report = run(measured, "c")
    assert report["form"] == "corpus"
    assert report["base"]["files"] == 2
    assert set(report["ways"]["ragcli"]["parts"]) == {
        "conversations first",
        "conversations later",
        "conversations moved",
    }


def test_tables_are_printed_for_a_person(measured) -> None:
    done = measured("eval", "set", "--rewrite", "rules")
    assert done.code == 0
    assert "hit@5" in done.out
    assert re.search(r"ragcli\t3\t", done.out)
