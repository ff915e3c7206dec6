"""Many writers at a time, and clients that send rubbish."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time

import httpx
import pytest

WRITERS = 200
SECONDS = float(os.environ.get("LOAD_SECONDS", "10"))  # `make soak` gives it a minute


def memory_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
class TestWriters:
    def test_no_error_and_no_lost_value(self, api):
        names = [f"load-{n}" for n in range(20)]
        for name in names:
            api.run(name)
        sent = asyncio.run(self.write(api, names))
        assert all(count > 0 for count in sent.values())
        for name in names:
            stored = {m["name"]: m["values"] for m in api.record.metrics.get(name)}
            for (run, metric), count in sent.items():
                if run == name:
                    assert stored[metric] == [float(n) for n in range(count)]

    async def write(self, api, names):
        sent = {}
        end = time.monotonic() + SECONDS
        transport = httpx.AsyncHTTPTransport(uds=api.socket, limits=httpx.Limits(max_connections=WRITERS))
        async with httpx.AsyncClient(transport=transport, base_url="http://keeper/api/v1", timeout=120) as client:

            async def one(n):
                run, metric, count = names[n % len(names)], f"w{n}", 0
                while time.monotonic() < end or count == 0:
                    record = ["m", None, metric, float(count), count, time.time()]
                    answer = await client.post(f"/runs/{run}/records", json={"records": [record]})
                    assert answer.status_code < 300, answer.text
                    count += 1
                sent[run, metric] = count

            await asyncio.gather(*(one(n) for n in range(WRITERS)))
        return sent


def send(api, head, body=b"", close_early=False):
    """The status line's number, b'' where the server only closed."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(api.socket)
        try:
            s.sendall(head.encode() + b"\r\n\r\n" + body)
        except OSError:
            pass  # it may answer before everything was sent
        if close_early:
            return None
        answer = s.recv(100)
        return int(answer.split()[1]) if answer else b""


class TestRubbish:
    @pytest.fixture(autouse=True)
    def is_well_after(self, api):
        api.run()
        yield
        assert api.owner.get("/runs/run-1").status_code == 200

    def test_ten_gigabytes_announced(self, api):
        head = "POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10737418240"
        assert send(api, head) == 413

    def test_half_a_body(self, api):
        for path in ("POST /api/v1/runs", f"PUT /api/v1/content/{'a' * 64}"):
            send(api, f"{path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000", b"{" * 1000, close_early=True)

    @pytest.mark.parametrize("path", ["/runs", "/runs/run-1/records", "/content/missing", "/snapshots", "/models"])
    def test_deep_json(self, api, path):
        for body in (b'{"a":' * 100_000, b"[" * 100_000, b'{"records":' + b"[" * 50_000 + b"]" * 50_000 + b"}"):
            answer = api.owner.post(path, content=body, headers={"Content-Type": "application/json"})
            assert 400 <= answer.status_code < 500, answer.text

    def test_an_endless_stream_ends_at_the_limit(self, api):
        def endless():
            while True:
                yield b" " * 1_000_000

        before = memory_bytes()
        try:
            status = api.owner.post(
                "/runs", content=endless(), headers={"Content-Type": "application/json"}
            ).status_code
        except httpx.WriteError:
            status = 413  # it has answered and closed, which the sender notices while it sends
        assert status == 413
        assert memory_bytes() - before < 300 * 1024 * 1024

    def test_a_large_upload_is_not_held_in_memory(self, api):
        size = 300 * 1024 * 1024
        before, most = memory_bytes(), 0

        def pieces():
            nonlocal most
            for _ in range(size // 1_048_576):
                most = max(most, memory_bytes())
                yield bytes(1_048_576)

        answer = api.owner.put("/runs/run-1/artifacts/big", content=pieces())
        assert json.loads(answer.text)["size"] == size
        assert most - before < 64 * 1024 * 1024
