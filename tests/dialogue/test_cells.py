"""Which rows or columns of a table a question leaves open, and what settles it."""

import pytest

from ragcli.datatypes import Term, Vocabulary
from ragcli.dialogue.cells import cells_in
from ragcli.dialogue.choices import documents_of, parallels
from ragcli.dialogue.lexicon import build_lexicon
from tests.dialogue.conversation import fold, hit

LEXICON = build_lexicon(
    Vocabulary(
        tuple(Term(name, "row", (), ("hall.txt",)) for name in ("本馆", "分馆", "书亭", "QF-20", "QF-50"))
    ),
    fold,
)
HOURS = "馆舍  开门  关门\n本馆  9:00  21:00\n分馆  10:00  18:00\n书亭  8:00  20:00\n"
PRICES = "| 编号 | 设备 | 单价 |\n|---|---|---|\n| 01 | 电子天平 A | 30 |\n| 02 | 电子天平 B | 50 |\n| 03 | 离心机 | 20 |\n"
FEES = "收费项目    一年级    七年级\n餐费    14    17\n校车    900    1100\n"


def labels(question, table, path=("开放时间",), first=True):
    found = cells_in(question, hit(1, "hall.txt", table, path, kind="table"), LEXICON, first=first)
    return [choice.label for choice in found]


@pytest.mark.parametrize("question", ["几点关门", "关门时间是几点", "早上几点开"])
def test_a_question_for_a_value_that_names_no_row_leaves_the_rows_open(question):
    assert labels(question, HOURS) == ["本馆", "分馆", "书亭"]


@pytest.mark.parametrize("question", ["分馆几点关门", "10:00 开的几点关门", "空调遥控器和热水壶多少钱"])
def test_a_question_that_names_a_row_or_asks_something_else_is_settled(question):
    assert labels(question, HOURS) == []


def test_a_question_that_names_a_row_and_no_column_leaves_the_columns_open():
    assert labels("校车多少钱", FEES, ("收费标准",)) == ["一年级", "七年级"]
    assert labels("七年级校车多少钱", FEES, ("收费标准",)) == []


def test_one_row_of_a_long_table_leaves_its_columns_open():
    rows = "".join(f"Part {n}    {n}    {n + 9}\n" for n in range(9))
    table = f"Item    QF-20    QF-50\n{rows}Warranty    2 years    3 years\n"
    assert labels("How long is the warranty?", table, ("Specifications",)) == ["QF-20", "QF-50"]
    assert labels("How long is the cable?", table, ("Specifications",)) == []


def test_a_kind_of_thing_leaves_open_each_thing_that_is_called_so():
    assert labels("天平做一个多少钱", PRICES, ("价目",)) == ["电子天平 A", "电子天平 B"]
    assert labels("离心机做一个多少钱", PRICES, ("价目",)) == []
    assert labels("天平 B 做一个多少钱", PRICES, ("价目",)) == []


def test_sections_that_say_the_same_with_other_numbers_are_choices():
    one = hit(1, "school.txt", "租房家庭须提供满 1 年的租赁证明和居住证。", ("小学部", "材料"))
    other = hit(2, "school.txt", "租房家庭须提供满 2 年的租赁证明和居住证。", ("初中部", "材料"))
    assert [choice.label for choice in parallels("租房家庭要交什么证明", [one, other])] == [
        "小学部",
        "初中部",
    ]
    same = hit(3, "school.txt", one.stored.chunk.text, ("高中部", "材料"))
    assert parallels("租房家庭要交什么证明", [one, same]) == ()


def test_a_question_about_one_document_leaves_no_other_open():
    hits = [hit(1, "a.txt", "青石剧场建于 1990 年。"), hit(2, "b.txt", "木棉画廊与青石剧场相邻。")]
    assert documents_of("知道青石剧场吗", hits, LEXICON) == ()
