"""Model.profile: a scoring process brought up for itself, asked every input, watched, and taken down."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from typing import Any

from rookery.engine.runtime import runtime_folder
from rookery.errors import ConflictError, EndpointError, NotFoundError, RookeryError
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.serve import asked, launch
from rookery.serve.front.revision import last_lines
from rookery.serve.host.frames import ANSWER, FAILED, READY, SCORE, STOP, Link, pack

__all__ = ["begin_profile", "show_profile"]

log = logging.getLogger(__name__)
MAX_INPUTS = 100_000
ANSWER_S = 600.0
_EMPTY = {
    "total_queries": 0, "success_queries": 0, "success_rate": 0.0, "average_latency_ms": None, "latency_p50_ms": None,
    "latency_p90_ms": None, "latency_p95_ms": None, "latency_p99_ms": None, "latency_p999_ms": None, "queries_per_second": None,
    "max_utilized_cpu": None, "max_utilized_memory_gb": None,
}  # fmt: skip


def begin_profile(manager: Any, record: Record, body: dict[str, Any], by: str) -> dict[str, Any]:
    """Stores what was asked for and starts; `show_profile` says what has come of it."""
    name = asked.check_name(body["name"], "profile")
    inputs = body["inputs"]
    if not inputs or len(inputs) > MAX_INPUTS:
        raise EndpointError(f"{len(inputs)} inputs were given; a profile takes 1 to {MAX_INPUTS}.")
    with contextlib.suppress(NotFoundError):
        if record.endpoints.profile(name)["state"] == "Running":
            raise ConflictError(f"Profile '{name}' is running. Wait for it, or give another name.")
    what = asked.check_what(record, body.get("models"), body.get("inference"))
    config = asked.check_config({"cpu_cores": body.get("cpu"), "memory_gb": body.get("memory_in_gb")})
    kept = {"what": what, "config": config, "description": body.get("description") or ""}
    row = {
        "state": "Running",
        "error": None,
        "asked": kept,
        "result": dict(_EMPTY),
        "ended_utc": None,
        "created_by": by,
    }
    record.endpoints.put_profile(name, row)
    threading.Thread(
        target=_run, args=(record, manager.workspace, name, kept, inputs), name="rookery-profile", daemon=True
    ).start()
    return show_profile(record.endpoints.profile(name))


def show_profile(row: dict[str, Any]) -> dict[str, Any]:
    kept = row["asked"]
    return {
        "name": row["name"],
        "state": row["state"],
        "error": row["error"],
        "models": kept["what"]["models"],
        "description": kept["description"],
        "cpu": kept["config"].get("cpu_cores"),
        "memory_in_gb": kept["config"].get("memory_gb"),
        **row["result"],
        "created_utc": row["created_utc"],
        "ended_utc": row["ended_utc"],
    }


def _run(record: Record, paths: Any, name: str, kept: dict[str, Any], inputs: list[str]) -> None:
    folder = f".profile-{secrets.token_hex(4)}"
    served = paths.served(folder)
    values: dict[str, Any] = {}
    try:
        wanted = {"revision": 1, "what": kept["what"], "config": kept["config"]}
        made = launch.prepare(record, paths, folder, "default", wanted, lambda data: None)
        values = {"state": "Succeeded", "result": _measure(made, inputs)}
    except RookeryError as error:
        values = {"state": "Failed", "error": _error(error.message, served.log("default"))}
    except Exception as error:
        log.exception("Profile %s failed", name)
        values = {"state": "Failed", "error": _error(f"It could not be measured: {error!r}.", served.log("default"))}
    finally:
        shutil.rmtree(served.root, ignore_errors=True)
    try:
        record.endpoints.put_profile(name, {**values, "ended_utc": utc_now()})
    except Exception:
        log.exception("The end of profile %s could not be stored", name)


def _measure(made: dict[str, Any], inputs: list[str]) -> dict[str, Any]:
    path = os.path.join(runtime_folder(), f"p-{secrets.token_hex(8)}.sock")
    log_fd = os.open(made["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    process = subprocess.Popen(
        [*made["argv"], path],
        env=made["env"],
        cwd=made["cwd"],
        stdin=subprocess.DEVNULL,
        stdout=log_fd,
        stderr=log_fd,
        start_new_session=True,
    )
    os.close(log_fd)
    try:
        link = _connect(path, process)
        first = link.read(ANSWER_S)
        if first is None or first[1] == FAILED:
            raise EndpointError(f"init() failed: {first[2].get('summary') if first else 'it took too long'}")
        assert first[1] == READY
        return _ask_all(link, process, inputs)
    except EOFError as error:
        raise EndpointError("The scoring process died.") from error
    finally:
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(process.pid, signal.SIGKILL)
        process.wait()
        with contextlib.suppress(OSError):
            os.unlink(path)


def _connect(path: str, process: subprocess.Popen[bytes]) -> Link:
    until = time.monotonic() + ANSWER_S
    while process.poll() is None and time.monotonic() < until:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(path)
            return Link(sock)
        except OSError:
            sock.close()
            time.sleep(0.02)
    raise EndpointError(f"The scoring process did not come up (exit code {process.poll()}).")


def _ask_all(link: Link, process: subprocess.Popen[bytes], inputs: list[str]) -> dict[str, Any]:
    head = {"m": "POST", "c": "application/json"}
    spent: list[float] = []
    good, began, cpu = 0, time.perf_counter(), _cpu_s(process.pid)
    memory = _memory(process.pid)
    for number, text in enumerate(inputs, 1):
        start = time.perf_counter()
        link.send(pack(number, SCORE, head, text.encode("utf-8")))
        answer = link.read(ANSWER_S)
        if answer is None or answer[1] != ANSWER:
            raise EndpointError(f"Input {number} was not answered within {ANSWER_S:g} s.")
        spent.append((time.perf_counter() - start) * 1000)
        good += answer[2]["s"] < 400
        memory = max(memory, _memory(process.pid))
    took = max(1e-9, time.perf_counter() - began)
    used = _cpu_s(process.pid) - cpu
    with contextlib.suppress(EOFError):
        link.send(pack(0, STOP, {}))
    spent.sort()
    at = {f"latency_p{key}_ms": round(spent[min(len(spent) - 1, int(len(spent) * share))], 3) for key, share in _SHARES}
    return {
        "total_queries": len(inputs),
        "success_queries": good,
        "success_rate": round(100.0 * good / len(inputs), 3),
        "average_latency_ms": round(sum(spent) / len(spent), 3),
        **at,
        "queries_per_second": round(len(inputs) / took, 3),
        "max_utilized_cpu": round(used / took, 3),
        "max_utilized_memory_gb": round(memory / 1024**3, 3),
    }


_SHARES = (("50", 0.5), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("999", 0.999))


def _cpu_s(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def _memory(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as f:
            return int(f.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _error(words: str, path: str) -> dict[str, Any]:
    return json.loads(json.dumps({"code": "profile", "summary": words, "last_lines": last_lines(path)}))
