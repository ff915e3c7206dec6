"""Azure Blob and Google Cloud Storage on loopback for tests: Azurite (npm) and gcp-storage-emulator (PyPI), real servers that real
clients ask.

What they need is in `.venv-stores`, made at first use; the clients' packages (adlfs, gcsfs) are put last on this process's path.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from rookery.testing.ports import free_port

__all__ = ["ACCOUNT", "ACCOUNT_KEY", "azurite", "ensure_store_clients", "gcs_emulator"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".venv-stores")
WANTED = ("gcsfs", "adlfs", "gcp-storage-emulator==2026.7.19")
AZURITE = "azurite@3.35.0"
# Azurite's own, the same on every machine and known to everybody.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
LIMIT_S = 120.0
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
# Two things that the emulator lacks: requests at the same time, and objects of no bytes.
_EMULATOR = """
from http import server
server.HTTPServer = server.ThreadingHTTPServer
from gcp_storage_emulator import server as emulator
read = emulator._read_data
def read_also_nothing(handler, query):
    data = read(handler, query)
    return b"" if data is None and handler.command in ("POST", "PUT") and "/upload/" in handler.path else data
emulator._read_data = read_also_nothing
from gcp_storage_emulator.__main__ import main
main()
"""


def ensure_store_clients() -> str:
    """The interpreter that has them; this process can import them too.

    Raises:
        RuntimeError: they cannot be installed here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with _locked():
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run([python, "-c", "import gcsfs, adlfs, gcp_storage_emulator"], capture_output=True).returncode:
            constraints = os.path.join(ROOT, "constraints.txt")
            _run([python, "-m", "pip", "install", "-q", "--no-input", "-c", constraints, *WANTED])
    place = sysconfig.get_paths(vars={"base": FOLDER, "platbase": FOLDER})["purelib"]
    if place not in sys.path:
        sys.path.append(place)  # last: what the project's own environment has stays
    return python


@contextlib.contextmanager
def azurite(folder: str) -> Iterator[str]:
    """The address of an Azure Blob server that keeps its blobs below a folder."""
    ensure_store_clients()
    build = _studio_build()
    home = os.path.join(FOLDER, "azurite")
    script = os.path.join(home, "node_modules", "azurite", "dist", "src", "blob", "main.js")
    node = build.find_node()
    with _locked():
        if not os.path.exists(script):
            os.makedirs(home, exist_ok=True)
            beside = {**os.environ, "PATH": os.path.dirname(node) + os.pathsep + os.environ.get("PATH", "")}
            options = ["--prefix", home, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]
            _run([node, build._npm(), "install", *options, AZURITE], env=beside)
    port = free_port()
    command = [node, script, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder]
    with _server([*command, "--silent", "--skipApiVersionCheck", "--disableTelemetry"], port):
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"


@contextlib.contextmanager
def gcs_emulator() -> Iterator[str]:
    """The address of a server that speaks Google Cloud Storage's JSON interface and keeps objects in memory."""
    python = ensure_store_clients()
    port = free_port()
    command = [python, "-c", _EMULATOR, "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory"]
    with _server(command, port):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def _server(command: list[str], port: int) -> Iterator[None]:
    # Not a pipe: a server whose words nobody reads would stop when it is full.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        try:
            deadline = time.monotonic() + LIMIT_S
            while not _answers(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    said.seek(0)
                    told = said.read().decode(errors="replace")[-1000:]
                    raise RuntimeError(f"{os.path.basename(command[0])} does not answer: {told}")
                time.sleep(0.1)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _end_with_parent() -> None:
    """Also where the tests are killed."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
    except urllib.error.HTTPError:
        return True  # it refuses, so it is there
    except OSError:
        return False
    return True


def _studio_build() -> Any:
    """studio/build.py: it knows where Node is, and gets one from PyPI where there is none."""
    spec = importlib.util.spec_from_file_location("studio_build", os.path.join(ROOT, "studio", "build.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    with open(FOLDER + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str], **more: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:5])} failed: {(done.stderr + done.stdout)[-1500:]}")
