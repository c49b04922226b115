"""Answers through llama-cpp-python's own server: the small model, served on loopback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ragcli import config
from ragcli.pipeline.models import model_path
from tests.real.conftest import SMALL, Installed
from tests.real.test_endpoint import wait_for

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def url():
    path: Path = model_path(SMALL, "generator", config.models_dir(os.environ))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-W", "ignore", "-m", "llama_cpp.server", "--model", str(path), "--n_ctx", "4096",
        "--verbose", "false", "--host", "127.0.0.1", "--port", str(port), "--api_key", "sk-test",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def test_a_question_is_answered_and_cited_by_a_served_model(url: str, base: Installed) -> None:
    served = Installed(base.environ | {"RAGCLI_GENERATION_URL": url, "RAGCLI_GENERATION_API_KEY": "sk-test"})
    done = served("ask", "DH-30 的额定功率是多少？")
    assert "420" in done.stdout
    assert "[1]" in done.stdout
    refused = Installed(served.environ | {"RAGCLI_GENERATION_API_KEY": "wrong"})(
        "ask", "DH-30 的额定功率是多少？", code=14
    )
    assert "401" in refused.stderr
