import json
from dataclasses import replace

import pytest

from ragcli import config
from ragcli.embedding.precision import Measured
from ragcli.pipeline import precision
from ragcli.pipeline.base import KnowledgeBase
from ragcli.storage.revisions import begin_revision, publish_revision


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setattr(precision, "processor_flags", lambda: {"avx512_bf16"})
    monkeypatch.setattr(precision, "library", lambda: "")
    monkeypatch.setattr(precision, "_weights", lambda *_: "weights")
    (tmp_path / "models").mkdir()
    return KnowledgeBase(tmp_path / "kb", config.Settings(), tmp_path / "models")


@pytest.fixture
def runs(monkeypatch):
    done = []

    def measure(_load, precisions, _clock):
        done.append(precisions)
        return {"float32": Measured(10, 1.0, True), "bfloat16": Measured(30, 0.999, True)}

    monkeypatch.setattr("ragcli.embedding.precision.measure", measure)
    monkeypatch.setattr(precision, "_loader", lambda *_: None)
    return done


def test_a_machine_is_measured_once_and_remembered(base, runs):
    assert precision.precision_of(base) == "float32"
    for _ in range(2):
        precision.settle_precision(base, float)
    assert runs == [["bfloat16"]]
    assert precision.precision_of(base) == "bfloat16"


def test_other_weights_are_measured_anew(base, runs, monkeypatch):
    precision.settle_precision(base, float)
    monkeypatch.setattr(precision, "_weights", lambda *_: "others")
    assert precision.precision_of(base) == "float32"
    precision.settle_precision(base, float)
    assert len(runs) == 2


def test_a_setting_or_a_plain_processor_needs_no_measuring(base, runs, monkeypatch):
    settings = config.set_value(base.settings, "embedding", "precision", "float32", "-", trusted=True)
    precision.settle_precision(replace(base, settings=settings), float)
    monkeypatch.setattr(precision, "processor_flags", lambda: {"avx2"})
    precision.settle_precision(base, float)
    assert runs == []


def test_a_base_keeps_the_precision_that_its_index_was_made_in(base, runs):
    folder = begin_revision(base.index_dir)
    publish_revision(base.index_dir, folder, {"embedding": {"file": "weights", "precision": "bfloat16"}})
    assert precision.precision_of(base) == "bfloat16"
    precision.settle_precision(base, float)
    assert runs == []


def test_a_broken_record_is_measured_over(base, runs):
    (base.models_dir / precision.RECORD).write_bytes(b"[1")
    precision.settle_precision(base, float)
    assert json.loads((base.models_dir / precision.RECORD).read_bytes())


def test_eight_bits_are_tried_where_openvino_is_and_taken_where_they_are_quickest(base, runs, monkeypatch):
    monkeypatch.setattr(precision, "library", lambda: "2026.1")
    monkeypatch.setattr(precision, "processor_flags", lambda: {"avx2"})
    precision.settle_precision(base, float)
    assert runs == [["int8"]]


def test_a_base_in_eight_bits_is_made_anew_where_openvino_is_missing(base, runs, monkeypatch):
    folder = begin_revision(base.index_dir)
    publish_revision(base.index_dir, folder, {"embedding": {"file": "weights", "precision": "int8"}})
    assert precision.precision_of(base) == "float32"
    monkeypatch.setattr(precision, "library", lambda: "2026.1")
    assert precision.precision_of(base) == "int8"
