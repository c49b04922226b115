"""One spelling for several."""

import doctest
from importlib import import_module

import pytest

from ragcli.documents.normalise import fold, squash

MODULES = (
    "normalise",
    "numbers",
    "lines",
    "encodings",
    "sizes",
    "sentences",
    "decimals",
    "sources",
    "names",
    "vocabulary",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_documentation_hold(name: str) -> None:
    result = doctest.testmod(import_module(f"ragcli.documents.{name}"))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("text", ["XX-200", "ＸＸ－２００", "xx200", "xx 200", "XX‑200", "XX–200"])
def test_a_model_number_has_one_spelling(text: str) -> None:
    assert fold(text) == "xx200"
    assert squash(text) == "xx200"


def test_both_scripts_are_one() -> None:
    assert fold("電源開關與濾芯") == fold("电源开关与滤芯")


def test_common_words_are_not_joined_to_numbers() -> None:
    assert fold("in 2024 at 5 bar") == "in 2024 at 5 bar"
    assert fold("Section 3") == "section 3"


def test_a_single_character_can_be_folded() -> None:
    assert [fold(char) for char in "Ａ㎡電-"] == ["a", "m2", "电", "-"]
