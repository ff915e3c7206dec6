"""Channel names → addresses, as conda itself would read them: from the settings, the user's .condarc and CONDA_ variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from rookery.errors import ConfigError, UserError
from rookery.settings import SETTINGS, get_setting
from rookery.spec.safe_yaml import load_yaml, read_text

__all__ = ["CondaConfig", "channel_urls", "read_conda_config", "without_secret"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCHEMES = ("http", "https", "file", "s3", "gcs", "oci")
_TOKEN = re.compile(r"/t/[^/]+(?=/)")
PRIORITIES = ("strict", "flexible", "disabled")


@dataclass(frozen=True)
class CondaConfig:
    """What decides where conda packages come from.

    custom: name → the address below which a channel of this name is. several: name → the channels it stands for.
    ssl_verify: True, False, or a file of certificates. proxies: scheme → address.
    """

    alias: str
    default_channels: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    custom: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ssl_verify: bool | str = True
    proxies: Mapping[str, str] = field(default_factory=dict)
    priority: str = "flexible"

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """The variables with which the program that downloads is started."""
        values = {k: v for k, v in outer.items() if not k.startswith("PYTHON")}
        bundle = self.ssl_verify if isinstance(self.ssl_verify, str) else values.get("REQUESTS_CA_BUNDLE", "")
        if isinstance(self.ssl_verify, str) or (bundle and not values.get("SSL_CERT_FILE")):
            values["SSL_CERT_FILE"] = bundle
        for scheme, address in self.proxies.items():
            if scheme in ("http", "https"):
                values.setdefault(f"{scheme}_proxy", address)
                values.setdefault(f"{scheme.upper()}_PROXY", address)
        return values


def read_conda_config(workspace_root: str | None = None) -> CondaConfig:
    """The configuration in force. A setting that was changed wins over the user's .condarc, which wins over the default.

    Raises:
        ConfigError: a file or a value cannot be read.
    """
    said: dict[str, Any] = {}
    for path in _condarc_paths(os.environ):
        said.update(_read_condarc(path))
    for name in ("channel_alias", "ssl_verify", "channel_priority"):
        if os.environ.get("CONDA_" + name.upper()):
            said[name] = os.environ["CONDA_" + name.upper()]
    for name in ("channels", "default_channels"):
        if os.environ.get("CONDA_" + name.upper()):
            said[name] = re.split(r"[,&]", os.environ["CONDA_" + name.upper()])
    alias = _setting_or("conda_channel_alias", said.get("channel_alias"), workspace_root)
    defaults = _setting_or("conda_default_channels", ",".join(_texts(said, "default_channels")), workspace_root)
    priority = str(said.get("channel_priority", "flexible")).lower()
    return CondaConfig(
        alias=alias.rstrip("/"),
        default_channels=tuple(c.strip() for c in defaults.split(",") if c.strip()),
        channels=_texts(said, "channels"),
        custom={str(k): str(v).rstrip("/") for k, v in _mapping(said, "custom_channels").items()},
        several={
            str(k): tuple(map(str, v if isinstance(v, list) else [v]))
            for k, v in _mapping(said, "custom_multichannels").items()
        },
        ssl_verify=_verify(said.get("ssl_verify", True)),
        proxies={str(k): str(v) for k, v in _mapping(said, "proxy_servers").items() if v},
        priority=priority if priority in PRIORITIES else "flexible",
    )


def channel_urls(channels: Sequence[str], config: CondaConfig) -> dict[str, str]:
    """The addresses of some channels, in their order → what the specification called each.

    Where a specification names none, the .condarc's are taken, else `defaults`. `nodefaults` only means that nothing is
    added to the list, which is never done here.

    Raises:
        UserError: one is a relative path, or of a kind that cannot be read.
    """
    named = [c for c in channels if c != "nodefaults"] or list(config.channels) or ["defaults"]
    found: dict[str, str] = {}
    for name in named:
        for url in _urls(name, config, ()):
            found.setdefault(url, name)
    return found


def without_secret(text: str) -> str:
    """A text without the passwords and tokens in its addresses."""
    return _TOKEN.sub("/t/<hidden>", re.sub(r"(?<=://)[^/\s@]*@", "", text))


def _urls(name: str, config: CondaConfig, seen: tuple[str, ...]) -> list[str]:
    if name in seen:
        raise ConfigError(f"custom_multichannels: '{name}' stands for itself. Mend the .condarc.")
    if name == "defaults" and name not in config.several:
        return [url for c in config.default_channels for url in _urls(c, config, (*seen, name))]
    if name in config.several:
        return [url for c in config.several[name] for url in _urls(c, config, (*seen, name))]
    if _SCHEME.match(name):
        if urlsplit(name).scheme.lower() not in _SCHEMES:
            raise UserError(
                f"Channel '{without_secret(name)}' begins with {urlsplit(name).scheme}://. "
                f"Allowed: {', '.join(s + '://' for s in _SCHEMES)}."
            )
        parts = urlsplit(name)
        return [urlunsplit(parts._replace(path=quote(parts.path, safe="/%:@~+=,;!$&'()*"))).rstrip("/")]
    if name.startswith(("/", "~")):
        return [Path(os.path.expanduser(name)).as_uri()]
    if name.startswith(".") or "\\" in name:
        raise UserError(
            f"Channel '{name}' is a relative path, and builds have no folder to start from. Write it whole."
        )
    # The longest beginning wins: `internal` serves `internal/label/dev` as well.
    fitting = [k for k in config.custom if name == k or name.startswith(k + "/")]
    base = config.custom[max(fitting, key=len)] if fitting else config.alias
    if not _SCHEME.match(base):
        base = _urls(base, config, (*seen, name))[0]
    return [base.rstrip("/") + "/" + quote(name)]


def _condarc_paths(variables: Mapping[str, str]) -> list[str]:
    """conda's own list, the strongest last."""
    home = os.path.expanduser("~")
    root, prefix = variables.get("CONDA_ROOT", ""), variables.get("CONDA_PREFIX", "")
    folders = ["/etc/conda", root, os.path.join(variables.get("XDG_CONFIG_HOME") or f"{home}/.config", "conda")]
    paths = [os.path.join(f, n) for f in folders if f for n in (".condarc", "condarc")]
    paths += [os.path.join(home, ".conda", ".condarc"), os.path.join(home, ".conda", "condarc")]
    paths.append(os.path.join(home, ".condarc"))
    if prefix:
        paths.append(os.path.join(prefix, ".condarc"))
    if variables.get("CONDARC"):
        paths.append(os.path.expanduser(variables["CONDARC"]))
    return paths


def _read_condarc(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    try:
        values = load_yaml(read_text(path), path)
    except UserError as error:
        raise ConfigError(f"{path} cannot be read: {error.message} Mend or remove it.") from error
    return {str(k): _expanded(v) for k, v in (values or {}).items()} if isinstance(values, Mapping) else {}


def _expanded(value: Any) -> Any:
    """With ${VARIABLES} put in, as conda does."""
    if isinstance(value, str):
        return os.path.expandvars(value)
    if isinstance(value, list):
        return [_expanded(v) for v in value]
    return {k: _expanded(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _setting_or(name: str, said: Any, workspace_root: str | None) -> str:
    value = str(get_setting(name, workspace_root))
    return value if value != SETTINGS[name].default or not said else str(said)


def _texts(said: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = said.get(name) or ()
    return tuple(str(v).strip() for v in ([values] if isinstance(values, str) else values))


def _mapping(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = said.get(name)
    return value if isinstance(value, Mapping) else {}


def _verify(value: Any) -> bool | str:
    word = str(value).strip()
    if isinstance(value, bool) or word.lower() in (
        "true",
        "false",
        "yes",
        "no",
        "1",
        "0",
        "<truststore>",
        "truststore",
    ):
        return word.lower() not in ("false", "no", "0")
    path = os.path.expanduser(word)
    if not os.path.exists(path):
        raise ConfigError(f"ssl_verify: there is no file '{word}'. Name a file of certificates, true or false.")
    return path
