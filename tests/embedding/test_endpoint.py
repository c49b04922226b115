import math

import numpy as np
import pytest

from ragcli.embedding.endpoint import Endpoint, EndpointEmbedder
from ragcli.errors import BatchFailed, ModelUnusable
from tests.embedding.servers import Misbehaving, vectors

SECRET = "sk-very-secret"


@pytest.fixture
def server():
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def embedder(server, waits):
    endpoint = Endpoint(server.url, "m", 4, SECRET, batch_texts=3, batch_tokens=100, timeout=5)
    return EndpointEmbedder(endpoint, {}, passage_prefix="p: ", sleep=waits.append, now=lambda: 1000.0)


def test_rows_come_in_the_order_of_the_texts_and_have_length_one(server, embedder):
    server.script.append(
        lambda texts: (200, {}, {"data": list(reversed(vectors(texts)["data"]))}),
    )
    rows = embedder.embed_passages(["a", "bbb"])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    assert rows[0, 0] < rows[1, 0]
    assert server.asked == [["p: a", "p: bbb"]]
    assert server.headers[0]["path"] == "/v1/embeddings"
    assert server.headers[0]["model"] == "m"
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_requests_are_bounded_by_number_and_by_tokens(server, embedder):
    embedder.embed_passages(["a"] * 7)
    assert [len(texts) for texts in server.asked] == [3, 3, 1]
    server.asked.clear()
    embedder.embed_passages(["字" * 60, "字" * 60, "字" * 10])
    assert [len(texts) for texts in server.asked] == [1, 2]


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_what_may_pass_is_tried_again_after_1_2_and_4_seconds(server, embedder, waits, status):
    server.says(status, times=3)
    assert embedder.embed_passages(["a"]).shape == (1, 4)
    assert waits == [1.0, 2.0, 4.0]


def test_a_server_that_stays_away_is_a_failed_batch(server, embedder, waits):
    server.says(503, "sorry", times=4)
    with pytest.raises(BatchFailed) as caught:
        embedder.embed_passages(["a"])
    assert len(server.asked) == 4
    assert caught.value.fields["status"] == 503


def test_nobody_at_the_address_is_a_failed_batch(waits):
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", 4)
    with pytest.raises(BatchFailed):
        EndpointEmbedder(endpoint, {}, sleep=waits.append).embed_passages(["a"])
    assert waits == [1.0, 2.0, 4.0]


def test_retry_after_is_honoured_in_seconds_and_as_a_date(server, embedder, waits):
    server.says(429, headers={"Retry-After": "9"})
    server.says(429, headers={"Retry-After": "Thu, 01 Jan 1970 00:17:00 GMT"})
    embedder.embed_passages(["a"])
    assert waits == [9.0, 20.0]


def test_a_wait_of_an_hour_is_left_for_a_later_run(server, embedder, waits):
    server.says(429, headers={"Retry-After": "3600"})
    with pytest.raises(BatchFailed):
        embedder.embed_passages(["a"])
    assert waits == []


def test_a_batch_that_is_too_long_is_halved_and_a_text_that_is_gets_no_vector(server, embedder):
    def refuse(texts):
        if any("long" in text for text in texts):
            return 400, {}, {"error": {"message": "This model's maximum context length is 5 tokens"}}
        return 200, {}, vectors(texts)

    server.script += [refuse] * 9
    rows = embedder.embed_passages(["a", "long", "c"])
    assert [bool(np.isfinite(row).all()) for row in rows] == [True, False, True]


def test_a_refusal_is_told_at_once_and_without_the_key(server, embedder, waits):
    server.says(401, f"bad key {SECRET}")
    with pytest.raises(ModelUnusable) as caught:
        embedder.embed_passages(["a"])
    assert not isinstance(caught.value, BatchFailed)
    assert waits == []
    assert SECRET not in repr(caught.value) + repr(embedder._endpoint)
    assert caught.value.fields["status"] == 401


def test_fewer_vectors_than_asked_are_a_failed_batch(server, embedder):
    server.script.append(lambda texts: (200, {}, vectors(texts[1:])))
    with pytest.raises(BatchFailed) as caught:
        embedder.embed_passages(["a", "b"])
    assert (caught.value.fields["asked"], caught.value.fields["found"]) == (2, 1)


def test_another_width_stops_the_run_with_both_widths(server, embedder):
    server.script.append(lambda texts: (200, {}, vectors(texts, width=7)))
    with pytest.raises(ModelUnusable) as caught:
        embedder.embed_passages(["a"])
    assert (caught.value.fields["set"], caught.value.fields["found"]) == (4, "7")


@pytest.mark.parametrize("answer", ["<html>hello", "[]", '{"data": [{"index": 0}]}', '{"data": 3}', ""])
def test_nonsense_is_a_failed_batch(server, embedder, answer):
    server.says(200, answer)
    with pytest.raises(BatchFailed, match="endpoint_nonsense"):
        embedder.embed_passages(["a"])


def test_what_is_no_number_comes_back_as_such(server, embedder):
    server.script.append(
        lambda texts: (
            200,
            {},
            {"data": [{"index": 0, "embedding": [math.nan, 1, 1, 1]}, vectors(["a", "b"])["data"][1]]},
        )
    )
    rows = embedder.embed_passages(["a", "b"])
    assert [bool(np.isfinite(row).all()) for row in rows] == [False, True]


@pytest.mark.parametrize("url", ["", "ftp://x/v1", "localhost:8000", "http://", "http://x:y/v1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ModelUnusable, match="bad_server_address"):
        EndpointEmbedder(Endpoint(url, "m", 4), {})
