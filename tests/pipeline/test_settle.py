"""What the passages say about how a question is to be read, where its words leave it open."""

import pytest

from ragcli.pipeline.settle import settle
from ragcli.retrieval.search import SearchResult
from tests.dialogue.conversation import converse, hit, read

RUNNING, OTHER = "rooms.txt", "theatre.txt"


def searched(**scores):
    """Return a search that finds these files with these scores, and what it was asked."""
    asked = []

    def search(reading):
        asked.append(reading.queries)
        found = [hit(n, f"{name}.txt", score=score) for n, (name, score) in enumerate(scores.items(), 1)]
        return SearchResult(tuple(sorted(found, key=lambda one: -one.score)), (), (), {})

    return search, asked


@pytest.fixture
def short():
    """Return a short question that names nothing the base knows, after one about rooms."""
    state, _ = converse("书房租用办法里怎么预约？")
    reading = read(state, "茶点每份多少钱")
    assert reading.verdict.doubtful
    assert reading.queries != ("茶点每份多少钱",)
    return reading


def test_words_that_meet_one_place_of_the_running_file_need_nothing_added(short):
    search, _ = searched(rooms=0.97, theatre=0.2)
    reading, found = settle(short, RUNNING, search)
    assert reading.queries == ("茶点每份多少钱",)
    assert reading.status == "none"
    assert found.hits[0].stored.file == RUNNING


@pytest.mark.parametrize(
    "scores",
    [
        {"rooms": 0.97, "theatre": 0.6},  # as much like it elsewhere
        {"rooms": 0.5, "theatre": 0.1},  # nothing sure
        {"theatre": 0.97, "rooms": 0.1},  # in a file that isn't talked about
        {},
    ],
)
def test_else_it_goes_on_with_what_was_said(short, scores):
    search, asked = searched(**scores)
    reading, _ = settle(short, RUNNING, search)
    assert reading.queries == short.queries
    assert asked == [("茶点每份多少钱",), short.queries]


@pytest.mark.parametrize("query", ["它多少钱", "为什么", "那茶点呢", "茶点", "换成茶点多少钱"])
def test_what_points_back_or_asks_nothing_is_never_taken_to_stand_alone(query):
    state, _ = converse("书房租用办法里怎么预约？")
    assert not read(state, query).verdict.doubtful


def test_a_question_that_may_be_whole_is_searched_with_the_one_before_where_nothing_is_sure():
    state, _ = converse("书房里的柜子可以放过夜吗？")
    whole = read(state, "清出来的旧衣服和雨伞还找得到不")
    assert whole.verdict.complete
    for scores, grows in (({"rooms": 0.3, "theatre": 0.3}, True), ({"rooms": 0.7, "theatre": 0.1}, False)):
        search, _ = searched(**scores)
        reading, _ = settle(whole, RUNNING, search)
        assert (len(reading.queries) > 1) is grows
