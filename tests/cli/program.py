"""The real program in a folder of its own, as a person calls it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

from rookery.testing.ports import free_port

ROOKERY = os.path.join(os.path.dirname(sys.executable), "rookery")
TIMEOUT_S = 120


class Program:
    """`program("ps")` calls it in `folder`, with a ROOKERY_HOME of its own, and expects exit code 0 or `code`."""

    def __init__(self, folder, home, **variables):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("ROOKERY_", "AZUREML_", "MLFLOW_"))}
        self.env.update(ROOKERY_HOME=str(home), ROOKERY_CANCEL_GRACE_S="2", TERM="xterm", COLUMNS="80")
        self.env.update(ROOKERY_KEEPER_START_TIMEOUT_S=str(TIMEOUT_S), **variables)
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.env.pop("NO_COLOR", None)

    def __call__(self, *words, code=0, given=None):
        """given: what comes on standard input."""
        stdin = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
        done = subprocess.run(
            [ROOKERY, *words],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            **stdin,
        )
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr or "run" in words
        return done

    def json(self, *words, code=0, given=None):
        """What it prints with --json, which is nothing but JSON."""
        done = self(*words, "--json", code=code, given=given)
        return json.loads(done.stdout, parse_constant=refuse)

    def fails(self, *words, code=1, given=None):
        """(the words of the error, its code): the plain call says on stderr what --json says on stdout."""
        plain = self(*words, code=code, given=given)
        assert plain.stdout == "", f"{words}: an error is nothing for stdout, but it said {plain.stdout!r}"
        error = self.json(*words, code=code, given=given)["error"]
        assert plain.stderr.splitlines()[-1].startswith("error: ") or code == 2
        assert error["message"] in plain.stderr
        return error["message"], error["code"]

    def start(self, *words):
        return subprocess.Popen(
            [ROOKERY, *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    @contextlib.contextmanager
    def server(self, *words, port=0):
        """`rookery server` on a free port of loopback, or that one, once it answers; its address. Ended as by systemd."""
        port = port or free_port()
        with open(self.folder / "server.log", "a") as log:
            process = subprocess.Popen(
                [ROOKERY, "server", "--port", str(port), "--json", *words],
                cwd=self.folder,
                env=self.env,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                stdin=subprocess.DEVNULL,
            )
        try:
            line = process.stdout.readline()
            assert line, (self.folder / "server.log").read_text()
            url = json.loads(line)["url"]
            wait_for_port(port, process, lambda: (self.folder / "server.log").read_text())
            yield url
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)


def wait_for_port(port, process, said=lambda: ""):
    """Until something listens on a port of loopback; AssertionError, with what was said, when the process has ended."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        assert process.poll() is None, said()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return
        assert time.monotonic() < deadline, said()
        time.sleep(0.05)


def refuse(name):
    raise AssertionError(f"{name} is not JSON")
