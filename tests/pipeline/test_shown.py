"""Which passages the model sees, whole or cut, and in which order."""

from dataclasses import replace

import pytest

from ragcli.config import PassageStateSettings, Settings
from ragcli.datatypes import Chunk, Hit, StoredChunk
from ragcli.pipeline.shown import AUTO, passage_mode, room_for_passages, shown_passages
from tests.doubles import ScriptedModel


def hit(number: int, file: str, line: int, text: str) -> Hit:
    chunk = Chunk(number, ("章",), "text", text, line, line, line * 100, line * 100 + len(text))
    return Hit(StoredChunk(chunk, file, ""), 1.0, {})


BEST, SECOND, THIRD = (
    hit(1, "甲.txt", 1, "甲" * 30),
    hit(2, "乙.txt", 5, "乙" * 30),
    hit(3, "乙.txt", 2, "丙" * 30),
)
HITS = [BEST, SECOND, THIRD]


def test_passages_that_may_come_again_are_whole_chunks_in_document_order():
    shown = shown_passages("甲？", HITS, Settings(), len, "all-kept")
    assert [passage.text for passage in sorted(shown, key=lambda passage: passage.n)] == [
        "丙" * 30,
        "乙" * 30,
        "甲" * 30,
    ]
    assert all(passage.keep for passage in shown)
    assert shown[0].chunk_ids == (1,)


def test_a_best_passage_read_anew_stands_last():
    shown = shown_passages("甲？", [SECOND, BEST, THIRD], Settings(), len, "best-fresh")
    assert (shown[0].chunk_ids, shown[0].n, shown[0].keep) == ((2,), 3, False)
    assert sorted(passage.n for passage in shown) == [1, 2, 3]
    assert [passage.keep for passage in shown[1:]] == [True, True]


def test_what_does_not_fit_whole_is_left_out_and_nothing_is_cut():
    settings = replace(Settings(), passage_states=PassageStateSettings(tokens=70))
    shown = shown_passages("甲？", HITS, settings, len, "all-kept")
    assert [passage.chunk_ids for passage in shown] == [(1,), (2,)]
    assert room_for_passages(settings, "all-kept") > 70


def test_a_best_chunk_that_does_not_fit_is_cut_and_read_anew():
    settings = replace(
        Settings(),
        passage_states=PassageStateSettings(tokens=64),
        generation=replace(Settings().generation, passage_tokens=64),
    )
    long = hit(4, "丁.txt", 1, "水箱容量是八升。" + "别的话在这里写着。" * 20)
    shown = shown_passages("水箱容量", [long], settings, len, "all-kept")
    assert [passage.keep for passage in shown] == [False]
    assert len(shown[0].text) <= 64


@pytest.mark.parametrize(
    ("mode", "wanted", "able", "expected"),
    [
        ("auto", True, True, AUTO),
        ("all-kept", True, True, "all-kept"),
        ("off", True, True, "off"),
        ("all-kept", False, True, "off"),
        ("all-kept", True, False, "off"),
    ],
)
def test_the_mode_is_the_settings_unless_it_is_unwanted_or_the_model_cannot(mode, wanted, able, expected):
    model = ScriptedModel(["好。"])
    model.keeps_passages = able
    assert passage_mode(PassageStateSettings(mode=mode), model, wanted=wanted) == expected
