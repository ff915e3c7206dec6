"""Boot and agent on a machine that sees nothing of the workspace, of our code, or of ROOKERY_HOME."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rookery.agent import boot
from rookery.engine.jobs import write_job
from rookery.engine.kit import boot_text
from rookery.spec.compute import Reach
from rookery.spec.job import Job, KeeperAddress
from rookery.spec.plain import from_plain, to_plain
from rookery.testing.certificates import Certificate, make_certificate

from .conftest import RUN, SECOND, Coop

PRINTS = "import os, sys\nprint('hello from', sys.version_info[:2], os.environ['ROOKERY_RUN_ID'])\n"


def some_pythons() -> list[str]:
    """This one, and the oldest and the newest that this machine has besides."""
    found = glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))
    found.sort(key=lambda path: [int(n) for n in path.split(os.sep)[-3].split(".") if n.isdigit()])
    return sorted({sys.executable, *found[:1], *found[-1:]})


def test_a_run_on_a_machine_that_sees_nothing(coop: Coop) -> None:
    node = coop.node()
    script = PRINTS + (
        "from azureml.core import Run\nRun.get_context().log('loss', 0.5)\n"
        f"print('hidden', os.listdir({coop.paths.root!r}), os.listdir({str(coop.folder / 'home')!r}))\n"
        "open('outputs/net.txt', 'w').write('weights')\nprint(os.path.realpath('.'))\n"
    )
    code, said = node.run(coop.boot_text(coop.run(script)))
    assert (code, said) == (0, "")
    log = coop.log()
    assert "hello from" in log
    assert "hidden [] []" in log
    assert node.home in log
    run = coop.get()
    assert run["status"] == "Completed", run
    assert coop.record.artifacts.get(RUN, "outputs/net.txt")
    assert coop.record.metrics.get(RUN)
    # Nothing of the run stays; what the next one can use does.
    assert not os.path.exists(node.path("runs", RUN))
    assert len(os.listdir(node.path("kit"))) == 2  # the folder and its lock
    assert stat.S_IMODE(os.stat(node.path()).st_mode) == 0o700


@pytest.mark.slow
def test_signals_that_an_engine_has_blocked(coop: Coop) -> None:
    """An engine's process may block or ignore what an agent needs: a child's end, a request to stop."""
    script = "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
    try:
        code, said = coop.node().run(coop.boot_text(coop.run(script)))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert (code, said) == (0, "")
    assert coop.log() == "set()\n"


@pytest.mark.slow
def test_what_is_there_is_not_fetched_again(coop: Coop) -> None:
    node = coop.node()
    assert node.run(coop.boot_text(coop.run(PRINTS)))[0] == 0
    kit = glob.glob(node.path("kit", "[0-9a-f]*"))[0]
    before = os.stat(os.path.join(kit, "rookery", "__init__.py")).st_ino
    text = coop.boot_text(coop.run(PRINTS, SECOND))
    for sha256 in (coop.kit._code, coop.kit._payload):
        os.unlink(coop.record.content.local_path(sha256) or "")
    assert node.run(text)[0] == 0
    assert os.stat(os.path.join(kit, "rookery", "__init__.py")).st_ino == before
    assert SECOND in coop.log(SECOND)


@pytest.mark.slow
def test_many_files_come_together(coop: Coop) -> None:
    files = {f"package/module_{n}.py": b"N = %d\n" % n for n in range(300)}
    script = "import glob\nfrom package.module_299 import N\nprint(N, len(glob.glob('package/*.py')))\n"
    asked: list[str] = []
    requests = coop.record.content.open
    coop.record.content.open = lambda sha256: asked.append(sha256) or requests(sha256)  # type: ignore[method-assign]
    node = coop.node()
    assert node.run(coop.boot_text(coop.run(script, more=files)))[0] == 0
    assert coop.log() == "299 300\n", coop.get()["error"]
    assert not os.path.exists(node.path("runs", RUN))
    # With one file changed only that one is fetched.
    asked.clear()
    files["package/module_299.py"] = b"N = 'new'\n"
    assert node.run(coop.boot_text(coop.run(script, SECOND, more=files)))[0] == 0
    assert coop.log(SECOND) == "new 300\n"
    assert len(asked) == 1


def test_the_zips_are_the_same_whoever_packs_them(coop: Coop) -> None:
    coop.kit.prepare()
    other = type(coop.kit)(coop.record, coop.paths)
    other.prepare()
    assert (other._code, other._payload) == (coop.kit._code, coop.kit._payload)


@pytest.mark.slow
@pytest.mark.parametrize("python", some_pythons())
def test_every_python(coop: Coop, python: str) -> None:
    code, said = coop.node().run(coop.boot_text(coop.run(PRINTS)), python=python)
    ask = [python, "-c", "import sys; print(sys.version_info >= (3, 9))"]
    if subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip() == "True":
        assert (code, said) == (0, "")
        assert coop.get()["status"] == "Completed"
    else:
        assert code == boot.OLD_PYTHON
        assert "needs Python 3.9 or newer" in said
        assert said.count("\n") == 1


def test_a_node_without_a_ticket(coop: Coop) -> None:
    code, said = coop.node().run(coop.boot_text(coop.run(PRINTS)), node=3)
    assert code == boot.NO_TICKET
    assert "which has: 0" in said


def test_a_keeper_that_is_not_there(coop: Coop) -> None:
    job = coop.run(PRINTS)
    coop.boot_text(job)
    common = {
        "run": job.run_id,
        "attempt": 1,
        "token": job.token,
        "keeper": {"url": "http://127.0.0.1:9"},
        "kit": "0" * 64,
        "payload": "0" * 64,
        "payload_name": "p",
        "wait_s": 0.1,
    }
    root = "@ROOKERY_NODE_HOME@/runs/x"
    code, said = coop.node().run(boot_text({"common": common, "nodes": {"0": {"root": root}}}))
    assert code == boot.NO_KEEPER
    assert "http://127.0.0.1:9 cannot be reached" in said.splitlines()[-1]
    assert job.token not in said


def test_an_attempt_that_is_over(coop: Coop) -> None:
    text = coop.boot_text(replace(coop.run(PRINTS), attempt=1))
    coop.controller.cancel(RUN)
    code, said = coop.node().run(text)
    assert code == boot.OVER
    assert "is over" in said


def test_a_wrong_token(coop: Coop) -> None:
    text = coop.boot_text(coop.run(PRINTS)).replace(coop.record.tokens.make(RUN, "agent"), "rkr_nonsense")
    code, said = coop.node().run(text)
    assert code == boot.REFUSED, said


@pytest.mark.slow
def test_what_comes_damaged(coop: Coop) -> None:
    text = coop.boot_text(coop.run(PRINTS))
    path = coop.record.content.local_path(coop.kit._code) or ""
    os.chmod(path, 0o644)
    with open(path, "r+b") as f:
        f.write(b"????")
    node = coop.node()
    code, said = node.run(text)
    assert code == boot.DAMAGED, said
    assert not glob.glob(node.path("kit", "[0-9a-f]*"))
    assert not glob.glob(node.path("kit", ".partial*"))


@pytest.mark.slow
def test_a_home_that_cannot_be_used(coop: Coop) -> None:
    node = coop.node()
    with open(os.path.join(node.home, ".rookery"), "w"):
        pass
    (coop.folder / "var").mkdir()
    text = coop.boot_text(coop.run(PRINTS)).replace("/var/tmp/", str(coop.folder / "var") + "/")
    code, said = node.run(text)
    assert code == 0
    assert f"using {coop.folder}/var/rookery-node-{os.getuid()}, because" in said  # in words, and the run goes on
    code, said = node.run(coop.boot_text(coop.run(PRINTS, SECOND), node_home="/proc/nowhere"))
    assert code == boot.NO_FOLDER
    assert "/proc/nowhere cannot be used" in said


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "another.example"])
@pytest.mark.parametrize("kind", ["own", "authority", "stranger"])
def test_tls(coop: Coop, tmp_path: Path, kind: str, host: str) -> None:
    """The keeper's very own certificate is accepted by any name; one that is only signed must have the right one."""
    authority = make_certificate(str(tmp_path), "authority")
    shown = make_certificate(str(tmp_path), "keeper", host, None if kind == "own" else authority)
    trusted = {"own": shown, "authority": authority, "stranger": make_certificate(str(tmp_path), "stranger")}[kind]
    text = coop.boot_text(coop.run(PRINTS))
    with TlsFront(coop.url, shown) as front:
        keeper = KeeperAddress(url=front.url, certificate=trusted.pem)
        job = replace(coop.run(PRINTS), keeper=keeper)
        write_job(coop.place(job).paths, job)
        text = coop.kit.make_boot([coop.place(job)], keeper, Reach(shared_files=False))
        code, said = coop.node().run(text)
    if kind == "own" or (kind == "authority" and host == "127.0.0.1"):
        assert (code, said) == (0, "")
        assert "hello from" in coop.log()
    else:
        assert code == boot.REFUSED
        assert "is not the keeper" in said


class TlsFront:
    """A server that shows a certificate and passes everything on to another."""

    def __init__(self, url: str, certificate: Certificate) -> None:
        self._to = (urlsplit(url).hostname, urlsplit(url).port)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.cert, certificate.key)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> TlsFront:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            self._context.wrap_socket(plain, server_side=True) as guest,
            socket.create_connection(self._to) as host,
        ):
            back = threading.Thread(target=_pass, args=(host, guest), daemon=True)
            back.start()
            _pass(guest, host)
            back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def test_shared_files(coop: Coop) -> None:
    """The same program where the workspace's folder is seen: the job lies there, and code comes from there."""
    job = coop.run(PRINTS)
    place = coop.place(job)
    text = replace_home(job, coop.paths.root)
    write_job(place.paths, text)
    program = coop.kit.make_boot([place], KeeperAddress(), Reach(shared_files=True))
    node = coop.node()
    code, said = node.run(program)
    assert code == boot.NOT_SHARED  # it is hidden
    assert "is not seen on this node" in said
    node.hidden = node.hidden[:1]
    code, said = node.run(program)
    assert (code, said) == (0, "")
    assert "hello from" in coop.log()
    assert not os.path.exists(node.path("runs"))


def replace_home(job: Job, root: str) -> Job:
    text = json.dumps(to_plain(job)).replace("@ROOKERY_NODE_HOME@", json.dumps(root)[1:-1])
    return from_plain(Job, json.loads(text))
