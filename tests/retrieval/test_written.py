"""What people say meets what documents write, by words that are added and never put in place."""

import pytest

from ragcli.retrieval.written import as_written


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("晚交会怎么样", "逾期"),
        ("弄丢了要不要再办", "遗失"),
        ("一直一闪一闪的", "闪烁"),
        ("How do I get my money back?", "refund"),
        ("It is LEAKING", "leak"),
    ],
)
def test_the_written_word_stands_behind_what_was_said(query, written):
    found = as_written(query)
    assert found.startswith(f"{query} ")
    assert written in found.removeprefix(query).split()


@pytest.mark.parametrize(
    "query", ["晚交算逾期吗", "滤网的清洁周期是几天？", "What does the lightning rod do?", ""]
)
def test_what_is_written_already_or_says_nothing_of_the_kind_stays(query):
    assert as_written(query) == query


def test_the_longest_saying_is_taken_and_each_word_added_once():
    assert as_written("谁掏钱，自己掏吗").split()[1:] == ["承担", "费用", "自行承担"]
    assert as_written("关掉，关掉").split()[1:] == ["关闭", "取消"]
