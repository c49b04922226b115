import numpy as np
import pytest

from ragcli.embedding.precision import Measured, best, measure
from ragcli.errors import ModelUnusable
from tests.doubles import HashEmbedder


class Clocked:
    """A clock that an embedder moves on, and embedders that are off by some noise."""

    def __init__(self, seconds, noise):
        self.now, self.loaded = 0.0, []
        self._seconds, self._noise = seconds, noise

    def load(self, precision):
        self.loaded.append(precision)
        clocked = self

        class Embedder(HashEmbedder):
            def embed_passages(self, texts):
                clocked.now += clocked._seconds[precision] * len(texts)
                rows = super().embed_passages(texts)
                rows = rows + np.random.default_rng(3).normal(0, clocked._noise[precision], rows.shape)
                return rows / np.linalg.norm(rows, axis=1, keepdims=True)

        return Embedder()

    def measured(self):
        return measure(self.load, ["bfloat16"], lambda: self.now)


def test_the_quicker_precision_is_taken_where_it_is_exact_enough():
    clocked = Clocked({"float32": 0.2, "bfloat16": 0.05}, {"float32": 0.0, "bfloat16": 1e-4})
    results = clocked.measured()
    assert clocked.loaded == ["float32", "bfloat16"]
    assert results["bfloat16"].rate == pytest.approx(20)
    assert best(results) == "bfloat16"


def test_what_is_off_by_more_than_the_least_cosine_is_left():
    clocked = Clocked({"float32": 0.2, "bfloat16": 0.05}, {"float32": 0.0, "bfloat16": 0.05})
    results = clocked.measured()
    assert results["bfloat16"].cosine < 0.995
    assert best(results) == "float32"


@pytest.mark.parametrize(
    ("half", "chosen"),
    [
        (Measured(20, 0.999, True), "bfloat16"),
        (Measured(20, 0.999, False), "float32"),
        (Measured(10.5, 0.9999, True), "float32"),
        (Measured(6, 1.0, True), "float32"),
    ],
)
def test_a_precision_has_to_rank_alike_and_be_clearly_quicker(half, chosen):
    assert best({"float32": Measured(10, 1.0, True), "bfloat16": half}) == chosen


def test_what_cannot_be_loaded_here_is_left_out():
    def load(precision):
        if precision != "float32":
            raise ModelUnusable("not_converted", path="-", reason="-")
        return HashEmbedder()

    assert list(measure(load, ["int8"], float)) == ["float32"]
