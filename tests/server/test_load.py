"""Two hundred writers at a time: no error, and not one value lost, doubled or changed.

`make soak` gives it a minute (LOAD_SECONDS); its last result is in docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import struct
import time

import pytest

WRITERS = 200
SECONDS = float(os.environ.get("LOAD_SECONDS", "10"))
PATIENCE_S = 240.0  # for an answer: the machine has other work as well
LOGGED = "/api/2.0/mlflow/runs/log-batch"


def memory_mb(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024**2


def value_of(writer, n):
    """A number that only this writer sends, at this place."""
    return struct.unpack("<d", b"\x00\x00" + hashlib.sha256(f"{writer}/{n}".encode()).digest()[:5] + b"\x40")[0]


def checksum(values):
    return hashlib.sha256(struct.pack(f"<{len(values)}d", *values)).hexdigest()


class Line:
    """A connection that is kept open, with next to no cost of its own: the server is what is under load."""

    def __init__(self, port, token):
        self._port = port
        self._common = f"Host: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def __aenter__(self):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_error):
        self._writer.close()
        await self._writer.wait_closed()

    async def post(self, path, body):
        data = json.dumps(body)
        self._writer.write(f"POST {path} HTTP/1.1\r\n{self._common}Content-Length: {len(data)}\r\n\r\n{data}".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
        answer = await self._reader.readexactly(length)
        assert head.startswith("http/1.1 200"), (head, answer)


class Writer:
    """One client: every other one speaks MLflow's language, three values at a time. What it was told is stored, is."""

    def __init__(self, number, run):
        self.number, self.run = number, run
        self.metric, self.is_tracker = f"w{number}", number % 2 == 1
        self.stored, self.slowest_s = 0, 0.0

    async def write_until(self, end, port, token):
        async with Line(port, token) as line:
            while time.monotonic() < end or self.stored == 0:
                count = 3 if self.is_tracker else 1
                values = [value_of(self.number, n) for n in range(self.stored, self.stored + count)]
                began = time.monotonic()
                await (self.track(line, values) if self.is_tracker else self.log(line, values))
                self.slowest_s = max(self.slowest_s, time.monotonic() - began)
                self.stored += count

    async def log(self, line, values):
        records = [["m", None, self.metric, value, self.stored, time.time()] for value in values]
        await line.post(f"/api/v1/runs/{self.run}/records", {"records": records})

    async def track(self, line, values):
        metrics = [
            {"key": self.metric, "value": value, "timestamp": 1_700_000_000_000 + n, "step": n}
            for n, value in enumerate(values, self.stored)
        ]
        await line.post(LOGGED, {"run_id": self.run, "metrics": metrics})


async def write(writers, port, token):
    end = time.monotonic() + SECONDS
    await asyncio.gather(*(writer.write_until(end, port, token) for writer in writers))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_hundred_writers_lose_nothing(keepers, paths, database, request, record_property):
    if database == "postgresql":
        keepers.environment["ROOKERY_DATABASE_URL"] = request.getfixturevalue("postgres").emptied()
    process, byte = keepers.start()
    assert byte == b"1", process.communicate(timeout=60)[1][-3000:]
    runs = []
    with keepers.client() as owner:
        owner.timeout = PATIENCE_S
        assert owner.put("/experiments/load").status_code == 200
        experiment = owner.get("/experiments/load").json()["id"]
        tracked = owner.base_url.copy_with(path="/")
        for _ in range(20):
            made = owner.post(str(tracked) + "api/2.0/mlflow/runs/create", json={"experiment_id": experiment})
            assert made.status_code == 200, made.text
            runs.append(made.json()["run"]["info"]["run_id"])
    with open(paths.token) as f:
        token = f.read().strip()
    before = memory_mb(process.pid)
    began = time.monotonic()
    writers = [Writer(n, runs[n % len(runs)]) for n in range(WRITERS)]
    asyncio.run(write(writers, keepers.endpoint()["port"], token))
    took = time.monotonic() - began
    grown = memory_mb(process.pid) - before
    with keepers.client() as owner:
        stored = {
            (run, metric["name"]): metric
            for run in runs
            for metric in owner.get(f"/runs/{run}/metrics", timeout=PATIENCE_S).json()["metrics"]
        }
    assert len(stored) == WRITERS
    for writer in writers:
        found = stored[writer.run, writer.metric]
        assert len(found["values"]) == writer.stored
        assert found["steps"] == list(range(writer.stored))
        assert checksum(found["values"]) == checksum([value_of(writer.number, n) for n in range(writer.stored)])
    assert grown < 200
    figures = {
        "database": database, "writers": WRITERS, "seconds": round(took, 1), "values": sum(w.stored for w in writers),
        "requests": sum(w.stored // (3 if w.is_tracker else 1) for w in writers), "slowest_s": round(max(w.slowest_s for w in writers), 2),
        "grown_mb": round(grown), "checksum": checksum([v for w in writers for v in stored[w.run, w.metric]["values"]])[:12],
    }  # fmt: skip
    record_property("load", json.dumps(figures))
    print(json.dumps(figures))
