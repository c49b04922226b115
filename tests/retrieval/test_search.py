"""The corridor over small indexes with made vectors."""

import json
import unicodedata
from dataclasses import asdict

import numpy as np
import pytest

from ragcli.datatypes import Chunk, StoredChunk
from ragcli.retrieval.calibration import Calibration, calibrate
from ragcli.retrieval.dense import DenseIndex, build_dense
from ragcli.retrieval.filters import Filters
from ragcli.retrieval.lexical import LexicalIndex, LexicalRow, build_lexical
from ragcli.retrieval.search import SearchOptions, SearchResult, search


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


NONE = Filters()


class Base:
    """Chunks with vectors that only say which topic a text has."""

    def __init__(self, folder, texts):
        rng = np.random.default_rng(1)
        self.stored = {}
        for n, (file, path, text) in enumerate(texts, 1):
            chunk = Chunk(n, path, "text", text, 1, 1, 0, len(text))
            self.stored[n] = StoredChunk(chunk, file, "")
        ids = np.arange(1, len(texts) + 1, dtype=np.int64)
        rows = rng.normal(size=(len(texts), 16)).astype(np.float32)
        self.vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        build_dense(folder / "dense", ids, self.vectors, "auto")
        build_lexical(
            folder / "lexical",
            [LexicalRow(n, s.title, s.chunk.heading_path, s.chunk.text) for n, s in self.stored.items()],
            fold,
        )
        self.dense, self.lexical = DenseIndex(folder / "dense"), LexicalIndex(folder / "lexical", fold)
        self.calibration = calibrate(self.dense, self.lexical, ids, self.vectors, self.fetch, fold)

    def fetch(self, ids):
        return [self.stored[n] for n in ids]

    def search(self, query, like=1, filters=NONE, **options) -> SearchResult:
        vector = self.vectors[like - 1]
        return search(
            [query],
            [vector],
            self.dense,
            self.lexical,
            self.fetch,
            SearchOptions(**{"threshold": 0.0, "calibration": self.calibration, **options}),
            filters,
        )


TEXTS = [
    ("钳工.txt", ("第七章 台钻",), "操作台钻前扎紧袖口，摘下手套。"),
    ("钳工.txt", ("第十二章 收尾",), "下班前清扫铁屑，关闭总闸。"),
    ("食堂.txt", ("第二章 供餐",), "午餐从十一点半开始，逾时不候。"),
    ("食堂.txt", ("第三章 退餐",), "退餐须在前一天下午四点以前登记。"),
]


@pytest.fixture
def base(tmp_path):
    return Base(tmp_path, TEXTS)


def test_the_passage_that_both_indexes_agree_on_comes_first(base):
    assert base.search("台钻袖口", like=1).hits[0].stored.chunk.chunk_id == 1


def test_scores_lie_between_0_and_1_and_never_rise_down_the_list(base):
    scores = [hit.score for hit in base.search("退餐登记", like=4).hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_a_higher_threshold_never_gives_more(base):
    counts = [len(base.search("退餐登记", like=4, threshold=t).hits) for t in (0.0, 0.2, 0.5, 0.8, 1.0)]
    assert counts == sorted(counts, reverse=True)


def test_what_is_left_out_is_named_with_its_reason(base):
    result = base.search("台钻袖口", like=1, filters=Filters(file_glob="食堂*"))
    assert {hit.stored.file for hit in result.hits} == {"食堂.txt"}
    assert dict(result.dropped) == {1: "file", 2: "file"}


def test_only_new_leaves_out_what_was_seen(base):
    result = base.search("台钻袖口", like=1, filters=Filters(seen=frozenset({1}), only_new=True))
    assert 1 not in [hit.stored.chunk.chunk_id for hit in result.hits]
    assert (1, "seen") in result.dropped


def test_inc5_equal_copies_dont_push_others_out(tmp_path):
    copies = [(f"副本{n}.txt", (), "进车间要戴护目镜，长发入帽。") for n in range(6)]
    base = Base(tmp_path, [*copies, *TEXTS, ("焊工.txt", (), "焊接时护目镜换成面罩，并扎紧袖口。")])
    texts = [hit.stored.chunk.text for hit in base.search("护目镜", like=1, k=4).hits]
    assert any("扎紧袖口" in text for text in texts)
    assert len(set(texts)) == 4


def test_an_empty_calibration_is_fine(base):
    assert base.search("台钻袖口", like=1, calibration=Calibration()).hits[0].stored.chunk.chunk_id == 1


def test_seconds_of_others_join_the_result(base):
    assert base.search("台钻袖口", like=1).timed(encode=0.5).timings["encode"] == 0.5


def test_chance_is_measured_for_each_language_with_questions_that_the_base_does_not_answer(base):
    vector = np.ones(16, dtype=np.float32) / 4
    ids = np.array(sorted(base.stored), dtype=np.int64)
    made = calibrate(base.dense, base.lexical, ids, base.vectors, base.fetch, fold, lambda _: vector)
    assert set(made.chance) == {"zh", "en"}
    assert made.probability("问题", made.chance["zh"]) < 0.5
    assert made.probability("问题", made.chance["zh"] + 1.5) > 0.9


def test_a_calibration_survives_json(base):
    made = Calibration(**json.loads(json.dumps(asdict(base.calibration))))
    assert made.expected(base.vectors[0]) == pytest.approx(base.calibration.expected(base.vectors[0]))
    assert made.probability("x", 1.0) == base.calibration.probability("x", 1.0)
