"""The manager: takes what is asked for, stores it, and brings what is nearer to it until the two agree.

Everything that can be asked is here; how one endpoint is brought up is in `steps.py`, how it is shown in `views.py`.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from rookery.errors import ConflictError, EndpointError, RookeryError
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.serve import asked, keys
from rookery.serve.desired import address_of, free_port
from rookery.serve.fronts import FrontHandle
from rookery.serve.steps import Steps
from rookery.serve.views import show
from rookery.spec.paths import WorkspacePaths

__all__ = ["Manager"]

log = logging.getLogger(__name__)
QUICK_S, SLOW_S = 0.1, 1.0


class Manager:
    """Promises: what a method returned from is stored; any process may be killed at any moment, and the next keeper carries on;
    an update never takes the old revision away before the new one answers.

    Args:
        address: {"host", "tls_cert", "tls_key"} of new fronts, asked whenever one is told where to listen.
    """

    def __init__(self, record: Record, paths: WorkspacePaths, address: Callable[[], dict[str, Any]]) -> None:
        self._record, self._paths, self._address = record, paths, address
        self.workspace = paths
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._stopped = self._is_started = False
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="rookery-deploy")
        self._thread = threading.Thread(target=self._run, name="rookery-serve", daemon=True)
        self._fronts: dict[str, FrontHandle] = {}
        self._leaving: set[str] = set()
        self.steps = Steps(record, paths, self._pool, self._front, self._locked, self._wake.set, address)

    def start(self) -> None:
        """Takes up the endpoints that there are. A manager that has none to manage has no thread."""
        with self._lock:
            if not self._is_started and not self._stopped:
                self._is_started = True
                self._thread.start()

    def stop(self) -> None:
        """Leaves the endpoints as they are: fronts go on, the next keeper finds them."""
        self._stopped = True
        self._wake.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    # -- what can be asked

    def create(self, body: dict[str, Any], by: str) -> dict[str, Any]:
        """A new endpoint; with `overwrite` an update of the one that has this name."""
        name = asked.check_name(body["name"])
        kind = body.get("kind") or "local"
        if kind not in asked.KINDS:
            raise EndpointError(f"kind is {kind!r:.40}; it is one of {', '.join(asked.KINDS)}.")
        if body.get("overwrite") and name in {row["name"] for row in self._record.endpoints.all()}:
            changes = {
                k: v
                for k, v in body.items()
                if v is not None and k not in ("name", "overwrite", "version_name", "traffic")
            }
            changes.setdefault("inference", None)  # a deployment says all of it: no script means no code
            changes.setdefault("models", [])
            return self.update(name, {**changes, "config": {**body.get("config", {})}}, replace=True)
        what = asked.check_what(self._record, body.get("models"), body.get("inference"))
        config = asked.check_config(body.get("config"))
        given = keys.make_keys(body.get("primary_key"), body.get("secondary_key"))
        port = asked.check_port(body.get("port"))
        version = asked.check_name(body.get("version_name") or "default", "endpoint's version")
        auth = body.get("auth_enabled")
        with self._lock:
            settings = {
                "auth_enabled": _asks_for_keys(kind, body) if auth is None else bool(auth),
                "token_auth_enabled": bool(body.get("token_auth_enabled")),
                "port": self._pick_port(kind, port),
                "port_given": port is not None,
            }
            about = _about(body, {})
            row = {
                "name": name,
                "kind": kind,
                "state": "Transitioning",
                "error": None,
                "operation": _operation("create", version),
                "about": about,
                "settings": settings,
                "created_by": by,
            }
            first = _version_row(version, what, config, 1, asked.check_traffic(body.get("traffic", 100.0)), True, about)
            if name not in {one["name"] for one in self._record.endpoints.all()}:
                shutil.rmtree(self._paths.served(name).root, ignore_errors=True)  # of one that was deleted in a hurry
            self._record.endpoints.create(row, first, given)
        return self._asked(name)

    def update(self, name: str, body: dict[str, Any], replace: bool = False) -> dict[str, Any]:
        with self._lock:
            row = self._live(name)
            version = next(one for one in row["versions"] if one["is_default"])
            says_what = any(key in body for key in ("models", "inference", "config"))
            planned = (
                self._plan(version, body, replace) if says_what else None
            )  # what is wrong is refused before anything changes
            settings, values = dict(row["settings"]), {"about": _about(body, row["about"]), "updated_utc": utc_now()}
            kind = body.get("kind") or row["kind"]
            if kind != row["kind"]:
                values["kind"] = kind
                settings["auth_enabled"] = _asks_for_keys(kind, body)
            for key in ("auth_enabled", "token_auth_enabled"):
                if body.get(key) is not None:
                    settings[key] = bool(body[key])
            if body.get("port") is not None and body["port"] != settings["port"]:
                settings.update(port=self._pick_port(kind, asked.check_port(body["port"])), port_given=True)
            for which in ("primary_key", "secondary_key"):
                if body.get(which):
                    self._record.endpoints.set_key(name, which.partition("_")[0], keys.check_key(body[which]))
            values["settings"] = settings
            self._record.endpoints.change(name, values)
            if planned:
                self._new_revision(row, version, planned, "update")
        return self._asked(name)

    def reload(self, name: str) -> dict[str, Any]:
        """A new revision of the same, for every version."""
        with self._lock:
            row = self._live(name)
            for version in row["versions"]:
                self._new_revision(row, version, self._plan(version, {}), "reload")
        return self._asked(name)

    def put_version(self, name: str, version: str, body: dict[str, Any]) -> dict[str, Any]:
        asked.check_name(version, "endpoint's version")
        with self._lock:
            row = self._live(name)
            found = next((one for one in row["versions"] if one["name"] == version), None)
            traffic = body.get("traffic")
            if found is None:
                if "models" not in body:
                    raise EndpointError(f"Version '{version}' of endpoint '{name}' is new: give its models.")
                what = asked.check_what(self._record, body.get("models"), body.get("inference"))
                config = asked.check_config(body.get("config"))
                self._check_shares(row, version, asked.check_traffic(traffic or 0.0))
                number = self.steps.next_revision(name, version)
                made = _version_row(version, what, config, number, float(traffic or 0.0), False, _about(body, {}))
                self._record.endpoints.add_version(name, made)
                self._record.endpoints.change(
                    name, {"operation": _operation("create", version), "updated_utc": utc_now()}
                )
            else:
                says_what = any(key in body for key in ("models", "inference", "config"))
                planned = self._plan(found, body) if says_what else None
                values: dict[str, Any] = {"about": _about(body, found["about"]), "updated_utc": utc_now()}
                if traffic is not None:
                    self._check_shares(row, version, asked.check_traffic(traffic))
                    values["traffic"] = float(traffic)
                self._record.endpoints.change(name, {}, {version: values})
                if planned:
                    self._new_revision(row, found, planned, "update")
            if body.get("is_default"):
                flags = {
                    one["name"]: {"is_default": int(one["name"] == version)}
                    for one in self._record.endpoints.get(name)["versions"]
                }
                self._record.endpoints.change(name, {}, flags)
        return self._asked(name)

    def delete_version(self, name: str, version: str) -> dict[str, Any]:
        with self._lock:
            row = self._live(name)
            found = next((one for one in row["versions"] if one["name"] == version), None)
            if found is None:
                known = ", ".join(one["name"] for one in row["versions"])
                raise EndpointError(f"Endpoint '{name}' has no version '{version:.80}'. It has {known}.")
            if found["is_default"]:
                raise ConflictError(
                    f"'{version}' is the default version of endpoint '{name}'. Make another one the default first, or delete the endpoint."
                )
            self._record.endpoints.remove_version(name, version)
            self.steps.push(name)
        return self._asked(name)

    def delete(self, name: str) -> None:
        """When it returns the address is closed and the processes are gone."""
        with self._lock:
            self._record.endpoints.get(name)
            self._record.endpoints.change(name, {"operation": _operation("delete", "")})
            if name in self._leaving:
                return
            self._leaving.add(name)
            front = self._front(name)
        try:
            self.steps.forget(name)
            front.stop()
            shutil.rmtree(front.paths.root, ignore_errors=True)
            with self._lock:  # what was prepared is stored under it, or finds that nobody wants it any more
                shutil.rmtree(front.paths.root, ignore_errors=True)
                self._record.endpoints.delete(name)
        finally:
            with self._lock:
                self._leaving.discard(name)
                self._fronts.pop(name, None)

    # -- keys

    def keys(self, name: str) -> dict[str, str]:
        self._record.endpoints.get(name)
        found = self._record.endpoints.keys(name)
        return {"primary": found["primary"], "secondary": found["secondary"]}

    def new_key(self, name: str, which: str, value: Optional[str]) -> dict[str, str]:
        if str(which).lower() not in ("primary", "secondary"):
            raise EndpointError(f"key is {which!r:.40}; it is 'Primary' or 'Secondary'.")
        with self._lock:
            self._live(name)
            self._record.endpoints.set_key(name, which.lower(), keys.check_key(value) if value else keys.new_key())
            self.steps.push(name)
        return self.keys(name)

    def token(self, name: str) -> dict[str, Any]:
        row = self._record.endpoints.get(name)
        if not row["settings"]["token_auth_enabled"]:
            raise ConflictError(f"Endpoint '{name}' takes no tokens. Deploy or update it with token_auth_enabled=True.")
        return keys.make_token(name, self._record.endpoints.keys(name)["signing"])

    def relay(self, name: str) -> tuple[dict[str, Any], str]:
        """(where its front listens, the key by which the keeper asks it)"""
        row = self._record.endpoints.get(name)
        where = {**address_of(row["kind"], self._address()), "port": row["settings"]["port"]}
        return where, self._record.endpoints.keys(name)["relay"]

    # -- looking

    def get(self, name: str) -> dict[str, Any]:
        return self._show(self._record.endpoints.get(name))

    def list(self) -> list[dict[str, Any]]:
        return [self._show(row) for row in self._record.endpoints.all()]

    # -- inside

    def _show(self, row: dict[str, Any]) -> dict[str, Any]:
        return show(row, address_of(row["kind"], self._address()), self.steps.seen(row["name"]))

    def _plan(self, version: dict[str, Any], body: dict[str, Any], replace: bool = False) -> dict[str, Any]:
        """The next revision of a version, checked. What is not given stays as it was."""
        latest = version["wanted"] or version["serving"]
        what = latest["what"]
        if "models" in body or "inference" in body:
            models = body["models"] if "models" in body else what["models"]
            what = asked.check_what(
                self._record, models, body["inference"] if "inference" in body else what["inference"]
            )
        config = asked.check_config(body.get("config"), None if replace else latest["config"])
        return {"revision": version["last_revision"] + 1, "what": what, "config": config, "launch": None}

    def _new_revision(self, row: dict[str, Any], version: dict[str, Any], wanted: dict[str, Any], kind: str) -> None:
        """One that is on its way is left behind: its successor takes its place."""
        changed = {"wanted": wanted, "last_revision": wanted["revision"], "updated_utc": utc_now()}
        values: dict[str, Any] = {"operation": _operation(kind, version["name"]), "updated_utc": utc_now()}
        if version["serving"] is None:
            changed.update(state="Transitioning", error=None)
            if version["is_default"]:
                values.update(state="Transitioning", error=None)
        self._record.endpoints.change(row["name"], values, {version["name"]: changed})

    def _check_shares(self, row: dict[str, Any], version: str, traffic: float) -> None:
        others = sum(one["traffic"] for one in row["versions"] if not one["is_default"] and one["name"] != version)
        default = next((one["name"] for one in row["versions"] if one["is_default"]), None)
        if version != default and others + traffic > 100:
            raise EndpointError(f"traffic {traffic:g} is too much: other versions have {others:g} percent already.")

    def _live(self, name: str) -> dict[str, Any]:
        row = self._record.endpoints.get(name)
        if name in self._leaving or row["operation"]["kind"] == "delete":
            raise ConflictError(f"Endpoint '{name}' is being deleted.")
        return row

    def _asked(self, name: str) -> dict[str, Any]:
        with self._lock:
            self.steps.push(name)
        self.start()
        self._wake.set()
        return self.get(name)

    def _pick_port(self, kind: str, port: Optional[int]) -> int:
        return free_port(address_of(kind, self._address())["host"], port)

    def _front(self, name: str) -> FrontHandle:
        with self._lock:
            if name not in self._fronts:
                self._fronts[name] = FrontHandle(self._paths.served(name))
            return self._fronts[name]

    def _locked(self) -> threading.RLock:
        return self._lock

    def _run(self) -> None:
        while not self._stopped:
            self._wake.clear()
            busy = False
            try:
                names = [(row["name"], row["operation"]) for row in self._record.endpoints.all()]
            except RookeryError as error:
                log.warning("Endpoints could not be read: %s", error.message)
                names = []
            for name, operation in names:
                if self._stopped:
                    return
                busy = self._look(name, operation) or busy
            self._wake.wait(QUICK_S if busy else SLOW_S)

    def _look(self, name: str, operation: dict[str, Any]) -> bool:
        try:
            if operation["kind"] == "delete":
                if name not in self._leaving:  # of a keeper that died over it
                    self.delete(name)
                return False
            with self._lock:
                if name in self._leaving:
                    return False
            return self.steps.look(name)
        except RookeryError as error:
            log.warning("Endpoint %s: %s", name, error.message)
        except Exception:
            log.exception("Endpoint %s could not be looked at", name)
        return False


def _asks_for_keys(kind: str, body: dict[str, Any]) -> bool:
    """What v1's kinds do where nothing is said."""
    return kind == "aks" and not body.get("token_auth_enabled")


def _operation(kind: str, version: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "state": "Running",
        "error": None,
        "version": version,
        "words": "",
        "started_utc": utc_now(),
        "ended_utc": None,
    }


def _about(body: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    gone = set(body.get("remove_tags") or ())
    tags = {**before.get("tags", {}), **{str(k): str(v) for k, v in (body.get("tags") or {}).items()}}
    description = body.get("description")
    return {
        "description": before.get("description", "") if description is None else str(description),
        "tags": {key: value for key, value in tags.items() if key not in gone},
        "properties": {**before.get("properties", {}), **(body.get("properties") or {})},
    }


def _version_row(
    name: str,
    what: dict[str, Any],
    config: dict[str, Any],
    revision: int,
    traffic: float,
    is_default: bool,
    about: dict[str, Any],
) -> dict[str, Any]:
    return {
        "name": name,
        "traffic": traffic,
        "is_default": int(is_default),
        "state": "Transitioning",
        "error": None,
        "last_revision": revision,
        "wanted": {"revision": revision, "what": what, "config": config, "launch": None},
        "serving": None,
        "about": about,
    }
