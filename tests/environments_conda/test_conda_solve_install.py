"""Real solving and installing, from a channel in a folder."""

import json
import os
import subprocess
import sys

import pytest

from rookery.environments.conda.install import install_conda
from rookery.environments.conda.lock import CondaLock
from rookery.environments.conda.program import conda_cache_folder, prune_conda_cache
from rookery.environments.conda.solve import solve_conda
from rookery.environments.conda.variables import conda_variables
from rookery.environments.python.uv_program import find_uv
from rookery.environments.specification.wanted import Wanted, from_conda
from rookery.errors import EnvironmentBuildError
from tests.environments_build.wheels import write_wheel
from tests.environments_conda.channel_maker import ChannelMaker, CondaPackage
from tests.environments_conda.channel_server import silent
from tests.environments_conda.conftest import VERSION, python_package

pytestmark = pytest.mark.usefixtures("with_rattler")


def wanted(channel, *dependencies):
    return from_conda({"name": "birds", "channels": [str(channel.folder)], "dependencies": list(dependencies)})


def own_wanted(channel, *dependencies):
    """The fixture's folder has a quote, which a specification refuses; the address of it is taken."""
    plain = from_conda({"name": "birds", "dependencies": list(dependencies)})
    return Wanted(plain.python, plain.conda, (channel.url,), plain.pip, name="birds")


def names(lock):
    return {p["name"]: p["version"] for p in lock.packages}


class TestSolve:
    def test_gives_exact_packages_with_addresses_and_hashes(self, channel, log):
        lock = solve_conda(own_wanted(channel, "python", "greet"), log)
        assert names(lock) == {"greet": "1.0", "python": VERSION, "words": "1.1"}
        assert lock.python_version == VERSION
        assert lock.channels == (channel.url,)
        for package in lock.packages:
            assert package["url"].startswith(channel.url + "/noarch/")
            assert len(package["sha256"]) == 64
            assert package["build"] == "0"
        assert "Solved: 3 conda packages" in log.text

    def test_python_comes_along_also_where_nothing_asks_for_it(self, channel, log):
        assert "python" in names(solve_conda(own_wanted(channel, "words"), log))

    @pytest.mark.parametrize(
        ("spec", "version"),
        [("words=1.0", "1.0"), ("words==1.0", "1.0"), ("words 1.0", "1.0"), ("words<1.1", "1.0"), ("words=1", "1.1")],
    )
    def test_conditions_mean_what_conda_means(self, spec, version, channel, log):
        assert names(solve_conda(own_wanted(channel, spec), log))["words"] == version

    def test_the_order_of_channels_decides(self, channel, tmp_path, log):
        other = ChannelMaker(tmp_path / "other").add(CondaPackage("words", "9.0"))
        first = Wanted(conda=own_wanted(channel, "words").conda, channels=(channel.url, other.url))
        assert names(solve_conda(first, log))["words"] == "1.1"
        second = Wanted(conda=first.conda, channels=(other.url, channel.url))
        assert names(solve_conda(second, log))["words"] == "9.0"

    def test_a_dependency_may_name_its_channel(self, channel, tmp_path, log, monkeypatch):
        other = ChannelMaker(tmp_path / "alias" / "own").add(CondaPackage("words", "9.0"))
        monkeypatch.setenv("ROOKERY_CONDA_CHANNEL_ALIAS", other.folder.parent.as_uri())
        lock = solve_conda(own_wanted(channel, "own::words"), log)
        assert names(lock)["words"] == "9.0"

    def test_a_folder_without_hashes_is_hashed(self, tmp_path, log):
        made = ChannelMaker(tmp_path / "bare").add(python_package(), CondaPackage("words"), hashes=False)
        lock = solve_conda(wanted(made, "words"), log)
        assert all(len(p["sha256"]) == 64 for p in lock.packages)

    def test_is_the_same_after_a_trip_through_lines(self, channel, log):
        lock = solve_conda(own_wanted(channel, "greet"), log)
        again = CondaLock.from_lines(lock.to_lines())
        assert again.packages == lock.packages
        assert again.python_version == VERSION
        with pytest.raises(ValueError, match="not the lines"):
            CondaLock.from_lines(['{"name": "x"}'])


class TestErrors:
    def solve(self, channel, log, *dependencies):
        with pytest.raises(EnvironmentBuildError) as caught:
            solve_conda(own_wanted(channel, *dependencies), log)
        return caught.value

    def test_a_version_that_is_not_there_names_those_that_are(self, channel, log):
        error = self.solve(channel, log, "words=7")
        assert "Environment 'birds' could not be built: package 'words': no version meets 'words 7.*'" in error.message
        assert "have: 1.1, 1.0." in error.message
        assert channel.url in error.message
        assert error.details["candidates"] == ["1.1", "1.0"]

    def test_a_python_that_is_not_there(self, channel, log):
        error = self.solve(channel, log, "python=3.6.2")
        assert "package 'python': no version meets 'python 3.6.2.*'" in error.message
        assert f"have: {VERSION}." in error.message

    def test_an_unknown_package_with_a_name_that_is_near(self, channel, log):
        error = self.solve(channel, log, "greeet")
        assert "package 'greeet': none of the channels has it" in error.message
        assert "Did you mean greet?" in error.message

    def test_a_dependency_that_cannot_be_met_is_named(self, channel, log):
        error = self.solve(channel, log, "greet=2")
        assert "package 'words': no version meets 'words >=2'" in error.message
        assert error.details["package"] == "words"
        assert "greet 2.0 would require" in error.message

    def test_a_conflict_names_both_sides(self, channel, log):
        error = self.solve(channel, log, "left", "right")
        assert "do not go together" in error.message
        assert "left" in error.message
        assert "right" in error.message

    def test_a_folder_that_is_no_channel(self, tmp_path, log):
        with pytest.raises(EnvironmentBuildError, match="there is no such folder"):
            solve_conda(Wanted(channels=(str(tmp_path / "nowhere"),)), log)
        (tmp_path / "empty").mkdir()
        with pytest.raises(EnvironmentBuildError, match=r"no noarch/repodata\.json"):
            solve_conda(Wanted(channels=(str(tmp_path / "empty"),)), log)


@pytest.mark.slow
class TestInstall:
    def test_makes_a_prefix_that_works(self, channel, tmp_path, log):
        spec = own_wanted(channel, "greet")
        prefix = tmp_path / "an env's prefix"
        assert install_conda(solve_conda(spec, log), str(prefix), log, wanted=spec) == ()
        said = subprocess.run([str(prefix / "bin" / "greet")], capture_output=True, text=True, timeout=60, check=True)
        assert said.stdout == "hello from conda\n"
        assert (prefix / "share" / "words.txt").read_text() == f"installed in {prefix}\n"
        assert "[3/3]" in log.text
        about = json.loads((prefix / "conda-meta" / "greet-1.0-0.json").read_text())
        assert about["requested_specs"] == ["greet"]

    def test_a_second_one_shares_its_files_by_hard_links(self, channel, tmp_path, log):
        lock = solve_conda(own_wanted(channel, "words"), log)
        for name in ("one", "two"):
            install_conda(lock, str(tmp_path / name), log)
        one, two = (os.stat(tmp_path / name / "share" / "big.txt") for name in ("one", "two"))
        assert one.st_ino == two.st_ino
        assert one.st_nlink == 3  # the cache's own

    def test_needs_no_channel_once_the_packages_are_in_the_cache(self, channel, tmp_path, log):
        lock = solve_conda(own_wanted(channel, "words"), log)
        install_conda(lock, str(tmp_path / "one"), log)
        channel.folder.rename(tmp_path / "gone")
        install_conda(lock, str(tmp_path / "two"), log)
        assert (tmp_path / "two" / "share" / "words.txt").exists()

    def test_a_changed_package_is_refused(self, channel, tmp_path, log):
        lock = solve_conda(own_wanted(channel, "words=1.0"), log)
        ChannelMaker(channel.folder).add(
            python_package(), CondaPackage("words", "1.0", {"share/words.txt": "evil"}, ending=".tar.bz2")
        )
        with pytest.raises(EnvironmentBuildError, match=r"'words'.*not what the lock says"):
            install_conda(lock, str(tmp_path / "one"), log)

    def test_a_rebuilt_package_is_a_new_one(self, channel, tmp_path, log):
        install_conda(solve_conda(own_wanted(channel, "words"), log), str(tmp_path / "one"), log)
        ChannelMaker(channel.folder).add(python_package(), CondaPackage("words", "1.1", {"share/big.txt": "rebuilt"}))
        install_conda(solve_conda(own_wanted(channel, "words"), log), str(tmp_path / "two"), log)
        assert (tmp_path / "one" / "share" / "big.txt").read_text() == "more " * 1000
        assert (tmp_path / "two" / "share" / "big.txt").read_text() == "rebuilt"

    def test_two_packages_of_one_name_do_not_mix(self, channel, tmp_path, log):
        other = ChannelMaker(tmp_path / "other").add(
            python_package(), CondaPackage("words", "1.1", {"share/big.txt": "other words"})
        )
        ours, theirs = (
            solve_conda(Wanted(conda=own_wanted(c, "words").conda, channels=(c.url,)), log) for c in (channel, other)
        )
        for lock, name in ((ours, "a"), (theirs, "b"), (ours, "c")):
            install_conda(lock, str(tmp_path / name), log)
        read = [(tmp_path / n / "share" / "big.txt").read_text()[:5] for n in "abc"]
        assert read == ["more ", "other", "more "]

    def test_scripts_are_named_and_run_only_when_asked(self, channel, tmp_path, log, monkeypatch):
        lock = solve_conda(own_wanted(channel, "scripted", "words"), log)
        (note,) = install_conda(lock, str(tmp_path / "one"), log)
        assert "scripted" in note
        assert "conda_link_scripts" in note
        assert not (tmp_path / "one" / "share" / "ran").exists()
        monkeypatch.setenv("ROOKERY_CONDA_LINK_SCRIPTS", "1")
        assert install_conda(lock, str(tmp_path / "two"), log) == ()
        assert (tmp_path / "two" / "share" / "ran").exists()

    def test_the_cache_can_be_emptied_but_not_during_a_build(self, channel, tmp_path, log):
        prune_conda_cache()  # nothing is there yet
        lock = solve_conda(own_wanted(channel, "words"), log)

        def at_its_first_word(data):
            prune_conda_cache()

        with silent() as where, pytest.raises(EnvironmentBuildError, match="is being built"):
            solve_conda(Wanted(channels=(f"http://{where}",)), at_its_first_word)
        install_conda(lock, str(tmp_path / "one"), log)
        prune_conda_cache()
        assert os.listdir(conda_cache_folder()) == ["in-use"]
        assert (tmp_path / "one" / "share" / "words.txt").exists()
        install_conda(lock, str(tmp_path / "two"), log)

    def test_what_activating_would_set_is_kept(self, channel, tmp_path, log):
        prefix = str(tmp_path / "an env")
        install_conda(solve_conda(own_wanted(channel, "active"), log), prefix, log)
        assert conda_variables(prefix) == {
            "CONDA_PREFIX": prefix,
            "ACTIVE_DATA": f"{prefix}/share",
            "ACTIVE_LEVEL": "2",
            "BROKEN": "it's\nset",
        }
        assert "no_such_command" in log.text
        assert conda_variables(str(tmp_path)) == {"CONDA_PREFIX": str(tmp_path)}

    def test_pip_packages_go_on_top_with_uv(self, channel, tmp_path, log):
        prefix, wheels = tmp_path / "env", tmp_path / "wheels"
        wheels.mkdir()
        install_conda(solve_conda(own_wanted(channel, "greet"), log), str(prefix), log)
        write_wheel(wheels, "alpha", "1.0", {"alpha.py": "import greet\n"})
        python = str(prefix / "bin" / "python")
        command = [find_uv(), "--no-config", "pip", "install", "-q", "--python", python, "--no-index"]
        subprocess.run([*command, "--find-links", str(wheels), "alpha"], check=True, timeout=120)
        code = "import alpha, greet, sys; print(sys.prefix); greet.main()"
        said = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert said.stdout == f"{prefix}\nhello from conda\n"

    def test_rattler_is_never_loaded_here(self, channel, log):
        solve_conda(own_wanted(channel, "words"), log)
        assert "rattler" not in sys.modules
