"""Filters decide by explicit fields; fusion is arithmetic over ranks."""

import pytest

from ragcli.datatypes import Chunk, StoredChunk
from ragcli.retrieval.filters import Filters, factor, matches_file, reason_to_drop
from ragcli.retrieval.fusion import Ranking, reciprocal_rank

STORED = StoredChunk(
    Chunk(7, ("第七章 台钻", "一、皮带"), "text", "更换皮带", 1, 1, 0, 4), "车间/台钻KD-310.txt", "台钻手册"
)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (Filters(), ""),
        (Filters(file_glob="车间/*"), ""),
        (Filters(file_glob="台钻*.txt"), ""),
        (Filters(file_glob="食堂*"), "file"),
        (Filters(heading="皮带"), ""),
        (Filters(heading="灯具"), "heading"),
        (Filters(files={STORED.file: 0.0}), "file"),
        (Filters(seen=frozenset({7})), ""),
        (Filters(seen=frozenset({7}), only_new=True), "seen"),
        (Filters(excluded=frozenset({7})), "excluded"),
    ],
)
def test_each_filter_says_why_it_drops(filters, reason):
    assert reason_to_drop(STORED, filters, str.lower) == reason


def test_file_and_heading_weights_multiply():
    assert factor(STORED, Filters(files={STORED.file: 1.5}), str.lower) == 1.5
    assert factor(STORED, Filters(headings=("皮带",)), str.lower) > 1.0
    assert factor(STORED, Filters(headings=("灯具",)), str.lower) == 1.0


def test_a_glob_matches_the_path_or_the_name():
    assert matches_file("a/b/c.txt", "c.*")
    assert matches_file("a/b/c.txt", "a/*")
    assert not matches_file("a/b/c.txt", "b.*")


def test_what_two_lists_agree_on_comes_first():
    fused = reciprocal_rank([Ranking("a", [(1, 9.0), (2, 8.0)]), Ranking("b", [(3, 0.9), (2, 0.8)])], 10)
    assert next(iter(fused)) == 2
    assert fused[2] == pytest.approx(2 / 12)


def test_weights_decide_between_lists():
    fused = reciprocal_rank([Ranking("a", [(1, 9.0)], 2.0), Ranking("b", [(3, 0.9)])], 10)
    assert list(fused) == [1, 3]


def test_no_list_gives_nothing():
    assert reciprocal_rank([], 10) == {}


def test_a_list_that_counts_for_nothing_brings_nothing():
    assert reciprocal_rank([Ranking("a", [(1, 9.0)], 0.0)], 10) == {}
