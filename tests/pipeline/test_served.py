"""A base whose vectors come from a server: what fails is recorded, and tried again when asked."""

import pytest

from ragcli.embedding import endpoint
from ragcli.pipeline import embedders, index, runs, searcher, upkeep
from tests.embedding.servers import Misbehaving, vectors


@pytest.fixture
def server():
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def served(ragcli, server, monkeypatch):
    for module in (runs, upkeep):
        monkeypatch.setattr(module, "passage_embedding", embedders.passage_embedding)
    for module in (index, searcher):
        monkeypatch.setattr(module, "query_embedding", embedders.query_embedding)
    monkeypatch.setattr(searcher, "model_facts", embedders.model_facts)
    monkeypatch.setattr(endpoint, "_WAITS", (0.0, 0.0, 0.0))
    ragcli.environ |= {
        "RAGCLI_EMBEDDING_BACKEND": "endpoint",
        "RAGCLI_EMBEDDING_URL": server.url,
        "RAGCLI_EMBEDDING_DIMENSION": "4",
        "RAGCLI_EMBEDDING_MODEL": "m",
        "RAGCLI_EMBEDDING_API_KEY_FILE": str(ragcli.write("key.txt", "sk-secret\n")),
        "RAGCLI_RETRIEVAL_THRESHOLD": "0",
    }
    for number in range(4):
        ragcli.write(f"docs/{number}.txt", f"题{number}\n\n{'字' * number}第{number}个文件的内容各不相同。\n")
    ragcli("init")
    ragcli("ingest", "docs")
    return ragcli


def test_a_base_is_embedded_and_searched_by_the_server_alone(served, server):
    assert served("embed", "--json").json["vectors"]["computed"] == 4
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert served("index").code == 0
    assert served("search", "文件").code == 0
    assert "sk-secret" not in served("status").out + served("doctor").out
    asked = len(server.asked)
    assert served("embed", "--json").json["vectors"] == {"computed": 0, "cached": 4, "failed": 0}
    assert len(server.asked) == asked


def test_a_failed_batch_is_recorded_passed_over_and_tried_again_when_asked(served, server):
    server.says(503, "busy", times=4)
    outcome = served("embed", "--batch-size", "2", "--json")
    assert outcome.code == 3
    assert outcome.json["vectors"] == {"computed": 2, "cached": 0, "failed": 2}
    assert served("status", "--json").json["vectors"]["failed"] == 2
    assert served("index").code == 0
    first = served("status", "--json").json["index"]["total"]
    assert served("embed", "--json").json["vectors"]["computed"] == 0
    assert served("embed", "--retry-failed", "--json").json["vectors"]["computed"] == 2
    assert served("index", "--json").json["index"]["total"] == first + 2


def test_a_server_that_is_gone_stops_the_run_and_loses_nothing(served, server):
    server.script.append(lambda texts: (200, {}, vectors(texts)))
    server.says(503, "gone", times=99)
    outcome = served("embed", "--batch-size", "1")
    assert outcome.code == 14
    assert "503" in outcome.err
    assert "sk-secret" not in outcome.err
    assert served("status", "--json").json["vectors"]["done"] == 1
    server.script.clear()
    assert served("embed", "--retry-failed", "--json").json["vectors"]["computed"] == 3


def test_another_width_than_the_settings_say_is_an_error_with_both(served, server):
    served.environ["RAGCLI_EMBEDDING_DIMENSION"] = "6"
    refused = served("embed")
    assert refused.code == 14
    assert "6" in refused.err
    assert "4" in refused.err


@pytest.mark.parametrize("name", ["URL", "DIMENSION"])
def test_what_is_not_set_is_named(served, name):
    del served.environ[f"RAGCLI_EMBEDDING_{name}"]
    refused = served("embed")
    assert refused.code == 2
    assert f"embedding.{name.lower()}" in refused.err


def test_a_base_from_elsewhere_cannot_say_where_text_is_sent(served):
    served.write("kb/ragcli.toml", '[embedding]\nurl = "http://evil.example/v1"\n')
    refused = served("embed")
    assert refused.code == 2
    assert "embedding.url" in refused.err
