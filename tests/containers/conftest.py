"""A real runtime: podman with runc in a store of the session's own, and one image made here, because no registry is needed.

What is missing is installed (as root). The image's files are made once per machine and kept in
`$XDG_CACHE_HOME/rookery-tests`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

import pytest

from rookery.environments.containers import contained
from rookery.environments.containers import runtimes as containers
from rookery.testing.debian import apt_alone

IMAGE = "localhost/rookery-tests/python:latest"
PACKAGES = ["podman", "runc", "mmdebstrap"]


@dataclass(frozen=True)
class Podman:
    """A podman with its flags."""

    folder: str

    @property
    def flags(self) -> list[str]:
        # Given as flags, because with variables every removal takes twenty seconds more.
        places = ["--root", os.path.join(self.folder, "store"), "--runroot", os.path.join(self.folder, "run")]
        return [*places, "--cgroup-manager", "cgroupfs", "--runtime", "runc"]

    def __call__(self, *words: str, timeout: float = 120) -> str:
        done = subprocess.run(
            ["podman", *self.flags, *words], capture_output=True, text=True, timeout=timeout, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def names(self) -> list[str]:
        """All containers, running or not."""
        return self("ps", "--all", "--format", "{{.Names}}").split()


@pytest.fixture(scope="session")
def session_podman():
    _install()
    tar = _root_files()
    folder = tempfile.mkdtemp(prefix="rk-")
    podman = Podman(folder)
    try:
        try:
            podman("import", tar, IMAGE, timeout=300)
        except AssertionError as error:
            if os.getuid() != 0:
                pytest.skip(f"podman does not work for this user: {error}")
            raise
        yield podman
        deadline = time.monotonic() + 60
        while podman.names():
            assert time.monotonic() < deadline, f"a test left a container behind: {podman.names()}"
            time.sleep(0.2)
    finally:
        with contextlib.suppress(AssertionError):
            podman("rm", "--all", "--force", "--time", "0")
        deadline = time.monotonic() + 10
        # Again, where what tidies up after a container has mounted it once more.
        while os.path.exists(folder) and time.monotonic() < deadline:
            _remove(folder)


@pytest.fixture
def podman(session_podman, home, monkeypatch):
    """The session's podman, as the settings of this test's keeper."""
    forget()
    monkeypatch.setenv("ROOKERY_CONTAINER_RUNTIME", "podman")
    monkeypatch.setenv("ROOKERY_CONTAINER_FLAGS", " ".join(session_podman.flags))
    yield session_podman
    forget()


@pytest.fixture
def docker(podman, monkeypatch, tmp_path):
    """The docker client, with podman's socket for an engine."""
    if shutil.which("docker") is None:
        _apt("docker.io")
    socket = os.path.join(podman.folder, "docker.sock")
    service = subprocess.Popen(["podman", *podman.flags, "system", "service", "--time=0", f"unix://{socket}"])
    try:
        deadline = time.monotonic() + 120
        while not os.path.exists(socket):
            assert time.monotonic() < deadline
            assert service.poll() is None
            time.sleep(0.02)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{socket}")
        monkeypatch.setenv("ROOKERY_CONTAINER_RUNTIME", "docker")
        monkeypatch.delenv("ROOKERY_CONTAINER_FLAGS")
        yield podman
    finally:
        service.terminate()
        service.wait(60)


def _remove(folder: str) -> None:
    with open("/proc/mounts") as f:
        mounted = [line.split()[1] for line in f if line.split()[1].startswith(folder + "/")]
    for place in sorted(mounted, reverse=True):
        subprocess.run(["umount", "--lazy", place], capture_output=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)


def forget() -> None:
    """What this process remembers of runtimes and images."""
    containers._found.clear()
    contained._known.clear()


def _install() -> None:
    missing = [p for p in PACKAGES if shutil.which(p) is None and not os.path.exists(f"/usr/sbin/{p}")]
    if missing:
        _apt(*missing)


def _apt(*packages: str) -> None:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        pytest.skip(f"needs {', '.join(packages)}: only root can install them, with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with apt_alone():
        for words in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
            done = subprocess.run(
                ["apt-get", *words], env=environment, capture_output=True, text=True, timeout=900, check=False
            )
    assert done.returncode == 0, done.stdout + done.stderr


def _root_files() -> str:
    """A Debian with Python 3.11 as a tar; half a minute the first time."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rookery-tests")
    os.makedirs(folder, exist_ok=True)
    tar = os.path.join(folder, "bookworm-python3.tar")
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(tar):
            command = ["mmdebstrap", "--quiet", "--format=tar", "--variant=minbase"]
            command += ["--include=python3,ca-certificates", "bookworm", tar + ".part"]
            subprocess.run(command, check=True, timeout=900, capture_output=True)
            os.replace(tar + ".part", tar)
    return tar
