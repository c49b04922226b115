from dataclasses import replace

import pytest

from ragcli.generation.focus import Looking, Piece, focus, leader, pieces_of
from ragcli.generation.sentences import sentences


def test_the_row_that_is_asked_for_comes_with_its_columns(make_passage):
    table = make_passage(
        1, "站  首班  末班\n东门  6:10  21:00\n西门  6:25  21:15\n码头  6:40  21:30", header_lines=1
    )
    found = focus("码头末班车几点？", [table], 1)
    assert [piece.text for piece in found] == ["站: 码头 | 首班: 6:40 | 末班: 21:30"]


def test_of_two_products_the_named_one_weighs_more(make_passage):
    text = "滤网每 3 个月更换。外壳为白色。"
    shown = [
        make_passage(1, text, "风扇F20手册.txt"),
        make_passage(2, text.replace("3", "5"), "风扇F30手册.txt"),
    ]
    assert focus("F30 的滤网多久更换？", shown, 1)[0].n == 2


def test_nothing_stands_out_where_no_word_is_shared(make_passage):
    assert focus("天气如何", [make_passage(1, "甲。乙。丙。")]) == []
    assert focus("滤网", [make_passage(1, "滤网每月洗。")]) == []


def test_pieces_are_sentences_or_rows(make_passage):
    assert pieces_of(make_passage(1, "先断电。再拆壳。")) == ["先断电。", "再拆壳。"]
    assert pieces_of(make_passage(1, "甲 乙\n一 二\n三 四", header_lines=1)) == ["一 二", "三 四"]


def test_sentences_joined_are_the_text():
    text = "压力 0.5 巴。见 3.2 节！\nSet it to 1.5 bar. Then wait.\n末"
    assert "".join(sentences(text)) == text
    assert "Then wait.\n" in sentences(text)


def test_the_best_piece_stands_last_next_to_the_question(make_passage):
    text = "滤网每 3 个月更换。更换滤网前先断电。外壳为白色。"
    found = focus("滤网多久更换？", [make_passage(1, text)])
    assert found[-1].text == "滤网每 3 个月更换。"
    assert [piece.weight for piece in found] == sorted(piece.weight for piece in found)


def test_a_value_of_the_kind_asked_for_weighs_more(make_passage):
    text = "水箱在机身右侧。水箱 88 元。水箱可以水洗。"
    assert focus("水箱多少钱？", [make_passage(1, text)], 1)[0].text == "水箱 88 元。"


def test_likeness_finds_what_shares_no_word(make_passage):
    passage = make_passage(1, "外壳为白色。冷媒为 R290。包装内有说明书。")
    alike = Looking(likeness=lambda texts: [float("冷媒" in text) for text in texts])
    assert focus("里面装的哪种制冷剂", [passage], 1, alike)[0].text == "冷媒为 R290。"


def test_other_words_for_the_question_count_as_its_own(make_passage):
    passage = make_passage(1, "外壳为白色。逾期每天收 1 元。包装内有说明书。")
    assert focus("晚交会怎样", [passage], 1, Looking("逾期"))[0].text == "逾期每天收 1 元。"


def test_headings_and_bare_numbers_are_no_pieces(make_passage):
    passage = replace(
        make_passage(1, "第二节 水箱\n1. 取出水箱。\n2.\n倒空。"), heading_path=("第二节 水箱",)
    )
    assert pieces_of(passage) == ["取出水箱。", "倒空。"]


def test_a_piece_that_stands_clear_is_alone(make_passage):
    passage = make_passage(1, "滤网每 3 个月更换。更换滤网前先断电。外壳为白色。")
    alike = Looking(likeness=lambda texts: [0.2 * ("断电" in text) for text in texts])
    assert [piece.text for piece in focus("换滤网要断电吗", [passage], looking=alike)] == [
        "更换滤网前先断电。"
    ]
    assert len(focus("滤网和外壳怎么样", [passage])) > 1


@pytest.mark.parametrize(
    ("weights", "alike", "found"),
    [((1.0, 1.6), 0.2, True), ((1.0, 1.4), 0.2, False), ((1.0, 1.6), 0.01, False), ((1.6,), None, False)],
)
def test_the_leader_stands_clear_and_bears_on_the_question(weights, alike, found):
    pieces = [Piece(1, str(weight), weight, alike) for weight in weights]
    assert leader(pieces) is (pieces[-1] if found else None)


def test_among_no_pieces_none_leads():
    assert leader([]) is None


def test_the_best_piece_bears_on_a_question_as_typed_or_as_meant(make_passage):
    passage = make_passage(1, "滤网每 3 个月更换。更换滤网前先断电。外壳为白色。")
    typed, meant = (
        lambda texts: [0.02 * ("断电" in text) for text in texts],
        lambda texts: [0.09 for _ in texts],
    )
    assert leader(focus("换滤网要断电吗", [passage], looking=Looking("", typed))) is None
    assert leader(focus("换滤网要断电吗", [passage], looking=Looking("", typed, meant)))
