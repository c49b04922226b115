"""Vectors from llama-cpp-python's own server: the same model, served as a GGUF on loopback."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from ragcli import config
from ragcli.embedding.endpoint import Endpoint, EndpointEmbedder
from ragcli.embedding.query import QueryEmbedder
from ragcli.pipeline.models import model_path
from tests.models.gguf_form import write_served_form

pytestmark = pytest.mark.real

TEXTS = [
    "水箱满时机器停机，倒水后自动恢复。",
    "The relay output is rated 5 A.",
    "一线城市住宿费每天不超过 600 元。",
    "请假超过三天需要部门经理批准。",
    "短",
]


@pytest.fixture(scope="module")
def form() -> Path:
    return model_path("multilingual-e5-small", "query", config.models_dir(os.environ))


@pytest.fixture(scope="module")
def url(form: Path, tmp_path_factory: pytest.TempPathFactory):
    gguf = tmp_path_factory.mktemp("served") / "e5.gguf"
    write_served_form(form.parent, gguf)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A context of 128 tokens: what is longer has to be refused by the server, and told apart from a fault.
    command = [sys.executable, "-W", "ignore", "-m", "llama_cpp.server", "--model", str(gguf)]
    command += [
        "--embedding",
        "true",
        "--n_ctx",
        "128",
        "--n_batch",
        "128",
        "--n_threads",
        "1",
        "--verbose",
        "false",
    ]
    command += ["--host", "127.0.0.1", "--port", str(port), "--api_key", "sk-test"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def wait_for(address: str, server: subprocess.Popen) -> None:
    for _ in range(300):
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except urllib.error.HTTPError as err:
            err.close()
            return  # it answers, and wants a key
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the server never answered")


def test_the_served_model_gives_the_vectors_of_our_own(url: str, form: Path) -> None:
    served = EndpointEmbedder(
        Endpoint(url, "e5", 384, "sk-test", batch_texts=2),
        {},
        query_prefix="query: ",
        passage_prefix="passage: ",
    )
    ours = QueryEmbedder(form, {}, query_prefix="query: ", passage_prefix="passage: ")
    rows = served.embed_passages(TEXTS)
    assert (rows * ours.embed_passages(TEXTS)).sum(axis=1).min() > 0.99
    query = "how many amps can the relay switch"
    assert np.argmax(rows @ served.embed_query(query)) == np.argmax(rows @ ours.embed_query(query)) == 1


def test_a_wrong_key_is_refused_at_once(url: str) -> None:
    from ragcli.errors import BatchFailed, ModelUnusable

    with pytest.raises(ModelUnusable) as caught:
        EndpointEmbedder(Endpoint(url, "e5", 384, "wrong"), {}).embed_passages(["x"])
    assert not isinstance(caught.value, BatchFailed)
    assert caught.value.fields["status"] == 401


def test_another_width_is_told(url: str) -> None:
    with pytest.raises(Exception, match="endpoint_wrong_width"):
        EndpointEmbedder(Endpoint(url, "e5", 512, "sk-test"), {}).embed_passages(["x"])
