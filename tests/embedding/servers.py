"""An embedding server on loopback that misbehaves on demand."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def vectors(texts, width=4):
    return {
        "data": [
            {"index": n, "embedding": [len(text) + 1.0, *[1.0] * (width - 1)]} for n, text in enumerate(texts)
        ]
    }


class Misbehaving:
    """A server on loopback that answers what it was told to, then as it should."""

    def __init__(self):
        self.asked, self.headers, self.script = [], [], []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.asked.append(body["input"])
                owner.headers.append(dict(self.headers) | {"path": self.path, "model": body["model"]})
                step = owner.script.pop(0) if owner.script else None
                status, headers, answer = step(body["input"]) if step else (200, {}, vectors(body["input"]))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def says(self, status, answer="", headers=None, times=1):
        self.script += [lambda texts: (status, headers or {}, answer)] * times

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
