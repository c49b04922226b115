"""The rerankers that ask a model, on real parts: the small model as judge, a cross-encoder from its folder."""

import json
from pathlib import Path

import pytest

from ragcli.retrieval.cross_encoder import CrossEncoderReranker
from ragcli.retrieval.evidence import QueryView
from tests.real.conftest import Installed
from tests.retrieval.test_rerankers import asked, candidate

pytestmark = pytest.mark.real


def test_the_judge_reads_the_passages(base: Installed) -> None:
    judged = Installed(
        base.environ | {"RAGCLI_RETRIEVAL_RERANK": "judge", "RAGCLI_RETRIEVAL_RERANK_DEPTH": "3"}
    )
    hits = json.loads(judged("search", "DH-60 的水箱容量是多少", "--json").stdout)["hits"]
    assert "DH-60" in hits[0]["file"]


def test_a_cross_encoder_scores_each_pair(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    # No real cross-encoder can be had offline: one with few untrained weights goes the same way.
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"皮带灯长八百毫米多"])
    )
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertForSequenceClassification(BertConfig(vocab_size=14, num_labels=1, **size)).save_pretrained(tmp_path)
    query: QueryView = asked("皮带多长")
    scores = CrossEncoderReranker(tmp_path).rerank(query, [candidate("皮带长八百毫米"), candidate("灯")])
    plain = CrossEncoder(str(tmp_path)).predict([("皮带多长", "皮带长八百毫米"), ("皮带多长", "灯")])
    assert scores == pytest.approx([float(score) for score in plain], abs=1e-4)
