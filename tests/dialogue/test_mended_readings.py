"""Readings that were wrong once: each test holds one kind of question."""

import pytest

from ragcli.datatypes import Term, Vocabulary
from ragcli.dialogue.editions import edition_in
from ragcli.dialogue.lexicon import build_lexicon
from ragcli.dialogue.linking import mentions
from ragcli.dialogue.mend import mend
from ragcli.dialogue.phrases import subject_of
from ragcli.dialogue.understand import RAW_AT_MOST, raw_weight
from ragcli.dialogue.wording import joined
from tests.dialogue.conversation import converse, fold, step


def test_what_is_taken_back_with_a_name_asks_the_last_question_of_that_name():
    _, readings = converse("QF-20 多久换滤芯？", "不对，我家那台是 QF-50")
    assert readings[-1].verdict.kind == "correction"
    assert "QF-50" in readings[-1].standalone
    assert "QF-20" not in readings[-1].standalone


def test_a_day_that_is_pointed_at_is_not_a_question_that_goes_on():
    _, readings = converse("城北店哪天人最多？", "那天来了多少人")
    assert "那天" in readings[-1].standalone or "那天" in readings[-1].question


def test_two_months_are_not_the_two_things_talked_about():
    _, readings = converse("QF-20 和 QF-50 有什么区别", "QF-20 要是停两个月呢")
    assert [entity.name for entity in readings[-1].entities] == ["QF-20"]


def test_each_of_two_siblings_is_asked_where_the_question_says_each():
    _, readings = converse("QF-20 的水箱多大", "QF-50 呢", "目标湿度各是多少")
    assert {entity.name for entity in readings[-1].entities} == {"QF-20", "QF-50"}
    assert readings[-1].separate


def test_the_smaller_one_is_the_sibling_with_the_smaller_number():
    _, readings = converse("QF-50 的水箱多大", "小的呢")
    assert readings[-1].entities[0].name == "QF-20"


def test_a_unit_behind_a_number_names_nothing():
    lexicon = build_lexicon(Vocabulary((Term("小时卡", "name", ("小时",), ("cards.txt",)),)), fold)
    assert not mentions("能改成两小时吗", lexicon)
    assert mentions("小时卡多少钱", lexicon)


def test_an_everyday_word_and_what_stands_behind_a_number_are_no_slips():
    vocabulary = Vocabulary(
        (Term("换乘", "heading", (), ("bus.txt",)), Term("办卡", "heading", (), ("c.txt",)))
    )
    lexicon = build_lexicon(vocabulary, fold)
    assert mend("换成 50 呢", lexicon) == ("换成 50 呢", ())
    assert mend("23 版卡的是几小时", lexicon)[1] == ()


@pytest.mark.parametrize(
    ("question", "subject"),
    [("停机时间是变多了吗", "停机时间"), ("地下车库能充电吗", "地下车库"), ("押金要交多少", "押金")],
)
def test_a_subject_ends_before_its_verb(question, subject):
    assert subject_of(question) == subject


def test_a_piece_that_another_one_holds_is_said_once():
    assert joined(["停机时间", "停机时间变多了", "破损"]) == "停机时间变多了 破损"


def test_a_question_counts_as_typed_the_more_it_says():
    assert raw_weight("多少钱") < raw_weight("倒完等几秒装回去") <= RAW_AT_MOST
    assert raw_weight("How much?") < raw_weight("How long does the reset take?")


def test_a_question_that_names_nothing_may_be_searched_with_the_one_before_it():
    _, readings = converse("青石剧场几点开门？", "清出来的东西还能找回来吗，我昨天落了一把伞")
    assert readings[-1].queries == ("清出来的东西还能找回来吗，我昨天落了一把伞",)
    assert readings[-1].fallback
    on = readings[-1].going_on()
    assert on.queries[0] == readings[-1].query
    assert "青石剧场" in on.queries[1]


def test_the_model_is_asked_in_a_sentence_with_the_question_before_it():
    _, readings = converse("QF-20 的水箱多大", "多久洗一次")
    assert readings[-1].question.endswith("QF-20 多久洗一次")
    assert "QF-20 的水箱多大" in readings[-1].question


def test_an_edition_is_kept_for_the_same_question_of_another_thing_alone():
    state, _ = converse("23 年的规定里押金多少")
    state, again = step(state, "那会议室呢")
    assert edition_in("23 年的规定里押金多少") == "2023"
    assert again.slots == {}
