import pytest

from ragcli.generation.tables import as_records, cells, header_of


def test_each_cell_gets_its_columns_name():
    assert as_records("| 型号 | 容量 |\n|---|---|\n| 甲 | 2 升 |\n| 乙 | 3 升 |", 2) == (
        "型号: 甲 | 容量: 2 升\n型号: 乙 | 容量: 3 升"
    )
    assert as_records("站名\t首班\n东门\t6:10", 1) == "站名: 东门 | 首班: 6:10"


def test_rows_of_another_width_stay_as_they_are():
    assert as_records("甲  乙\n1  2\n只有一格", 1) == "甲: 1 | 乙: 2\n只有一格"


def test_what_is_no_table_is_left_alone():
    assert as_records("一段话。", 0) == "一段话。"
    assert as_records("标题\n一段话。", 1) == "标题\n一段话。"
    long = "a  b\n" + "1  2\n" * 40
    assert as_records(long, 1) == long


def test_cells_at_blanks():
    assert cells("北线   12 元  每日") == ["北线", "12 元", "每日"]


def test_what_stands_over_the_names_of_the_columns_stays():
    text = "第三节 能耗\n单位为万度：\n\n| 厂 | 一季度 |\n|---|---|\n| 东厂 | 58 |\n| 西厂 | 41 |"
    assert header_of(text) == 5
    assert as_records(text, 5) == "第三节 能耗\n单位为万度：\n厂: 东厂 | 一季度: 58\n厂: 西厂 | 一季度: 41"


@pytest.mark.parametrize("text", ["一段话。\n又一段  话。", "", "只有  一行", "甲  乙\n一  二  三"])
def test_a_text_without_a_regular_table_has_no_header(text):
    assert header_of(text) == 0
