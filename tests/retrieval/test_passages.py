"""Hits into passages: joined, whole where they fit, cut to what bears on the question where not."""

from ragcli.datatypes import Chunk, Hit, StoredChunk
from ragcli.retrieval.passages import join, passages, sentences

TEXT = "皮带每年更换一次。更换前断电。台面每周擦拭。灯泡坏了报修。铁屑每天清扫。"
TABLE = "零件  周期\n皮带  一年\n灯泡  两年\n轴承  三年\n"


def hit(number, body, start=0, file="手册.txt", kind="text", path=(), header=""):
    chunk = Chunk(number, path, kind, body, 1, 1, start, start + len(body), header)
    return Hit(StoredChunk(chunk, file, "手册"), 0.9, {})


def characters(text):
    return len(text)


def taken(question, hits, budget):
    return passages(question, hits, budget, characters, str.lower)


def test_sentences_joined_are_the_text():
    text = "先断电。再拆壳！ Then close it. Done?\n完"
    assert "".join(sentences(text)) == text
    assert len(sentences(text)) == 5


def test_overlapping_neighbours_are_one_passage_at_the_better_place():
    far = hit(3, "食堂", start=0, file="食堂.txt")
    found = join([hit(2, TEXT[9:], start=9), far, hit(1, TEXT[:15], start=0)])
    assert [passage.chunk_ids for passage in found] == [(1, 2), (3,)]
    assert found[0].text == TEXT


def test_neighbours_under_other_headings_stay_apart():
    assert len(join([hit(1, TEXT[:15], path=("一",)), hit(2, TEXT[15:], start=15, path=("二",))])) == 2


def test_what_fits_is_whole():
    assert taken("皮带", [hit(1, TEXT)], 1000)[0].text == TEXT


def test_a_cut_keeps_the_sentence_that_bears_on_the_question():
    short = taken("灯泡报修", [hit(1, TEXT)], 16)[0].text
    assert "灯泡坏了报修。" in short
    assert len(short) <= 16


def test_a_cut_table_keeps_its_header_and_whole_rows():
    short = taken("轴承的周期", [hit(1, TABLE, kind="table")], 20)[0].text
    assert short.splitlines()[0] == "零件  周期"
    assert "轴承  三年" in short
    assert set(short.splitlines()) <= set(TABLE.splitlines())


def test_a_later_piece_of_a_table_keeps_the_header_that_was_repeated():
    short = taken("轴承", [hit(1, "灯泡  两年\n轴承  三年\n", kind="table", header="零件  周期\n")], 16)[
        0
    ].text
    assert short == "零件  周期\n轴承  三年\n"


def test_nothing_is_taken_where_nothing_fits():
    assert taken("皮带", [hit(1, TEXT)], 3) == []


def test_the_budget_holds_over_all_passages():
    found = taken("皮带", [hit(1, TEXT), hit(2, TEXT[::-1], file="b.txt")], 45)
    assert sum(len(passage.text) for passage in found) <= 45
