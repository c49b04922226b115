"""The lexical index over a handful of rows."""

import os

import pytest

from ragcli.errors import Damaged
from ragcli.retrieval.lexical import LexicalIndex, LexicalRow, build_lexical

ROWS = [
    LexicalRow(11, "台钻手册", ("第七章 灯具",), "照明灯每季度检查一次。"),
    LexicalRow(2**59 + 5, "台钻手册", ("第八章 皮带",), "皮带松了要更换，型号 KD-310 用 A 型带。"),
    LexicalRow(13, "食堂", (), "午餐十一点半开始。皮带轮不在此处。"),
]


@pytest.fixture
def index(tmp_path):
    build_lexical(tmp_path / "lexical", ROWS, str.lower)
    return LexicalIndex(tmp_path / "lexical", str.lower)


def test_ids_of_sixty_bits_come_back_whole(index):
    assert index.search("kd310", 5)[0][0] == 2**59 + 5


def test_one_absent_word_empties_nothing(index):
    assert index.search("皮带 火箭 更换", 5)[0][0] == 2**59 + 5


def test_the_heading_counts(index):
    assert index.search("第7章讲了什么", 5)[0][0] == 11


def test_a_query_without_terms_or_without_room_finds_nothing(index):
    assert index.search("？！", 5) == []
    assert index.search("皮带", 0) == []


def test_frequency_counts_chunks(index):
    assert index.frequency("皮带") == 2
    assert index.frequency("火箭") == 0


def test_an_empty_base_has_an_index(tmp_path):
    build_lexical(tmp_path / "lexical", [], str.lower)
    assert LexicalIndex(tmp_path / "lexical", str.lower).search("皮带", 5) == []


def test_a_folder_without_an_index_is_named(tmp_path):
    with pytest.raises(Damaged):
        LexicalIndex(tmp_path, str.lower)


def test_an_index_that_cannot_be_written_to_is_read(index, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    read_only = LexicalIndex(tmp_path / "lexical", str.lower)
    assert read_only.search("皮带", 5) == index.search("皮带", 5)


def test_a_large_index_is_not_asked_for_what_most_chunks_hold(tmp_path, monkeypatch):
    rows = [LexicalRow(n, "", (), "在年" if n else "在水箱") for n in range(10)]
    build_lexical(tmp_path / "lexical", rows, str)
    found = LexicalIndex(tmp_path / "lexical", str)
    assert len(found.search("在 水箱", 20)) == 10
    monkeypatch.setattr("ragcli.retrieval.lexical._LARGE", 5)
    assert [chunk for chunk, _ in found.search("在 水箱", 20)] == [0]
    assert len(found.search("在", 20)) == 10  # where there is nothing else, that is what is asked for
