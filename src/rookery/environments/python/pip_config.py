"""pip's configuration, read as pip reads it and said in uv's words. uv itself reads none of it."""

from __future__ import annotations

import configparser
import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import unquote, urlsplit

from rookery.environments.specification.requirement import mask
from rookery.errors import ConfigError

__all__ = ["PipConfig", "read_pip_config"]

# A person's own uv settings are theirs: they pass, and win over pip's.
UV_PASSED = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX_STRATEGY",
    "UV_KEYRING_PROVIDER",
    "UV_HTTP_TIMEOUT",
    "UV_HTTP_RETRIES",
    "UV_INSECURE_HOST",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_EXCLUDE_NEWER",
    "UV_TORCH_BACKEND",
    "UV_OFFLINE",
    "UV_CONCURRENT_DOWNLOADS",
    "UV_CONCURRENT_BUILDS",
    "UV_PYTHON_INSTALL_DIR",
    "UV_PYTHON_INSTALL_MIRROR",
)
# Settings whose values are lists, in files on lines of their own and in variables apart by spaces.
_LISTS = ("extra-index-url", "find-links", "constraint", "trusted-host", "only-binary", "no-binary")


@dataclass(frozen=True)
class PipConfig:
    """What is in force for `pip install`."""

    index_url: str = ""
    no_index: bool = False
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()
    no_binary: tuple[str, ...] = ()
    cert: str = ""
    client_cert: str = ""
    proxy: str = ""
    timeout_s: str = ""
    pre: bool = False

    def arguments(self) -> list[str]:
        """For `uv pip compile` and `uv pip install`. Addresses are not among them: they may hold passwords,
        and arguments are public.
        """
        words: list[str] = ["--no-index"] if self.no_index else []
        if self.extra_index_urls:
            words += [
                "--index-strategy",
                "unsafe-best-match",
            ]  # pip looks into all indexes and takes the best
        for folder in self.find_links_folders():
            words += ["--find-links", folder]
        for name in self.only_binary:
            words += ["--only-binary", name]
        for name in self.no_binary:
            words += ["--no-binary", name]
        return [*words, "--prerelease", "allow"] if self.pre else words

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """The variables of a uv process: those of the outer one without Python's, pip's and unknown ones of
        uv, plus pip's settings.
        """
        values = {
            k: v
            for k, v in outer.items()
            if not k.startswith(("PYTHON", "PIP_", "UV_", "VIRTUAL_ENV", "CONDA_", "PYENV_"))
        }
        addresses = [f for f in self.find_links if "://" in f and not f.startswith("file://")]
        ours = {
            "UV_DEFAULT_INDEX": self.index_url,
            "UV_INDEX": " ".join(self.extra_index_urls),
            "UV_FIND_LINKS": ",".join(addresses),
            "UV_INSECURE_HOST": " ".join(self.trusted_hosts),
            "UV_HTTP_TIMEOUT": self.timeout_s,
            "SSL_CERT_FILE": self.cert,
            "SSL_CLIENT_CERT": self.client_cert,
            "ALL_PROXY": self.proxy,
        }
        values.update({k: v for k, v in ours.items() if v})
        values.update({k: outer[k] for k in UV_PASSED if outer.get(k)})
        return values

    def find_links_folders(self) -> tuple[str, ...]:
        """The find-links that are folders of this machine."""
        paths = [
            unquote(urlsplit(f).path) if f.startswith("file://") else os.path.abspath(os.path.expanduser(f))
            for f in self.find_links
            if "://" not in f or f.startswith("file://")
        ]
        return tuple(p for p in paths if os.path.isdir(p))

    def constraint_text(self) -> str:
        """The lines of all constraint files.

        Raises:
            ConfigError: one cannot be read; pip would stop too.
        """
        texts = []
        for path in self.constraints:
            try:
                with open(os.path.expanduser(path.removeprefix("file://")), encoding="utf-8") as f:
                    texts.append(f.read(1024 * 1024))
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(
                    f"pip's configuration names the constraint file {path}, which cannot be read: {error}. "
                    "Mend PIP_CONSTRAINT or pip.conf."
                ) from error
        return "\n".join(texts)

    def fingerprint(self, outer: Mapping[str, str]) -> dict[str, object]:
        """What changes a resolution. Passwords and time limits do not."""
        values: dict[str, object] = {
            k: v
            for k, v in asdict(self).items()
            if k not in ("cert", "client_cert", "proxy", "timeout_s", "trusted_hosts", "constraints")
        }
        values["constraints"] = hashlib.sha256(self.constraint_text().encode()).hexdigest() if self.constraints else ""
        values["uv"] = {k: outer[k] for k in (*UV_PASSED[:6], "UV_EXCLUDE_NEWER", "UV_TORCH_BACKEND") if outer.get(k)}
        values["index_url"] = mask(self.index_url)
        values["extra_index_urls"] = [mask(u) for u in self.extra_index_urls]
        return values

    def with_options(self, options: tuple[tuple[str, str], ...]) -> PipConfig:
        """The same with a requirements file's options on top, as pip takes them."""
        new = self
        for name, value in options:
            if name == "--index-url":
                new = replace(new, index_url=value)
            elif name == "--extra-index-url":
                new = replace(new, extra_index_urls=(*new.extra_index_urls, value))
            elif name == "--find-links":
                new = replace(new, find_links=(*new.find_links, value))
            elif name == "--trusted-host":
                new = replace(new, trusted_hosts=(*new.trusted_hosts, value))
            elif name == "--only-binary":
                new = replace(new, only_binary=(*new.only_binary, *value.split(",")))
            elif name == "--no-binary":
                new = replace(new, no_binary=(*new.no_binary, *value.split(",")))
            elif name == "--no-index":
                new = replace(new, no_index=True)
            elif name == "--pre":
                new = replace(new, pre=True)
        return new


def read_pip_config(outer: Mapping[str, str] | None = None) -> PipConfig:
    """Read the files and variables that `pip install` would, in its order: later files over earlier ones,
    `[install]` over `[global]`, variables over all.

    Raises:
        ConfigError: a file is not one of pip's.
    """
    outer = os.environ if outer is None else outer
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for path in _files(outer):
        for section, values in _read(path).items():
            sections.setdefault(section, {}).update(values)
    values = {**sections["global"], **sections["install"]}
    values.update(
        {
            k[4:].lower().replace("_", "-"): v
            for k, v in outer.items()
            if k.startswith("PIP_") and v and k not in ("PIP_CONFIG_FILE", "PIP_VERSION")
        }
    )
    lists = {name: tuple(values.get(name, "").split()) for name in _LISTS}
    return PipConfig(
        index_url=values.get("index-url", "").strip(),
        no_index=_is_true(values.get("no-index", "")),
        extra_index_urls=lists["extra-index-url"],
        find_links=lists["find-links"],
        constraints=lists["constraint"],
        trusted_hosts=lists["trusted-host"],
        only_binary=_names(lists["only-binary"]),
        no_binary=_names(lists["no-binary"]),
        cert=os.path.expanduser(values.get("cert", "").strip()),
        client_cert=os.path.expanduser(values.get("client-cert", "").strip()),
        proxy=values.get("proxy", "").strip(),
        timeout_s=_whole(values.get("timeout", "") or values.get("default-timeout", "")),
        pre=_is_true(values.get("pre", "")),
    )


def _files(outer: Mapping[str, str]) -> list[str]:
    own = outer.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return []
    home = outer.get("HOME") or os.path.expanduser("~")
    files = [
        os.path.join(d, "pip", "pip.conf") for d in (outer.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep) if d
    ]
    files.append("/etc/pip.conf")
    if not (own and os.path.exists(own)):
        files.append(os.path.join(home, ".pip", "pip.conf"))
        files.append(os.path.join(outer.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf"))
    files.append(os.path.join(sys.prefix, "pip.conf"))
    return [*files, own] if own else files


def _read(path: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        with open(path, encoding="utf-8") as f:
            parser.read_file(f)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise ConfigError(
            f"{path}, a configuration file of pip, cannot be read: {str(error).splitlines()[0]}. Mend it; "
            "pip needs it too."
        ) from error
    return {
        s: {k.lower().replace("_", "-").removeprefix("--"): v for k, v in parser.items(s)} for s in parser.sections()
    }


def _names(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(n for v in values for n in v.split(",") if n and n != ":none:")


def _is_true(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on", "y", "t")


def _whole(text: str) -> str:
    try:
        return str(max(1, round(float(text)))) if text.strip() else ""
    except ValueError:
        return ""
