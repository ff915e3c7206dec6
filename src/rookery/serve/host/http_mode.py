"""The same scoring behind an HTTP server of the standard library: for images, where no front stands before it."""

import http.server
import json
import os
import socketserver
import sys
import threading
import time
import uuid

from .models import make_model

__all__ = ["serve_http"]

MAX_BODY = 100 * 1024 * 1024


def serve_http(port, asked):
    """Answers on all interfaces until the process ends: GET /, /swagger.json, /score."""
    model = make_model(asked)
    model.init()
    name = asked.get("service", "service")
    server = _Server(("", port), _handler(model, name))
    sys.stderr.write("rookery: {} answers on port {}\n".format(name, server.server_address[1]))
    sys.stderr.flush()
    server.serve_forever()
    return 0


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _handler(model, name):
    turn = threading.Lock()  # run() is never called twice at once

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "rookery"

        def do_GET(self):
            path, _, query = self.path.partition("?")
            if path == "/":
                self._send(200, b"Healthy", "text/plain")
            elif path == "/swagger.json":
                version = 2 if "version=2" in query else 3
                self._send(200, json.dumps(model.swagger(name, version)).encode("utf-8"), "application/json")
            else:
                self._score()

        def do_POST(self):
            self._score()

        do_OPTIONS = do_POST

        def _score(self):
            path, _, query = self.path.partition("?")
            if path != "/score":
                self._send(404, b"There is /score, /swagger.json and /.", "text/plain")
                return
            try:
                length = int(self.headers.get("Content-Length") or 0)
            except ValueError:
                length = -1
            if not 0 <= length <= MAX_BODY:
                self.close_connection = True
                self._send(413, b"The body must have a Content-Length of at most 100 MiB.", "text/plain")
                return
            body = self.rfile.read(length)
            head = {
                "m": self.command,
                "p": path,
                "q": query,
                "c": self.headers.get("Content-Type", ""),
                "h": list(self.headers.items()),
            }
            with turn:
                began = time.perf_counter()
                answer = model.score((head, body))
                spent = (time.perf_counter() - began) * 1000
            headers = list(answer.headers)
            headers.append(("x-ms-run-fn-exec-ms", "{:.3f}".format(answer.timings.get("run", spent))))
            if answer.failed:
                headers.append(("x-ms-run-function-failed", "True"))
            self._send(answer.status, answer.body, answer.content_type, headers)

        def _send(self, status, body, content_type, headers=()):
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("x-ms-request-id", self.headers.get("x-ms-request-id") or str(uuid.uuid4()))
            for key, value in headers:
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            if os.environ.get("ROOKERY_LOG_REQUESTS"):
                http.server.BaseHTTPRequestHandler.log_message(self, format, *args)

    return Handler
