"""Channels behind HTTP: reached, refused, silent, with a password, with a certificate."""

import os
import shutil
import time

import pytest

from rookery.environments.conda.install import install_conda
from rookery.environments.conda.lock import CondaLock
from rookery.environments.conda.solve import solve_conda
from rookery.environments.specification.wanted import from_conda
from rookery.errors import EnvironmentBuildError
from tests.environments_conda.channel_server import closed_port, make_certificates, serving, silent

pytestmark = pytest.mark.usefixtures("with_rattler")


def wanted(*channels):
    return from_conda({"name": "birds", "channels": list(channels), "dependencies": ["words=1.0"]})


@pytest.mark.slow
class TestWeb:
    def test_solves_and_installs_through_a_channel_alias(self, channel, tmp_path, log, quiet_conda):
        with serving(channel.folder.parent) as where:
            channel.folder.rename(channel.folder.parent / "flock")
            (quiet_conda / ".condarc").write_text(f"channel_alias: http://{where}\n")
            lock = solve_conda(wanted("flock"), log)
            install_conda(lock, str(tmp_path / "env"), log, wanted=wanted("flock"))
        assert lock.channels == (f"http://{where}/flock",)
        assert (tmp_path / "env" / "share" / "words.txt").read_text() == f"installed in {tmp_path / 'env'}\n"
        assert "downloading words 1.0 0" in log.text

    def test_a_changed_package_is_refused(self, channel, tmp_path, log):
        with serving(channel.folder) as where:
            lock = solve_conda(wanted(f"http://{where}"), log)
            package = channel.folder / "noarch" / "words-1.0-0.tar.bz2"
            shutil.copy(channel.folder / "noarch" / "left-1.0-0.conda", package)
            with pytest.raises(EnvironmentBuildError, match="package 'words'"):
                install_conda(lock, str(tmp_path / "env"), log)

    def test_a_package_that_is_gone_is_named(self, channel, tmp_path, log):
        with serving(channel.folder) as where:
            lock = solve_conda(wanted(f"http://{where}"), log)
            os.unlink(channel.folder / "noarch" / "words-1.0-0.tar.bz2")
            with pytest.raises(EnvironmentBuildError, match=r"package 'words': it could not be downloaded.*404"):
                install_conda(lock, str(tmp_path / "env"), log)

    def test_nobody_there_is_said_at_once(self, log):
        where = f"http://{closed_port()}/flock"
        with pytest.raises(EnvironmentBuildError) as caught:
            solve_conda(wanted(where), log)
        message = caught.value.message
        assert f"conda channel {where} cannot be reached: Connection refused" in message
        assert "It is needed for words=1.0." in message
        assert "conda_channel_alias" in message
        assert "pip:" in message

    def test_an_unknown_host_is_said_with_the_name_of_the_channel(self, log, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONDA_CHANNEL_ALIAS", "https://no-such-host.invalid")
        with pytest.raises(
            EnvironmentBuildError, match=r"conda channel conda-forge \(https://no-such-host.invalid/conda-forge\)"
        ):
            solve_conda(wanted("conda-forge"), log)

    def test_a_silent_channel_is_not_waited_for(self, channel, log, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONDA_CHANNEL_TIMEOUT_S", "0.5")
        with silent() as where:
            began = time.monotonic()
            with pytest.raises(EnvironmentBuildError, match=r"did not answer within conda_channel_timeout_s=0\.5 s"):
                solve_conda(wanted(channel.url.replace("'", "%27"), f"http://{where}/flock"), log)
            assert time.monotonic() - began < 200  # as long as it takes to start a process on a busy machine

    def test_a_page_that_is_no_channel(self, tmp_path, log):
        with (
            serving(tmp_path) as where,
            pytest.raises(EnvironmentBuildError, match=f"channel http://{where}/none.*no channel there"),
        ):
            solve_conda(wanted(f"http://{where}/none"), log)


class TestPassword:
    def test_is_used_and_kept_nowhere(self, channel, home, tmp_path, log):
        with serving(channel.folder, login="bird:s3cret") as where:
            spec = wanted(f"http://bird:s3cret@{where}")
            lock = solve_conda(spec, log)
            install_conda(lock, str(tmp_path / "env"), log, wanted=spec)
        assert (tmp_path / "env" / "share" / "words.txt").exists()
        assert "s3cret" not in str(lock)
        assert "s3cret" not in log.text

    def test_a_token_in_the_address_is_used_and_kept_nowhere(self, channel, tmp_path, log):
        hidden = tmp_path / "web" / "t" / "s3cret"
        hidden.mkdir(parents=True)
        channel.folder.rename(hidden / "flock")
        with serving(tmp_path / "web") as where:
            spec = wanted(f"http://{where}/t/s3cret/flock")
            lock = solve_conda(spec, log)
            install_conda(CondaLock.from_lines(lock.to_lines()), str(tmp_path / "env"), log, wanted=spec)
        assert (tmp_path / "env" / "share" / "words.txt").exists()
        assert "s3cret" not in str(lock)
        assert "s3cret" not in log.text

    def test_a_wrong_one_is_said_without_showing_it(self, channel, log):
        with serving(channel.folder, login="bird:s3cret") as where:
            with pytest.raises(EnvironmentBuildError, match="wants to know who you are") as caught:
                solve_conda(wanted(f"http://bird:wr0ng@{where}"), log)
            assert where in caught.value.message
            assert "wr0ng" not in caught.value.message


@pytest.mark.slow
class TestCertificates:
    @pytest.fixture
    def secure(self, channel, tmp_path, monkeypatch):
        if shutil.which("openssl") is None and not os.environ.get("CI"):
            pytest.skip("there is no openssl to make certificates with")
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
            monkeypatch.delenv(name, raising=False)
        authority, certificate, key = make_certificates(tmp_path)
        with serving(channel.folder, certificate=(certificate, key)) as where:
            yield f"https://{where}", authority

    def test_an_unknown_authority_is_refused_with_what_to_do(self, secure, log):
        with pytest.raises(EnvironmentBuildError, match="ssl_verify"):
            solve_conda(wanted(secure[0]), log)

    def test_the_users_own_authority_is_trusted(self, secure, log, quiet_conda):
        (quiet_conda / ".condarc").write_text(f"ssl_verify: {secure[1]}\n")
        assert solve_conda(wanted(secure[0]), log).packages

    def test_verifying_can_be_switched_off(self, secure, log, quiet_conda):
        (quiet_conda / ".condarc").write_text("ssl_verify: false\n")
        assert solve_conda(wanted(secure[0]), log).packages
