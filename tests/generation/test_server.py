import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ragcli.datatypes import Message
from ragcli.errors import ModelUnusable, NoUsableAnswer
from ragcli.generation.server import ServerModel


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up early is what some tests are about."""


@pytest.fixture
def serve():
    started = []

    def start(*pieces, status=200, pause=0.0, usage=None):
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append(
                    (
                        self.path,
                        self.headers,
                        json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
                    )
                )
                self.send_response(status)
                self.end_headers()
                for piece in pieces:
                    event = piece if isinstance(piece, str) else json.dumps(piece)
                    self.wfile.write(f"data: {event}\n\n".encode())
                    self.wfile.flush()
                    time.sleep(pause)
                if usage:
                    self.wfile.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
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


def said(text, finish=None):
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


ASK = [Message("system", "规则"), Message("user", "问")]


def test_an_answer_is_streamed(serve):
    url, asked = serve(
        said("甲"),
        said("乙"),
        said("", "stop"),
        usage={"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}},
    )
    pieces: list[str] = []
    done = ServerModel(url, "m", api_key="k").complete(ASK, max_tokens=9, grammar="g", on_text=pieces.append)
    assert (done.text, done.finish, done.prompt_tokens, done.evaluated_tokens) == ("甲乙", "stop", 9, 5)
    assert pieces == ["甲", "乙"]
    path, headers, body = asked[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer k")
    assert (body["temperature"], body["max_tokens"], body["grammar"]) == (0, 9, "g")
    assert body["messages"][0] == {"role": "system", "content": "规则"}


def test_limits_hold_against_a_server_that_ignores_them(serve):
    url, _ = serve(*[said("好")] * 500)
    assert len(ServerModel(url, "m").complete(ASK, max_tokens=5).text) == 10
    slow, _ = serve(*[said("好")] * 20, pause=0.2)
    started = time.monotonic()
    assert ServerModel(slow, "m").complete(ASK, max_tokens=50, timeout=0.5).finish == "time"
    assert time.monotonic() - started < 1.5


def test_a_cancel_ends_it(serve):
    url, _ = serve(*[said("好")] * 20)
    assert ServerModel(url, "m", cancelled=lambda: True).complete(ASK, max_tokens=50).finish == "cancelled"


def test_refusals_and_nonsense_are_said_in_words(serve):
    url, _ = serve(status=404)
    with pytest.raises(ModelUnusable) as caught:
        ServerModel(url, "m").complete(ASK, max_tokens=5)
    assert (caught.value.kind, caught.value.fields["status"]) == ("server_refused", 404)
    url, _ = serve("{nonsense")
    with pytest.raises(NoUsableAnswer):
        ServerModel(url, "m").complete(ASK, max_tokens=5)
    with pytest.raises(ModelUnusable) as caught:
        ServerModel("http://127.0.0.1:9/v1", "m").complete(ASK, max_tokens=5)
    assert caught.value.kind == "server_unreachable"
    with pytest.raises(ModelUnusable):
        ServerModel("file:///etc/passwd", "m")


def test_choosing_stands_in_for_likelihoods(serve):
    url, asked = serve(said("2"))
    assert ServerModel(url, "m").likelihoods(ASK, ["甲", "乙"]) == [-1.0, 0.0]
    assert "2. 乙" in asked[0][2]["messages"][-1]["content"]


def test_tokens_are_rather_counted_too_many():
    model = ServerModel("http://localhost:1/v1", "m")
    assert model.count_tokens("滤网每月清洗") >= 6
    assert model.count_tokens("clean the filter") >= 4
