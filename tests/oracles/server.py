"""A web server on this machine whose answers a test decides, one request after the other."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answers:
    """What to send for each path: a list is used up one by one, its last entry again and again.

    An answer is bytes, ``("cut", bytes)``: half of them, then the line breaks, or ``("status", code)``.
    """

    def __init__(self) -> None:
        self.by_path: dict[str, list] = {}
        self.asked: list[str] = []
        self.base = ""

    def url(self, path: str, *answers) -> str:
        self.by_path[path] = list(answers)
        return self.base + path


@contextmanager
def serving() -> Iterator[Answers]:
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answers.asked.append(self.path)
            queue = answers.by_path[self.path]
            answer = queue.pop(0) if len(queue) > 1 else queue[0]
            if isinstance(answer, tuple) and answer[0] == "status":
                self.send_error(answer[1])
                return
            body = answer[1] if isinstance(answer, tuple) else answer
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if isinstance(answer, tuple) else body)
            self.close_connection = True

        def log_message(self, *words):
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
