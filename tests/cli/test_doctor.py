import sys

import pytest

from rookery.cli import checks, session
from rookery.cli.torch_check import check_torch
from rookery.cli.verdict import BROKEN, INFO, MISSING, OK, Check
from rookery.errors import StorageError


@pytest.fixture
def well(monkeypatch, keeper, tmp_path):
    monkeypatch.setattr(checks, "check_torch", lambda python: [Check("torch", OK, "2.13")])
    monkeypatch.setattr(session, "describe_workspace", lambda: "here")
    monkeypatch.setattr(session, "workspace_root", lambda: str(tmp_path / "not" / "there"))


def states(said):
    return {c["name"]: c["state"] for c in said.json["checks"]}


class TestDoctor:
    def test_a_machine_that_is_well(self, cli, well):
        said = cli("doctor", "--json")
        assert said.code == 0
        assert said.json["ok"] is True
        assert {
            "Python",
            "cores",
            "memory",
            "GPUs",
            "disk",
            "torch",
            "git",
            "Open MPI",
            "Slurm",
            "Ray",
            "Node.js",
            "Chromium",
            "keeper",
        } <= set(states(said))
        assert states(said)["workspace"] == OK

    def test_what_is_not_there_says_how_to_get_it(self, cli, well, monkeypatch):
        monkeypatch.setattr(
            checks, "PROGRAMS", (checks._Program("Frob", ("frob-nope",), "frobbing", "apt-get install frob"),)
        )
        said = cli("doctor")
        assert "not found; for: frobbing" in said.out
        assert "apt-get install frob" in said.out
        assert said.code == 0

    def test_a_broken_workspace_is_an_exit_code(self, cli, well, monkeypatch):
        def broken():
            raise StorageError("The disk is full.")

        monkeypatch.setattr(session, "client", broken)
        said = cli("doctor", "--json")
        assert said.code == 1
        assert states(said)["workspace"] == BROKEN
        assert "Broken: workspace" in cli("doctor").out

    def test_a_full_disk_is_broken(self, cli, well, monkeypatch):
        monkeypatch.setattr(checks, "LEAST_DISK_BYTES", 10**18)
        assert states(cli("doctor", "--json"))["disk"] == BROKEN

    def test_a_missing_package_is_broken(self, cli, well, monkeypatch):
        monkeypatch.setattr(checks, "NEEDED", ("yaml", "no_such_package_here"))
        said = cli("doctor", "--json")
        assert states(said)["packages"] == BROKEN
        assert said.code == 1

    def test_a_check_that_fails_is_no_end(self, cli, well, monkeypatch):
        monkeypatch.setattr(checks, "_gpus", lambda: 1 / 0)
        assert states(cli("doctor", "--json"))["GPUs"] == MISSING

    def test_fits_a_narrow_terminal(self, cli, well):
        out = cli("doctor", columns=60).out
        assert all(len(line) < 80 for line in out.splitlines() if "fix:" not in line and "/" not in line)


class TestCheckTorch:
    def answer(self, tmp_path, text):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\necho noise\necho '{text}'\n")
        python.chmod(0o755)
        return {c.name: c.state for c in check_torch(str(python))}

    def test_says_what_it_found(self, tmp_path):
        assert self.answer(tmp_path, '{"torch": "2", "cuda": null, "gpus": 0, "torchvision": "0.28"}') == {
            "torch": OK,
            "torchvision": OK,
        }
        assert self.answer(tmp_path, '{"torch": "2", "cuda": "12", "gpus": 1, "no_torchvision": "x"}') == {
            "torch": OK,
            "torchvision": INFO,
        }
        mismatch = '{"torch": "2", "cuda": null, "gpus": 0, "torchvision": "0.28", "mismatch": "no nms"}'
        assert self.answer(tmp_path, mismatch) == {"torch": OK, "torchvision": MISSING}
        assert self.answer(tmp_path, '{"no_torch": "x"}') == {"torch": MISSING}

    def test_an_interpreter_that_is_none(self):
        assert [c.state for c in check_torch("/no/python")] == [MISSING]

    def test_the_question_is_one_that_python_understands(self, tmp_path):
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # -S: no site-packages, so no torch
        python.chmod(0o755)
        assert [c.detail for c in check_torch(str(python))] == [f"not in {python}"]
