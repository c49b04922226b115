from ragcli.generation.focus import focus, pieces_of
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
