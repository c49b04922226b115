"""What the sentences of one passage tell apart, and what settles it."""

import pytest

from ragcli.dialogue.told import classes_in, siblings_in
from tests.dialogue.conversation import LEXICON, hit

FEES = "续费须提前三天办理。晨光套餐提前退订收取月费的 20%；暮光套餐为 30%。设备须归还。"
HALLS = "问：两边的球场几点开门？\n答：南馆周一至周五 6:30 开。北馆每天 9:00 开。"
UPDATE = (
    "Save the settings first.\n1. Open System.\n2. Wait 4 minutes on the QF-20 or 7 minutes on the QF-50."
)


def classes(question, text):
    return [choice.label for choice in classes_in(question, hit(1, "a.txt", text, ("退订",)))]


@pytest.mark.parametrize("question", ["提前退订要赔多少", "退订收多少"])
def test_classes_that_begin_clauses_with_values_of_their_own_are_choices(question):
    assert classes(question, FEES) == ["晨光套餐", "暮光套餐"]


def test_classes_in_two_sentences_are_choices_too():
    assert classes("球场几点开", HALLS) == ["南馆", "北馆"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("晨光的提前退订要赔多少", FEES),  # one is named
        ("提前退订哪个套餐赔多少", FEES),  # asks for the class itself
        ("提前退订要赔吗", FEES),  # asks for no value
        ("设备多久归还", FEES),  # another sentence
        ("提前退订要赔多少", FEES.replace("30", "20")),  # the same for each
        ("提前退订几号到账", FEES),  # a value of another kind
    ],
)
def test_what_names_one_or_asks_for_something_else_is_settled(question, text):
    assert classes(question, text) == []


def test_the_heading_may_say_what_the_sentence_with_the_value_leaves_out():
    passage = hit(1, "a.txt", UPDATE, ("4.1 Firmware Update",))
    found = siblings_in("How long is a firmware update?", passage, LEXICON)
    assert [choice.label for choice in found] == ["QF-20", "QF-50"]
    assert siblings_in("How do I save the settings?", passage, LEXICON) == ()
