"""The generated conversations are fixed by their seed, sound in themselves and true to sample_docs."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[2] / "sample_docs"
CODECS = {"utf-8": "utf-8", "utf-8 with BOM": "utf-8-sig", "gb18030": "gb18030"}

spec = importlib.util.spec_from_file_location("dialogue_suites_generate", HERE / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

SEEDS = (1, 2, 3)
every_kind = pytest.mark.parametrize("kind", generate.KINDS)


def turns(kind):
    return [turn for seed in SEEDS for made in generate.conversations(kind, seed) for turn in made["turns"]]


def outlines():
    return json.loads((SAMPLES / "headings.json").read_text(encoding="utf-8"))


def sample(name):
    raw = (SAMPLES / name).read_bytes()
    return raw.decode(CODECS[outlines()[name]["encoding"]]).replace("\r\n", "\n")


@every_kind
def test_the_same_seed_gives_the_same_conversations_and_another_seed_others(kind):
    assert generate.conversations(kind, 1) == generate.conversations(kind, 1)
    assert generate.conversations(kind, 1) != generate.conversations(kind, 2)


@every_kind
def test_each_kind_has_25_different_conversations_of_its_form(kind):
    made = generate.conversations(kind, 1)
    assert len({tuple(turn["query"] for turn in one["turns"]) for one in made}) == len(made) == 25
    assert len({one["id"] for one in made}) == 25
    assert {len(one["turns"]) for one in made} <= {3, 4, 5}
    fields = {"query", "expect_in_query", "expect_not_in_query", "evidence"}
    assert all(fields - {"evidence"} <= set(turn) <= fields for one in made for turn in one["turns"])


@every_kind
def test_what_is_expected_and_what_is_forbidden_never_overlap(kind):
    for turn in turns(kind):
        assert turn["expect_in_query"]
        for text in turn["expect_not_in_query"]:
            assert not any(text in held for held in turn["expect_in_query"])


@every_kind
def test_the_opening_question_already_holds_what_its_query_must_hold(kind):
    for seed in SEEDS:
        for one in generate.conversations(kind, seed):
            opening = one["turns"][0]
            assert all(text in opening["query"] for text in opening["expect_in_query"])


def test_a_pending_question_is_answered_in_two_to_six_characters():
    for seed in SEEDS:
        for one in generate.conversations("pending_question", seed):
            opening, reply, _ = one["turns"]
            assert "evidence" not in opening
            assert not any(text in opening["query"] for text in opening["expect_not_in_query"])
            assert 2 <= len(reply["query"]) <= 6


def test_a_switch_keeps_the_metric_and_drops_the_sibling():
    for seed in SEEDS:
        for one in generate.conversations("sibling_switch", seed):
            first, second, third, _ = one["turns"]
            shared = set(first["expect_in_query"]) & set(second["expect_in_query"])
            assert shared <= set(third["expect_in_query"])
            assert shared
            assert second["expect_not_in_query"]
            assert first["evidence"]["text"] != second["evidence"]["text"]


def test_each_evidence_occurs_once_and_under_its_heading():
    data = tomllib.loads((HERE / "entities.toml").read_text(encoding="utf-8"))
    headings = {name: meta["headings"] for name, meta in outlines().items()}
    for group in data["groups"]:
        for metric in group["metrics"]:
            assert len(metric["evidence"]) == len(group["entities"])
            for entity, text in zip(group["entities"], metric["evidence"], strict=True):
                decoded = sample(entity["file"])
                assert decoded.count(text) == 1, (entity["file"], text)
                line = decoded[: decoded.index(text)].count("\n") + 1
                above = [h["text"] for h in headings[entity["file"]] if h["line"] < line]
                assert above[-1] == metric["heading"], text
