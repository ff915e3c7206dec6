"""config.json: which workspace is meant from here.

v1's three keys (`subscription_id`, `resource_group`, `workspace_name`, or a legacy `Scope`) plus ours:
`"rookery": {"format": 1, "path": "<relative to this file, or absolute>"}` or `"rookery": {"format": 1, "url":
"http://host:port"}`, with `"ca": "<PEM file>"` where a server at https:// shows a certificate that the machine does
not trust by itself. A file with v1's keys only (downloaded from Azure) means the person's own workspace of
that name.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from rookery.client.folder import create_workspace, open_workspace, workspaces_folder
from rookery.errors import ConfigError, UserError, WorkspaceNotFoundError
from rookery.settings import get_setting, rookery_home
from rookery.spec.names import check_workspace_name
from rookery.spec.paths import WorkspacePaths

__all__ = ["WorkspaceAddress", "find_config", "find_workspace", "keep_token", "read_config", "write_config"]

FORMAT = 1
DEFAULT_WORKSPACE = "default"
_FOLDERS = (".azureml", "aml_config", "")
_FILES = ("config.json", "project.json")
_said: set[str] = set()
_V1_KEYS = ("subscription_id", "resource_group", "workspace_name")


@dataclass(frozen=True)
class WorkspaceAddress:
    """Where a workspace is (`root`, a folder here, or `url`, a server) and what it calls itself."""

    name: str
    subscription_id: str
    resource_group: str
    location: str = "local"
    root: Optional[str] = None
    url: Optional[str] = None
    token: Optional[str] = None
    config_path: Optional[str] = None
    ca: Optional[str] = None  # PEM file that the server's certificate is verified with


def find_workspace(path: Optional[str] = None) -> WorkspaceAddress:
    """The workspace meant from `path` (a config file, or where to look from; default: the current folder).

    Where no config is found it is the person's default workspace, made on first use and said in one line on
    stderr.

    Raises:
        ConfigError: the config cannot be used; or none was found, and the setting strict_config is on or
            `path` names a file.
    """
    found = find_config(path)
    if found is not None:
        return read_config(found)
    start = os.path.abspath(path or os.getcwd())
    if get_setting("strict_config") or start.endswith(".json"):
        raise ConfigError(
            "No workspace config was found: looked for config.json in .azureml/, aml_config/ "
            f"and the folder itself, from {start} upwards. "
            "Make a workspace here with `rookery init`, or give the path of a config.json."
        )
    root = os.path.join(workspaces_folder(), DEFAULT_WORKSPACE)
    _use_own(root, DEFAULT_WORKSPACE, None, None)
    _say(f"rookery: no config.json from {start} upwards; using your default workspace in {root}")
    return _address_of(root, None)


def find_config(path: Optional[str] = None) -> Optional[str]:
    """The config file meant by `path`, by v1's rule: a file is itself; else from that folder upwards, in
    `.azureml/`, `aml_config/`, then the folder itself, `config.json`, then `project.json`."""
    start = os.path.abspath(path or os.getcwd())
    if os.path.isfile(start):
        return start
    if start.endswith(".json"):
        return None  # a file was meant, and it is not there: another one further up would be a surprise
    for folder in _upwards(start):
        for place in _FOLDERS:
            for name in _FILES:
                candidate = os.path.join(folder, place, name)
                if os.path.isfile(candidate) and (place or _is_ours(candidate)):
                    return candidate
    return None


def read_config(path: str) -> WorkspaceAddress:
    """What the config file at `path` says. A workspace of the person's own is made if it is not there yet.

    Raises:
        ConfigError: it is corrupt, lacks keys, is of a newer format, or leads nowhere. Each says what to do.
    """
    path = os.path.abspath(path)
    data = _load(path)
    subscription, group, name = _identifiers(path, data)
    ours = data.get("rookery")
    if ours is None:
        return _own_workspace(path, subscription, group, name)
    _check_ours(path, ours)
    if "url" in ours:
        url = _check_url(path, ours["url"])
        token = ours.get("token") or os.environ.get("ROOKERY_TOKEN") or _kept_token(url)
        ca = os.path.join(os.path.dirname(path), os.path.expanduser(ours["ca"])) if ours.get("ca") else None
        return WorkspaceAddress(name, subscription, group, url=url, token=token, config_path=path, ca=ca)
    root = os.path.realpath(os.path.join(os.path.dirname(path), os.path.expanduser(ours["path"])))
    try:
        identity = open_workspace(root)
    except WorkspaceNotFoundError as error:
        raise ConfigError(
            f"{path} says that the workspace '{name}' is in {root}, but there is none. Mend "
            "'path' in it if the folder was moved, "
            "or remove the file and make a workspace with `rookery init`."
        ) from error
    return WorkspaceAddress(name, subscription, group, identity.location, root=root, config_path=path)


def write_config(address: WorkspaceAddress, path: Optional[str] = None, file_name: Optional[str] = None) -> str:
    """Write the config file that leads to `address`; the path of the file. Default: ./.azureml/config.json.
    No token is written: the file is part of every snapshot."""
    folder = os.path.abspath(path) if path else os.path.join(os.getcwd(), ".azureml")
    target = os.path.join(folder, file_name or "config.json")
    ours: dict[str, Any] = {"format": FORMAT}
    if address.url:
        ours["url"] = address.url
        if address.ca:
            ours["ca"] = _path_from(os.path.realpath(folder), os.path.realpath(address.ca))
    else:
        ours["path"] = _path_from(os.path.realpath(folder), os.path.realpath(address.root or ""))
    data = {
        "subscription_id": address.subscription_id,
        "resource_group": address.resource_group,
        "workspace_name": address.name,
        "rookery": ours,
    }
    try:
        os.makedirs(folder, exist_ok=True)
        temporary = f"{target}.{os.getpid()}.tmp"
        with open(temporary, "w", encoding="utf-8") as f:
            f.write(json.dumps(data, indent=4) + "\n")
        os.replace(temporary, target)
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}. Give another path.") from error
    return target


def keep_token(url: str, token: Optional[str]) -> str:
    """Keeps the token for a server in $ROOKERY_HOME/tokens.json (mode 600), or forgets it (None); the path of that file."""
    path = os.path.join(rookery_home(), "tokens.json")
    tokens = _kept_tokens(path)
    tokens.pop(url + "/", None)
    tokens.pop(url, None)
    if token is not None:
        tokens[url] = token
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(rookery_home(), mode=0o700, exist_ok=True)
        # Made anew with its mode: a file that others could read before is not written to.
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(json.dumps(tokens, indent=2) + "\n")
        os.replace(temporary, path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _is_ours(path: str) -> bool:
    """Whether a config.json that lies in a folder of its own right is one of a workspace. Many programs call
    their file so (a model's config.json beside a training script): one that holds none of our keys is not
    meant."""
    try:
        data = _load(path)
    except ConfigError:
        return True  # it cannot be told; reading it raises, as in v1, and says what to do
    return "rookery" in data or "Scope" in data or any(key in data for key in _V1_KEYS)


def _load(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as f:  # the portal's download may begin with a byte order mark
            data = json.load(f)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ConfigError(
            f"{path} is not valid JSON ({error}). Mend it, or remove it and run `rookery init`."
        ) from error
    if not isinstance(data, dict):
        raise ConfigError(
            f"{path} must hold a JSON object with {', '.join(_V1_KEYS)}. Mend it, or remove it and run `rookery init`."
        )
    return data


def _identifiers(path: str, data: dict[str, Any]) -> tuple[str, str, str]:
    scope = data.get("Scope")
    if isinstance(scope, str) and not any(key in data for key in _V1_KEYS):
        parts = scope.split("/")
        if len(parts) > 8 and parts[2] and parts[4] and parts[8]:
            return parts[2], parts[4], parts[8]
        raise ConfigError(
            f"{path}: Scope {scope!r} is not of the form "
            "/subscriptions/<id>/resourceGroups/<group>/providers/<provider>/workspaces/<name>."
        )
    missing = [key for key in _V1_KEYS if not isinstance(data.get(key), str) or not data[key]]
    if missing:
        raise ConfigError(
            f"{path} lacks {', '.join(missing)}. It must hold {', '.join(_V1_KEYS)} as strings. "
            "Add what is missing, "
            "or remove the file and run `rookery init`."
        )
    return data["subscription_id"], data["resource_group"], data["workspace_name"]


def _check_ours(path: str, ours: Any) -> None:
    if not isinstance(ours, dict) or not isinstance(ours.get("format"), int):
        raise ConfigError(
            f"{path}: 'rookery' must be an object with 'format' and 'path' or 'url'. Write the "
            "file again with `rookery init`."
        )
    if ours["format"] > FORMAT:
        raise ConfigError(
            f"{path} has format {ours['format']}; this version of Rookery reads up to {FORMAT}. "
            "Upgrade it: pip install -U rookery."
        )
    if "ca" in ours and not isinstance(ours["ca"], str):
        raise ConfigError(f"{path}: 'ca' must be the path of a PEM file, as a string.")
    given = [key for key in ("path", "url") if isinstance(ours.get(key), str) and ours[key]]
    if len(given) != 1:
        raise ConfigError(f"{path}: 'rookery' must have either 'path' (a folder) or 'url' (a server), as a string.")


def _check_url(path: str, url: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{path}: {url!r} is not a server's address. It has the form http://host:port.")
    return url.rstrip("/")


def _own_workspace(path: str, subscription: str, group: str, name: str) -> WorkspaceAddress:
    try:
        check_workspace_name(name)
    except UserError as error:
        raise ConfigError(f"{path}: {error}") from error
    root = os.path.join(workspaces_folder(), name)
    if _use_own(root, name, subscription, group):
        _say(f"rookery: {path} names the Azure workspace '{name}'; using a local one of that name, made in {root}")
    identity = open_workspace(root)
    return WorkspaceAddress(name, subscription, group, identity.location, root=identity.root, config_path=path)


def _use_own(root: str, name: str, subscription: Optional[str], group: Optional[str]) -> bool:
    """Make one of the person's own workspaces if it is not there; whether it was made."""
    if os.path.exists(WorkspacePaths(root).identity):
        return False
    create_workspace(root, name, subscription, group, exist_ok=True)
    return True


def _address_of(root: str, config_path: Optional[str]) -> WorkspaceAddress:
    identity = open_workspace(root)
    return WorkspaceAddress(
        identity.name,
        identity.subscription_id,
        identity.resource_group,
        identity.location,
        root=identity.root,
        config_path=config_path,
    )


def _kept_token(url: str) -> Optional[str]:
    """The token for a server from $ROOKERY_HOME/tokens.json: {url: token}."""
    tokens = _kept_tokens(os.path.join(rookery_home(), "tokens.json"))
    token = tokens.get(url) or tokens.get(url + "/")
    return token if isinstance(token, str) else None


def _kept_tokens(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            tokens = json.load(f)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Mend or remove it.") from error
    return tokens if isinstance(tokens, dict) else {}


def _path_from(folder: str, root: str) -> str:
    """Relative while it stays near (a project that is moved takes its workspace along), else absolute."""
    relative = os.path.relpath(root, folder)
    return relative if relative.count("..") <= 2 else root


def _say(line: str) -> None:
    """Once per process: scripts call from_config() in every module."""
    if line not in _said:
        _said.add(line)
        print(line, file=sys.stderr, flush=True)
