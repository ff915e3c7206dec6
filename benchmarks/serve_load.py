"""Asks one address without pause over connections that stay open: `python serve_load.py PORT PATH BODY TYPE CONNECTIONS SECONDS`.

Prints JSON: requests a second, the median in milliseconds, how many were not answered with 200.
"""

import json
import re
import socket
import statistics
import sys
import threading
import time

LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *(\d+)\r\n").search


def main(port, path, body, kind, connections, seconds):
    sent = request(path, body, kind)
    spent, wrong = [], [0]
    begin, end = time.perf_counter() + 1.0, time.perf_counter() + 1.0 + float(seconds)

    def press():
        with socket.create_connection(("127.0.0.1", int(port)), timeout=120) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while time.perf_counter() < end:
                start = time.perf_counter()
                sock.sendall(sent)
                if not ask(sock):
                    wrong[0] += 1
                if start >= begin:
                    spent.append((time.perf_counter() - start) * 1000)

    asking = [threading.Thread(target=press) for _ in range(int(connections))]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    return {"per_s": len(spent) / float(seconds), "p50_ms": statistics.median(spent), "wrong": wrong[0]}


def request(path, body, kind):
    """What is sent for it; `body` is a file."""
    with open(body, "rb") as f:
        data = f.read()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def ask(sock):
    """Whether the next answer on this connection is a 200. Little is done here: it is counted as the server's time."""
    got = b""
    while (end := got.find(b"\r\n\r\n")) < 0:
        part = sock.recv(65536)
        if not part:
            raise EOFError("hung up")
        got += part
    left = int(LENGTH(got).group(1)) - (len(got) - end - 4)
    while left > 0:
        left -= len(sock.recv(min(65536, left)))
    return got.startswith(b"HTTP/1.1 200")


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
