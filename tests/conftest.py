"""A command line of its own for each test: fresh folders, no settings of the person's, doubles for the models."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ragcli.cli.app import run
from tests.doubles import HashEmbedder, ScriptedModel


@dataclass
class Outcome:
    """What a command line left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out, self.err
        return json.loads(self.out)


@dataclass
class CommandLine:
    """Runs ragcli in this process, in a folder of its own."""

    folder: Path
    environ: dict[str, str]
    capture: Callable[[], tuple[str, str]]
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(["好。"]))

    def __call__(self, *argv: str) -> Outcome:
        self.capture()
        code = run(argv, self.environ)
        out, err = self.capture()
        assert "Traceback" not in err
        return Outcome(code, out, err)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def built(self, *paths: str) -> None:
        """Make a base and bring it up to date with the paths."""
        self("init")
        assert self("sync", *paths).code in (0, 3)


@pytest.fixture
def ragcli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """Return a command line whose models are doubles."""
    from ragcli.pipeline import embedders, index, language, runs, searcher, upkeep

    monkeypatch.chdir(tmp_path)
    environ = {
        "HOME": str(tmp_path / "home"),
        "RAGCLI_KB": str(tmp_path / "kb"),
        "RAGCLI_UI_LANGUAGE": "en",
        "TERM": "dumb",
    }
    line = CommandLine(tmp_path, environ, lambda: tuple(capfd.readouterr()))

    def choice(_base) -> embedders.EmbeddingChoice:
        return embedders.EmbeddingChoice(dict(line.embedder.identity), lambda: line.embedder)

    for module in (runs, upkeep):
        monkeypatch.setattr(module, "passage_embedding", choice)
    monkeypatch.setattr(runs, "token_counter", lambda *_: None)
    monkeypatch.setattr(searcher, "model_facts", lambda _base: dict(line.embedder.identity))
    monkeypatch.setattr(searcher, "query_embedding", lambda _base: line.embedder)
    monkeypatch.setattr(index, "query_embedding", lambda _base: line.embedder)
    monkeypatch.setattr(language.LanguageModels, "_load", lambda _self, _name: line.model)
    monkeypatch.setattr("ragcli.pipeline.engine.restore_fixed", lambda *_: True)
    return line


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up early is what some tests are about."""


@pytest.fixture
def serve():
    """Return what starts an OpenAI-compatible server on loopback that answers by script; its address and requests."""
    started = []

    def start(*pieces, status=200, pause=0.0, usage=None, retry_after="", ends=True):
        asked = []
        statuses = status if isinstance(status, list) else [status]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append(
                    (
                        self.path,
                        self.headers,
                        json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
                    )
                )
                now = statuses[min(len(asked), len(statuses)) - 1]
                self.send_response(now)
                if retry_after and now != 200:
                    self.send_header("Retry-After", retry_after)
                self.end_headers()
                for piece in pieces:
                    event = piece if isinstance(piece, str) else json.dumps(piece)
                    self.wfile.write(f"data: {event}\n\n".encode())
                    self.wfile.flush()
                    time.sleep(pause)
                if usage:
                    self.wfile.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
                if ends:
                    self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *args):
                pass

        server = _Server(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        started.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}/v1", asked

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()
