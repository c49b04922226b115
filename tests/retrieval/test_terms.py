"""What a text can be found by and what a question asks for."""

import unicodedata

import pytest

from ragcli.retrieval.terms import index_terms, numeral, query_terms


def fold(text):
    return unicodedata.normalize("NFKC", text).lower()


@pytest.mark.parametrize("spelling", ["KD-310", "ＫＤ－３１０", "kd310", "KD 310", "Kd—310"])
def test_a_model_number_is_one_however_it_is_spelled(spelling):
    assert {"kd310", "kd", "310"} <= set(query_terms(spelling, fold))
    assert "kd310" in index_terms(f"型号{spelling}的外壳", fold)


@pytest.mark.parametrize("spelling", ["第七章", "第7章", "第 七 章", "第７章"])
def test_a_chapter_number_is_one_in_characters_and_digits(spelling):
    assert query_terms(spelling, fold) == ["第7章"]
    assert "第7章" in index_terms(f"{spelling} 台钻", fold)


def test_chapter_2_is_not_found_in_chapter_12():
    assert not set(query_terms("第二章", fold)) & set(index_terms("第十二章 收尾", fold))


def test_an_ordinal_before_another_word_keeps_the_word():
    assert "时间" in index_terms("第一时间", fold)


def test_a_query_asks_for_pairs_and_for_a_character_only_where_it_stands_alone():
    assert query_terms("滤网清洗", fold) == ["滤网", "网清", "清洗"]
    assert query_terms("猫", fold) == ["猫"]


def test_question_words_carry_no_subject_but_are_kept_when_nothing_else_is_there():
    assert query_terms("滤网怎么清洗", fold) == ["滤网", "清洗"]
    assert query_terms("为什么", fold)


def test_numbers_keep_their_unit_and_lose_their_commas():
    assert {"1500", "1500元"} <= set(index_terms("1,500元", fold))
    assert "2.5升" in index_terms("水箱两点五升", fold)
    assert "3天" in query_terms("三天内", fold)


def test_the_a_of_a_series_is_no_article():
    assert "a系" in query_terms("A系列的滤网", fold)
    assert query_terms("a filter", fold) == ["filter"]


def test_plurals_and_verb_endings_meet():
    assert set(query_terms("charging ports", fold)) <= set(index_terms("The port charges slowly", fold))


@pytest.mark.parametrize(
    ("text", "value"), [("十", 10), ("一百二十", 120), ("两千零八", 2008), ("三万", 30000)]
)
def test_numerals_have_their_value(text, value):
    assert numeral(text) == value
