"""What a searcher remembers, and what it tells of how like a query texts are."""

import numpy as np
import pytest

from ragcli.pipeline import searcher
from ragcli.pipeline.searcher import Searcher
from ragcli.retrieval.calibration import Calibration
from tests.doubles import HashEmbedder


@pytest.fixture
def counting():
    found = Searcher(None, None, None, stale=False)
    found.__dict__["embedder"] = HashEmbedder()
    found.__dict__["calibration"] = Calibration(mean=tuple(HashEmbedder().embed_query("机器").tolist()))
    return found


def test_each_text_has_its_cosine_above_the_average_passages(counting):
    rows = HashEmbedder().embed_passages(["滤网", "水箱"])
    asked = HashEmbedder().embed_query("滤网多久洗")
    usual = float(HashEmbedder().embed_query("机器") @ asked)
    assert counting.likeness("滤网多久洗", ["滤网", "水箱"]) == pytest.approx(
        list(rows @ asked - usual), abs=1e-6
    )


def test_a_text_is_embedded_once(counting):
    counting.likeness("滤网多久洗", ["滤网", "水箱", "滤网"])
    counting.likeness("水箱多大", ["水箱", "软管"])
    assert counting.embedder.texts == ["滤网", "水箱", "软管"]


def test_what_is_remembered_has_a_bound(counting, monkeypatch):
    monkeypatch.setattr(searcher, "_REMEMBERED", 2)
    counting.likeness("q", ["a", "b"])
    assert np.isfinite(counting.likeness("q", ["b", "c"])).all()
    assert len(counting._embedded) == 2
