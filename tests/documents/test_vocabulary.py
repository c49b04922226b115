"""The names that documents use, and the user's own."""

import pytest

from ragcli.documents.vocabulary import build_vocabulary, mine_terms, read_aliases
from ragcli.errors import UsageError
from tests.documents.reading import read

MANUAL = """沐风 KX-70 加湿器使用说明书

本说明书适用于 KX-70（以下简称“本机”）。由沐风客户服务部（以下简称“客服部”）解释。
“机时”指从开机到关机的时间。

第一章 产品概述
第一节 主要参数
参数          数值       条件
水箱容量      4.5 L      加满
额定功率      42 W       高档
净重          3.5 kg     不含水

第二节 随机附件
包装内有主机 1 台、软管 1 根、说明书 1 份。
KX-70 的功率是 42 W。
"""


def terms(kind: str) -> dict[str, tuple[str, ...]]:
    return {term.text: term.aliases for term in mine_terms(read(MANUAL)) if term.kind == kind}


def test_products_and_titles() -> None:
    assert terms("name") == {"沐风 KX-70 加湿器使用说明书": ("沐风 KX-70 加湿器",), "KX-70": ()}


def test_defined_terms_with_their_long_form() -> None:
    found = terms("defined")
    assert "客服部" in found
    assert "机时" in found
    assert "本机" not in found


def test_headings_rows_columns_units_and_parts() -> None:
    assert {"产品概述", "主要参数", "随机附件"} <= set(terms("heading"))
    assert {"水箱容量", "额定功率", "净重"} <= set(terms("row"))
    assert {"参数", "数值", "条件"} <= set(terms("column"))
    assert "W" in terms("unit")
    assert {"软管", "说明书"} <= set(terms("part"))


def test_the_first_column_has_the_rows_as_members() -> None:
    (column,) = (term for term in mine_terms(read(MANUAL)) if term.text == "参数")
    assert column.members == ("水箱容量", "额定功率", "净重")


def test_the_vocabulary_joins_files_and_takes_aliases() -> None:
    other = read(MANUAL.replace("KX-70", "KX-90"))
    table = read_aliases('[[name]]\ncanonical = "KX 90"\naliases = ["大机"]\nis_a = "加湿器"\n')
    found = {
        term.text: term
        for term in build_vocabulary({"a": mine_terms(read(MANUAL)), "b": mine_terms(other)}, table).terms
    }
    assert found["KX-70"].files == ("a",)
    assert found["主要参数"].files == ("a", "b")
    assert found["KX-90"].aliases == ("大机",)
    assert found["加湿器"].members == ("KX 90",)


def test_an_alias_of_two_names_is_reported() -> None:
    table = read_aliases(
        '[[name]]\ncanonical = "A"\naliases = ["小机"]\n[[name]]\ncanonical = "B"\naliases = ["小 机"]\n'
    )
    assert list(table.ambiguous.values()) == [("A", "B")]


@pytest.mark.parametrize(
    "text",
    [
        "[[name]]\n",
        "x = 1",
        "[[name]]\ncanonical = 3",
        "[[name]]\ncanonical = 'a'\naliases = 'b'",
        "[[name",
        "[[name]]\ncanonical='a'\nalias=['b']",
    ],
)
def test_a_table_that_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="bad_aliases"):
        read_aliases(text)
