"""A private home, a folder of wheels made on the fly, and pip configured to look there and nowhere else."""

from __future__ import annotations

import os
import shlex
import stat

import pytest

from rookery.environments.python import uv_program
from tests.environments_build.wheels import write_wheel

REAL_UV = os.environ.get("ROOKERY_UV", "")  # read before the home fixture drops every ROOKERY_ variable


@pytest.fixture(autouse=True)
def uv(home, monkeypatch):
    """The uv that the outer session named, or the installed one."""
    if REAL_UV:
        monkeypatch.setenv("ROOKERY_UV", REAL_UV)
    return uv_program.find_uv()


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder with a few wheels, the only place where packages are found."""
    folder = tmp_path / "wheels, of ours"
    folder.mkdir()
    for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\nno-index = true\n")
    link = tmp_path / "links"
    link.symlink_to(folder)  # pip's lists are split at spaces
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    monkeypatch.setenv("PIP_FIND_LINKS", str(link))
    write_wheel(folder, "alpha", "1.0", {"alpha/__init__.py": "__version__ = '1.0'\n"})
    write_wheel(folder, "alpha", "2.0", {"alpha/__init__.py": "__version__ = '2.0'\n"})
    write_wheel(folder, "beta", "1.0", {"beta.py": "import alpha\n"}, requires=["alpha"])
    write_wheel(folder, "gamma", "1.0", {"gamma.py": ""}, requires=["alpha<2"])
    return folder


@pytest.fixture
def counting_uv(uv, tmp_path, monkeypatch):
    """uv behind a script that notes each call, and sleeps before a command that is named in a file called
    `stall`.
    """
    calls, stall, script = tmp_path / "calls", tmp_path / "stall", tmp_path / "counting uv"
    q = shlex.quote
    script.write_text(
        f'#!/bin/sh\necho "$*" >> {q(str(calls))}\n'
        f'if [ -e {q(str(stall))} ]; then case "$*" in *"$(cat {q(str(stall))})"*) touch '
        f"{q(str(stall))}.reached; sleep 300;; esac; fi\n"
        f'exec {q(uv)} "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ROOKERY_UV", str(script))
    calls.write_text("")

    class Counting:
        def calls(self, word):
            return [line for line in calls.read_text().splitlines() if f" {word} " in f" {line} "]

        def stall(self, words):
            stall.write_text(words)

        def go_on(self):
            stall.unlink()

        def is_stalled(self):
            return os.path.exists(str(stall) + ".reached")

    return Counting()
