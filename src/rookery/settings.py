"""Every setting, in one table: name, type, default, meaning. Standard library only, Python 3.9 and newer.

A setting is looked up in the environment (`ROOKERY_<NAME>`), then in the workspace's `settings.json`, then in
`$ROOKERY_HOME/settings.json`, and is its default otherwise. `docs/settings.md` lists them all; a test compares.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import ConfigError

__all__ = ["SETTINGS", "Setting", "get_setting", "rookery_home"]


@dataclass(frozen=True)
class Setting:
    name: str
    kind: type
    default: Any
    meaning: str

    @property
    def variable(self) -> str:
        return "ROOKERY_" + self.name.upper()


_ALL = [
    Setting(
        "strict_config",
        bool,
        False,
        "`Workspace.from_config()` raises where no config.json is found, as v1 did, instead of using the person's default workspace",
    ),
    Setting(
        "keeper_idle_s", float, 300.0, "seconds without work, open streams or requests after which the keeper leaves"
    ),
    Setting("keeper_start_timeout_s", float, 30.0, "how long a client waits for a keeper that it started"),
    Setting(
        "keeper_port", int, 0, "TCP port of the keeper on loopback; 0 takes a free one the first time and keeps it"
    ),
    Setting(
        "agents_host",
        str,
        "",
        "address on which the keeper listens for agents on other machines; empty: the one that faces the cluster, found when a target is attached",
    ),
    Setting("agents_port", int, 0, "its TCP port; 0 takes a free one the first time and keeps it"),
    Setting(
        "agents_tls_cert",
        str,
        "",
        "PEM file with the certificate (and its chain) of the listener for agents; with it agents speak TLS",
    ),
    Setting(
        "agents_tls_key", str, "", "PEM file with the private key of that certificate, where it is not in the same file"
    ),
    Setting(
        "agents_tls_ca",
        str,
        "",
        "PEM file that agents verify the certificate with; empty: they accept exactly that certificate",
    ),
    Setting(
        "server_ca",
        str,
        "",
        "PEM file that clients verify the certificate of a server at https://… with; empty: what the machine trusts",
    ),
    Setting("cancel_grace_s", float, 10.0, "seconds between SIGTERM and SIGKILL when a run is stopped"),
    Setting(
        "failure_grace_s",
        float,
        0.5,
        "seconds between SIGTERM and SIGKILL for the other ranks of a run when one of them has failed",
    ),
    Setting(
        "stall_timeout_s",
        float,
        1800.0,
        "seconds without any progress after which a distributed run counts as stalled and fails; 0 never. A run's own variable ROOKERY_STALL_TIMEOUT_S comes first, and is the only one for a single process",
    ),
    Setting(
        "modules_python",
        str,
        "",
        "the interpreter that runs the modules of pipelines where a graph names no environment; empty: the keeper's own. It needs `rookery[vision]`",
    ),
    Setting("preempt_grace_s", float, 30.0, "seconds between SIGTERM and SIGKILL when a node is preempted"),
    Setting("preempted_s", float, 10.0, "how long a preempted node stays away before another may come up in its place"),
    Setting(
        "low_priority_retries",
        int,
        3,
        "how often a run on a low-priority cluster is tried again after a lost node, where it does not say itself",
    ),
    Setting(
        "elastic_wait_s",
        float,
        60.0,
        "how long a run that may go on with fewer nodes (min_nodes) waits for all of them after it lost one",
    ),
    Setting("heartbeat_s", float, 5.0, "seconds between an agent's heartbeats and resource samples"),
    Setting(
        "node_cache_bytes",
        int,
        20 * 1024**3,
        "how much of a node's disk the cache of contents (snapshots' files, wheels) may take; what was used longest ago goes first",
    ),
    Setting(
        "node_unused_days",
        float,
        45.0,
        "after so many days without use a node's agents remove code, payloads, environments and left-over folders of runs there",
    ),
    Setting("missed_heartbeats", int, 6, "heartbeats missed before a run is shown as NotResponding"),
    Setting(
        "visitor_lost_s",
        float,
        300.0,
        "after how much silence an interactive run on another machine (`start_logging()` against a server) counts as lost",
    ),
    Setting("local_slots", int, 0, "runs that the target 'local' executes at the same time; 0 means one per CPU core"),
    Setting(
        "snapshot_warn_bytes",
        int,
        300 * 1024 * 1024,
        "size of a source folder above which submit names its five largest paths",
    ),
    Setting("keep_work_folder", bool, False, "keep a run's private working folder after the run has ended"),
    Setting(
        "artifact_root",
        str,
        "",
        "fsspec URL of the content store (s3://…, gs://…); empty is the workspace's own folder",
    ),
    Setting(
        "data_hash_bytes",
        int,
        50 * 1024**3,
        "data on folders up to this size is told apart by the SHA-256 of every file; larger sets by size and time of their files",
    ),
    Setting(
        "data_cache_bytes",
        int,
        50 * 1024**3,
        "how much of the keeper's own disk fetched data of runs may take; what was used longest ago goes first",
    ),
    Setting("upload_max_files", int, 200_000, "files that a zip or a folder uploaded as a data set may hold"),
    Setting("upload_max_bytes", int, 50 * 1024**3, "bytes that a zip uploaded as a data set may unpack to"),
    Setting("database_url", str, "", "SQLAlchemy URL of the record; empty is SQLite in the workspace's folder"),
    Setting("deleted_run_days", float, 30.0, "days after which `rookery gc` removes a deleted run for good"),
    Setting("run_token_hours", float, 24.0 * 31, "how long a run's own token is valid"),
    Setting("tracking_token_hours", float, 24.0, "how long the token in `ws.get_mlflow_tracking_uri()` is valid"),
    Setting(
        "external_stale_s",
        float,
        900.0,
        "seconds without a word from its client after which a run that an MLflow client has started is shown as stale",
    ),
    Setting("user_token_days", float, 90.0, "how long a user's token is valid where its maker does not say"),
    Setting("session_hours", float, 12.0, "how long a login in the browser is valid"),
    Setting(
        "studio_session_hours",
        float,
        720.0,
        "how long a browser that `rookery studio` has opened for the owner stays logged in",
    ),
    Setting("audit_rows", int, 100_000, "how many rows the audit log keeps; the oldest go first"),
    Setting(
        "webhook_retry_s",
        float,
        5.0,
        "pause before a webhook's delivery that failed is tried again; it grows fourfold up to an hour, ten tries in all",
    ),
    Setting(
        "original_packages",
        str,
        "",
        "packages that are installed as they are although Rookery stands in for them; a comma list with wildcards, like azureml-core,horovod",
    ),
    Setting(
        "allow_python_drift",
        bool,
        False,
        "where no installed interpreter has the requested minor version, take the nearest one instead of failing; the run says so",
    ),
    Setting(
        "requirement_sources",
        str,
        "https",
        "where a requirement may come from besides the indexes; a comma list of https, http, git, file",
    ),
    Setting(
        "curated_literal",
        bool,
        False,
        "curated environments hold the versions that their names say, as far as these can be had, instead of today's",
    ),
    Setting("environment_build_timeout_s", float, 3600.0, "how long one environment may take to resolve and build"),
    Setting(
        "environment_retry_s",
        float,
        300.0,
        "how long a failed environment build is remembered: runs that want the same one get its error at once instead of another try",
    ),
    Setting(
        "conda",
        str,
        "auto",
        "where packages asked of conda come from: `native` all from the channels, `auto` from the channels only where the Python index has no equal, `never`",
    ),
    Setting("conda_python", str, "", "an interpreter that has py-rattler, where Rookery's own has not"),
    Setting(
        "conda_channel_alias",
        str,
        "https://conda.anaconda.org",
        "address below which a conda channel's name is looked up; channel_alias of a .condarc stands unless this is changed",
    ),
    Setting(
        "conda_default_channels",
        str,
        "https://repo.anaconda.com/pkgs/main,https://repo.anaconda.com/pkgs/r",
        "the channels that `defaults` stands for, a comma list; default_channels of a .condarc stands unless this is changed",
    ),
    Setting("conda_channel_timeout_s", float, 10.0, "how long a conda channel may take to answer at all"),
    Setting(
        "conda_link_scripts",
        bool,
        False,
        "run the scripts that conda packages bring to be run after installing; without it the build log names them",
    ),
    Setting(
        "containers",
        str,
        "auto",
        "runs whose environment names an image: auto runs them in a container where one is to be had and says so where not, strict fails instead, never uses none",
    ),
    Setting(
        "container_runtime",
        str,
        "",
        "podman, docker, apptainer or singularity, or the path of one; empty takes the first that works",
    ),
    Setting(
        "container_flags",
        str,
        "",
        "flags for the container runtime that go before its verb, like --root /data/containers",
    ),
    Setting("container_pull", bool, True, "images that are not on this machine may be pulled"),
]
SETTINGS: dict[str, Setting] = {s.name: s for s in _ALL}


def rookery_home() -> str:
    """The person's own folder: `ROOKERY_HOME`, else `~/.rookery`."""
    return os.path.abspath(os.path.expanduser(os.environ.get("ROOKERY_HOME") or "~/.rookery"))


def get_setting(name: str, workspace_root: Optional[str] = None) -> Any:
    """The value in force, with its declared type.

    Raises:
        KeyError: there is no such setting.
        ConfigError: the value given cannot be read as the setting's type.
    """
    setting = SETTINGS[name]
    text = os.environ.get(setting.variable)
    if text is not None and text != "":
        return _parse(setting, text, "environment variable " + setting.variable)
    for folder in _folders(workspace_root):
        path = os.path.join(folder, "settings.json")
        values = _read(path)
        if name in values:
            return _parse(setting, values[name], path)
    return setting.default


def _folders(workspace_root: Optional[str]) -> Iterable[str]:
    if workspace_root:
        yield workspace_root
    yield rookery_home()


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            values = json.load(f)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Mend or remove it.") from error
    if not isinstance(values, dict):
        raise ConfigError(f'{path} must hold a JSON object of settings, like {{"strict_config": true}}.')
    return values


def _parse(setting: Setting, value: Any, where: str) -> Any:
    if setting.kind is bool:
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
    else:
        try:
            return setting.kind(value)
        except (TypeError, ValueError):
            pass
    raise ConfigError(f"{where}: {value!r} is not a valid {setting.kind.__name__} for the setting '{setting.name}'.")
