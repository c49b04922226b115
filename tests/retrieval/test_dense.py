"""One suite over every kind of dense index."""

import numpy as np
import pytest

from ragcli.errors import Damaged, NotReady
from ragcli.retrieval.dense import DenseIndex, build_dense, choose_kind


def unit(rows, width, seed=3):
    made = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture(params=["flat", "hnsw", "ivf"])
def made(request, tmp_path):
    vectors = unit(300, 24)
    ids = np.arange(300, dtype=np.int64) + 2**59
    assert build_dense(tmp_path / "index", ids, vectors, request.param) == request.param
    return DenseIndex(tmp_path / "index"), vectors, ids


def test_a_stored_vector_finds_itself_first(made):
    index, vectors, ids = made
    for row in (0, 7, 299):
        found, score = index.search(vectors[row], 3)[0]
        assert found == ids[row]
        assert score == pytest.approx(1.0, abs=0.02)


def test_no_id_of_minus_one_when_more_is_asked_than_there_is(made):
    index, vectors, ids = made
    found = [chunk for chunk, _ in index.search(vectors[0], 1000)]
    assert set(found) <= set(ids.tolist())
    assert len(found) == len(set(found))


def test_width_and_count_are_told(made):
    index, _, _ = made
    assert (index.dimension, index.total) == (24, 300)


def test_a_vector_of_another_width_is_refused_with_both_widths(made):
    index, _, _ = made
    with pytest.raises(NotReady) as caught:
        index.search(np.zeros(5, dtype=np.float32), 3)
    assert (caught.value.fields["index"], caught.value.fields["query"]) == (24, 5)


def test_an_empty_base_finds_nothing(tmp_path):
    build_dense(tmp_path / "index", np.array([], dtype=np.int64), np.zeros((0, 8), dtype=np.float32), "auto")
    assert DenseIndex(tmp_path / "index").search(np.ones(8, dtype=np.float32), 5) == []


def test_vectors_that_are_not_finite_are_refused(tmp_path):
    vectors = unit(3, 8)
    vectors[1, 2] = np.nan
    with pytest.raises(Damaged):
        build_dense(tmp_path / "index", np.arange(3, dtype=np.int64), vectors, "auto")


def test_a_cut_file_is_damaged_not_a_crash(tmp_path):
    path = tmp_path / "index"
    build_dense(path, np.arange(50, dtype=np.int64), unit(50, 8), "flat")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(Damaged):
        DenseIndex(path)


def test_the_same_vectors_give_the_same_file(tmp_path):
    for name in ("one", "two"):
        build_dense(tmp_path / name, np.arange(400, dtype=np.int64), unit(400, 8), "ivf")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_small_bases_are_compared_whole_and_large_ones_are_not():
    assert choose_kind(1_000) == "flat"
    assert choose_kind(1_000_000) == "ivf"
