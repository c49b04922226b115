"""The settings choose the reranker, and each of them orders what `search` shows."""

from dataclasses import replace

import pytest

from ragcli.config import Settings
from ragcli.errors import ModelUnusable, UsageError
from ragcli.pipeline.rerankers import chosen_reranker
from tests.doubles import ScriptedModel


def chosen(model=pytest.fail, **keys):
    settings = Settings()
    return chosen_reranker(replace(settings, retrieval=replace(settings.retrieval, **keys)), model)


def test_the_default_asks_no_model():
    assert chosen().name == "words"
    assert chosen(rerank="off").name == "none"


def test_a_cross_encoder_wants_a_folder_that_holds_one(tmp_path):
    with pytest.raises(UsageError, match="reranker_without_folder"):
        chosen(rerank="cross-encoder")
    with pytest.raises(ModelUnusable, match="reranker_missing"):
        chosen(rerank="cross-encoder", rerank_model=str(tmp_path))


def test_the_judge_gets_the_language_model_and_its_depth():
    judge = chosen(lambda: ScriptedModel(["是"]), rerank="judge", rerank_depth=3)
    assert (judge.name, judge._depth) == ("judge", 3)


def test_search_is_ordered_by_what_was_chosen(ragcli):
    ragcli.write(
        "a.txt", "第一章 参数\nGX-1 的水箱容量是 4 升。\n\n第二章 清洁\nGX-1 的水箱每周清洗，水箱须晾干。\n"
    )
    ragcli.built("a.txt")
    ragcli.model.likelihoods = lambda messages, _answers: (
        [-0.1, -3.0] if "每周清洗" in messages[0].content else [-3.0, -0.1]
    )
    query = ("search", "GX-1 的水箱容量是多少", "--json")
    plain = ragcli(*query).json["hits"]
    ragcli.environ["RAGCLI_RETRIEVAL_RERANK"] = "judge"
    judged = ragcli(*query).json["hits"]
    assert "4 升" in plain[0]["text"]
    assert "每周清洗" in judged[0]["text"]
    ragcli.environ["RAGCLI_RETRIEVAL_RERANK"] = "cross-encoder"
    assert ragcli(*query).code == 2


def test_a_base_cannot_name_a_folder_outside(ragcli):
    ragcli.write("a.txt", "第一章\nGX-1。\n")
    ragcli.built("a.txt")
    (ragcli.folder / "kb" / "ragcli.toml").write_text(
        '[retrieval]\nrerank_model = "/elsewhere"\n', encoding="utf-8"
    )
    assert ragcli("search", "GX-1").code == 2
