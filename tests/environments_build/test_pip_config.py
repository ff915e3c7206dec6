"""pip's configuration in uv's words, compared with what pip itself says."""

import ast
import os
import subprocess
import sys

import pytest

from rookery.environments.python.pip_config import PipConfig, read_pip_config
from rookery.errors import ConfigError


@pytest.fixture
def outer(tmp_path):
    """Variables of a person with nothing configured; the machine's own /etc/pip.conf is hidden by the values
    set in each test.
    """
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    return {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}


def pip_says(outer, key):
    # `pip config get` of older pips does not look into PIP_CONFIG_FILE, though they use it; `list` does.
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        env=outer,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    values = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return ast.literal_eval(values[key])


class TestRead:
    def test_user_file_then_own_file_then_variables(self, outer, tmp_path):
        (tmp_path / ".config" / "pip" / "pip.conf").write_text(
            "[global]\nindex-url = https://user.example/simple\ntimeout = 7\n[install]\nfind-links = /install\n"
        )
        assert read_pip_config(outer).index_url == "https://user.example/simple" == pip_says(outer, "global.index-url")
        assert read_pip_config(outer).find_links == ("/install",)
        own = tmp_path / "own.conf"
        own.write_text("[global]\nindex_url = https://own.example/simple\nfind-links =\n    /a\n    /b\n")
        outer["PIP_CONFIG_FILE"] = str(own)
        config = read_pip_config(outer)
        assert config.index_url == "https://own.example/simple" == pip_says(outer, "global.index-url")
        assert config.find_links == ("/a", "/b")
        assert config.timeout_s == ""  # the user's file is not read beside an own one, as in pip
        outer.update(
            {
                "PIP_INDEX_URL": "https://variable.example/simple",
                "PIP_DEFAULT_TIMEOUT": "180",
                "PIP_NO_INDEX": "0",
                "PIP_EXTRA_INDEX_URL": "https://x https://y",
            }
        )
        config = read_pip_config(outer)
        assert config.index_url == "https://variable.example/simple"
        assert (config.timeout_s, config.no_index, config.extra_index_urls) == (
            "180",
            False,
            ("https://x", "https://y"),
        )

    def test_dev_null_means_no_files(self, outer, tmp_path):
        (tmp_path / ".config" / "pip" / "pip.conf").write_text("[global]\nindex-url = https://user.example/simple\n")
        assert read_pip_config({**outer, "PIP_CONFIG_FILE": os.devnull}) == PipConfig()

    def test_names_a_file_that_is_broken(self, outer, tmp_path):
        path = tmp_path / "own.conf"
        path.write_text("no section = 1\n")
        with pytest.raises(ConfigError, match=r"own\.conf"):
            read_pip_config({**outer, "PIP_CONFIG_FILE": str(path)})


class TestTranslate:
    def test_addresses_go_by_variables_and_folders_by_arguments(self, tmp_path):
        config = PipConfig(
            index_url="https://me:secret@i.example/simple",
            extra_index_urls=("https://e.example/simple",),
            find_links=(str(tmp_path), "https://f.example/w"),
            cert="/ca.pem",
            trusted_hosts=("h1", "h2"),
            timeout_s="9",
        )
        arguments = config.arguments()
        assert arguments == ["--index-strategy", "unsafe-best-match", "--find-links", str(tmp_path)]
        values = config.environment(
            {
                "PATH": "/bin",
                "PIP_INDEX_URL": "x",
                "PYTHONDONTWRITEBYTECODE": "1",
                "UV_CACHE_DIR": "/x",
                "UV_HTTP_TIMEOUT": "11",
            }
        )
        assert values == {
            "PATH": "/bin",
            "UV_DEFAULT_INDEX": "https://me:secret@i.example/simple",
            "UV_INDEX": "https://e.example/simple",
            "UV_FIND_LINKS": "https://f.example/w",
            "SSL_CERT_FILE": "/ca.pem",
            "UV_INSECURE_HOST": "h1 h2",
            "UV_HTTP_TIMEOUT": "11",
        }

    def test_options_of_a_file_come_on_top(self):
        config = PipConfig(index_url="https://a").with_options(
            (("--index-url", "https://b"), ("--extra-index-url", "https://c"), ("--pre", ""), ("--no-binary", "x,y"))
        )
        assert (config.index_url, config.extra_index_urls, config.pre, config.no_binary) == (
            "https://b",
            ("https://c",),
            True,
            ("x", "y"),
        )

    def test_a_password_does_not_change_the_fingerprint_but_an_index_does(self, tmp_path):
        def of(**values):
            return PipConfig(**values).fingerprint({})

        assert of(index_url="https://a:1@h/s") == of(index_url="https://a:2@h/s")
        assert of(index_url="https://h/s") != of(index_url="https://h/t")
        file = tmp_path / "c.txt"
        file.write_text("six<2\n")
        before = of(constraints=(str(file),))
        file.write_text("six<1\n")
        assert of(constraints=(str(file),)) != before

    def test_names_a_constraint_file_that_is_missing(self):
        with pytest.raises(ConfigError, match="PIP_CONSTRAINT"):
            PipConfig(constraints=("/no/such/file",)).constraint_text()
