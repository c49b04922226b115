"""Editions of one document: none named means the newest, what is named is found."""

import pytest

from ragcli.datatypes import Term, Vocabulary
from ragcli.dialogue.editions import OTHER, UNNAMED, edition_in, edition_weights, families
from ragcli.dialogue.lexicon import build_lexicon
from ragcli.dialogue.phrases import subject_of
from tests.dialogue.conversation import converse, fold

RULES = [Term(f"图书借阅办法（{year} 版）", "name", (), (f"借阅{year}.txt",)) for year in (2019, 2022, 2024)]
KEPT = families([*RULES, Term("2024 年年报", "name", (), ("年报.txt",))])


def test_documents_that_differ_in_the_year_alone_are_editions():
    assert KEPT == (((2024, "借阅2024.txt"), (2022, "借阅2022.txt"), (2019, "借阅2019.txt")),)
    assert build_lexicon(Vocabulary(tuple(RULES)), fold).editions == KEPT


def test_without_a_name_the_newest_edition_is_meant():
    assert edition_weights(KEPT, "") == {"借阅2022.txt": UNNAMED, "借阅2019.txt": UNNAMED}


@pytest.mark.parametrize(("edition", "meant"), [("2019", "借阅2019.txt"), ("old", "借阅2022.txt")])
def test_the_edition_that_is_named_counts_most(edition, meant):
    weights = edition_weights(KEPT, edition)
    assert meant not in weights
    assert set(weights.values()) == {OTHER}


def test_a_year_that_no_edition_has_means_the_newest():
    assert "借阅2024.txt" not in edition_weights(KEPT, "2011")


@pytest.mark.parametrize(
    ("question", "edition"),
    [
        ("2019 版借书几天", "2019"),
        ("19 年的规定是几天", "2019"),
        ("老办法是几天", "old"),
        ("以前是可以续两次的吧", "old"),
        ("那新的呢", "new"),
        ("八点以前能还吗", ""),
        ("借书几天", ""),
        ("What did the previous policy say?", "old"),
        ("How long may I keep it?", ""),
    ],
)
def test_a_question_names_an_edition_by_year_or_by_word(question, edition):
    assert edition_in(question) == edition


@pytest.mark.parametrize("frame", ["按 2022 版办法，", "2022 版规定里", "根据 2024 年版办法，"])
def test_an_edition_that_frames_a_question_is_not_what_it_is_about(frame):
    assert subject_of(f"{frame}逾期罚款怎么算") == "逾期罚款"
    _, readings = converse("木棉画廊几点开门？", f"{frame}借出四天由谁批准？")
    assert readings[-1].queries == (f"{frame}借出四天由谁批准？",)
