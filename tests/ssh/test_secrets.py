"""Passwords and passphrases: from private files, through ssh's own way of asking."""

from __future__ import annotations

import pytest

from rookery.errors import ComputeError
from rookery.testing.ssh_machine import PASSWORD, SshMachines
from tests.ssh.conftest import told

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    with SshMachines(["m0"], tmp_path_factory.mktemp("ssh-passwords"), passwords=True) as made:
        yield made


def test_a_password_from_a_file(make, tmp_path):
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text(PASSWORD + "\n")
    engine, _ = make(private_key_file="", password_file=str(file))
    assert engine.run_on_node("print(1)", 60).output == "1\n"


def test_a_wrong_password(make, tmp_path):
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text("guessed")
    engine, deaths = make(private_key_file="", password_file=str(file))
    assert "does not let us in" in told(engine, deaths, make)


def test_a_key_with_a_passphrase(make, machines, tmp_path):
    key = machines.make_key("locked", passphrase="open sesame")
    machines.allow(key)
    file = tmp_path / "passphrase"
    file.touch(0o600)
    file.write_text("open sesame")
    engine, _ = make(private_key_file=key, passphrase_file=str(file))
    assert engine.run_on_node("print(1)", 60).output == "1\n"


def test_a_file_that_others_may_read(make, tmp_path):
    file = tmp_path / "password"
    file.write_text(PASSWORD)
    file.chmod(0o644)
    with pytest.raises(ComputeError, match="may be read by others"):
        make(private_key_file="", password_file=str(file))
