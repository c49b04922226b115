"""What counts as the same wording, and at which rank a turn's evidence stands."""

import pytest

from ragcli.evaluation.cases import CaseTurn, Evidence
from ragcli.evaluation.compare import forbidden, plain, rank, stands_in, wordings_right
from tests.evaluation.conftest import hit


@pytest.mark.parametrize(
    ("wording", "answer", "stands"),
    [
        ("5 秒", "按住 15 秒", False),
        ("5 秒", "按住 5 秒。", True),
        ("2 元", "每件 0.2 元", False),
        ("1200", "共 1,200 元", True),
        ("led", "The LED blinks", True),
        ("led", "it failed", False),
        ("8:30", "开门时间 18:30", False),
        ("30L", "约３０Ｌ[1]", True),
        ("6-8", "6～8", False),
        ("6-8", "6 — 8 月", True),
        ("", "什么", False),
    ],
)
def test_a_wording_stands_in_an_answer_only_uncut(wording, answer, stands) -> None:
    assert stands_in(plain(wording), plain(answer)) is stands


def test_an_answer_needs_one_wording_of_every_group_and_no_forbidden_value() -> None:
    turn = CaseTurn(1, "问", answer_has=(("六个月", "半年"), ("5 秒",)), answer_not=("三个月",))
    assert wordings_right(turn, "每半年换一次，按住 5 秒")
    assert not wordings_right(turn, "每半年换一次")
    assert not wordings_right(turn, "半年，不是三个月；5 秒")
    assert forbidden(turn, "三个月")


def _evidence(*texts):
    return tuple(Evidence("a.txt", (text,)) for text in texts)


def test_two_pieces_of_evidence_in_the_first_two_hits_are_rank_one() -> None:
    hits = [hit("a.txt", "第一处证据在此"), hit("a.txt", "第二处证据在此")]
    assert rank(_evidence("第一处证据", "第二处证据"), hits) == 1
    assert rank(_evidence("第一处证据", "没有的证据"), hits) is None


def test_evidence_beyond_the_fifth_hit_keeps_its_own_rank() -> None:
    hits = [hit("a.txt", "x")] * 5 + [hit("a.txt", "第一处证据")]
    assert rank(_evidence("第一处证据"), hits) == 6
    assert rank(_evidence("x", "第一处证据"), hits) == 6


def test_only_the_beginning_of_running_text_counts_but_all_of_a_table() -> None:
    far = "字" * 700 + "第一处证据"
    assert rank(_evidence("第一处证据"), [hit("a.txt", far)]) is None
    assert rank(_evidence("第一处证据"), [hit("dir/a.txt", far, kind="table")]) == 1


def test_evidence_of_another_file_does_not_count_and_other_wordings_do() -> None:
    assert rank(_evidence("第一处证据"), [hit("b.txt", "第一处证据")]) is None
    either = (Evidence("a.txt", ("没有", "第一处 证据")),)
    assert rank(either, [hit("a.txt", "第一处证据")]) == 1
