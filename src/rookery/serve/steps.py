"""One endpoint brought nearer to what is wanted of it. Every step can be done again."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from rookery.environments.building import leases
from rookery.errors import NotFoundError, RookeryError
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.serve import launch
from rookery.serve.desired import address_of, free_port, make_desired
from rookery.serve.fronts import FrontHandle
from rookery.spec.paths import WorkspacePaths

__all__ = ["Steps"]

log = logging.getLogger(__name__)
LAST_LINES = 40


class Steps:
    """Args:
    front: the handle of an endpoint's front.
    lock: the manager's, under which rows are read and written.
    wake: have `look` called again soon.
    """

    def __init__(
        self,
        record: Record,
        paths: WorkspacePaths,
        pool: ThreadPoolExecutor,
        front: Callable[[str], FrontHandle],
        lock: Callable[[], threading.RLock],
        wake: Callable[[], None],
        address: Callable[[], dict[str, Any]],
    ) -> None:
        self._record, self._paths, self._pool, self._front = record, paths, pool, front
        self._lock, self._wake, self._address = lock, wake, address
        self._preparing: set[tuple[str, str, int]] = set()
        self._held: dict[str, set[str]] = {}
        self._seen: dict[str, dict[str, Any]] = {}

    def seen(self, name: str) -> dict[str, Any]:
        """What the front said last."""
        return self._seen.get(name, {})

    def forget(self, name: str) -> None:
        self._seen.pop(name, None)
        for key in self._held.pop(name, set()):
            leases.release_hold(key, _owner(name))

    def next_revision(self, name: str, version: str) -> int:
        """One that no folder of this version has: a version that was removed may come back as another one."""
        return 1 + max((number for number, _ in self._apps(name, version)), default=0)

    def push(self, name: str) -> None:
        """What the record wants becomes desired.json, and the front, where there is one, reads it."""
        row = self._record.endpoints.get(name)
        front = self._front(name)
        wanted = make_desired(row, self._record.endpoints.keys(name), front, self._address())
        if not any(version["revisions"] for version in wanted["versions"]):
            return
        if front.want(wanted):
            front.ask("apply")

    def look(self, name: str) -> bool:
        """One round. Whether another one is wanted soon."""
        with self._lock():
            row = self._record.endpoints.get(name)
            if row["operation"]["kind"] == "delete":
                return False
            waits = [v for v in row["versions"] if v["wanted"] and not v["wanted"].get("failed")]
            for version in waits:
                if not version["wanted"]["launch"]:
                    self._prepare(row, version)
            front = self._front(name)
            if not any(_launched(version) for version in row["versions"]):
                return bool(waits)
            self._hold(row)
            self.push(name)
            front.ensure()
        have = row["settings"].get("have") or {}
        status = front.ask("status", int(have.get("number", 0)), str(have.get("epoch", "")))
        if status is None:
            self._seen.pop(name, None)
            self._note_absence(name, row)
            return True
        with self._lock():
            if self._is_still(row):
                self._take(name, status)
        return bool(waits) or bool(status["problem"])

    def _is_still(self, row: dict[str, Any]) -> bool:
        """Whether it is wanted as when it was read: it may have been deleted since, and another one may have its name."""
        now = self._record.endpoints.get(row["name"])
        return bool(now["created_utc"] == row["created_utc"] and now["operation"]["kind"] != "delete")

    # -- preparing

    def _prepare(self, row: dict[str, Any], version: dict[str, Any]) -> None:
        key = (row["name"], version["name"], version["wanted"]["revision"])
        if key not in self._preparing:
            self._preparing.add(key)
            self._pool.submit(self._prepare_now, key, version["wanted"], row["created_utc"])

    def _prepare_now(self, key: tuple[str, str, int], wanted: dict[str, Any], created_utc: str) -> None:
        """In a worker thread."""
        name, version, revision = key
        made, words = None, ""
        served = self._paths.served(name)
        try:
            os.makedirs(served.logs, mode=0o700, exist_ok=True)
            with open(served.build_log(version), "wb", buffering=0) as f:
                made = launch.prepare(self._record, self._paths, name, version, wanted, lambda data: _write(f, data))
        except RookeryError as error:
            words = error.message
        except Exception as error:
            log.exception("Endpoint %s could not be prepared", name)
            words = f"It could not be prepared: {error!r}."
        try:
            with self._lock():
                if self._record.endpoints.get(name)["created_utc"] == created_utc:
                    self._prepared(key, made, words)
                else:  # deleted meanwhile, and another one has its name: that is prepared for itself
                    shutil.rmtree(served.app(version, revision), ignore_errors=True)
        except NotFoundError:  # deleted meanwhile
            shutil.rmtree(served.root, ignore_errors=True)
        except Exception:
            log.exception("Endpoint %s: what was prepared could not be stored", name)
        finally:
            self._preparing.discard(key)
            self._wake()

    def _prepared(self, key: tuple[str, str, int], made: Optional[dict[str, Any]], words: str) -> None:
        name, version_name, revision = key
        row = self._record.endpoints.get(name)
        version = next((one for one in row["versions"] if one["name"] == version_name), None)
        if version is None or not version["wanted"] or version["wanted"]["revision"] != revision:
            return  # another revision has taken its place
        if made is None:
            lines = _tail(self._paths.served(name).build_log(version_name))
            self._failed(row, version, {"code": "environment", "summary": words, "last_lines": lines})
            return
        wanted = {**version["wanted"], "launch": made}
        self._record.endpoints.change(name, {}, {version_name: {"wanted": wanted}})

    # -- what the front says

    def _take(self, name: str, status: dict[str, Any]) -> None:
        row = self._record.endpoints.get(name)
        self._seen[name] = status
        self._store_numbers(row, status)
        for version in row["versions"]:
            told = status["versions"].get(version["name"])
            if told is not None:
                self._take_version(row, version, told)
        row = self._record.endpoints.get(name)
        self._move(row, status)
        values = self._state(row, status)
        if values:
            self._record.endpoints.change(name, values)

    def _take_version(self, row: dict[str, Any], version: dict[str, Any], told: dict[str, Any]) -> None:
        wanted, serving = version["wanted"], version["serving"]
        if wanted and wanted["launch"] and not wanted.get("failed"):
            if told["serving"] == wanted["revision"]:
                self._succeeded(row, version)
                return
            found = told["revisions"].get(str(wanted["revision"]))
            if found and found["state"] == "failed":
                self._failed(row, version, found["error"])
                return
        if serving is None:
            return
        error = (told["revisions"].get(str(serving["revision"])) or {}).get("error")
        state = "Healthy" if told["ready"] else "Unhealthy"
        # What took too much memory will again: that is told until something else is deployed, though others answer meanwhile.
        is_shown = not told["ready"] or (error or {}).get("code") == "memory"
        changed = {"state": state, "error": error if is_shown else None}
        if any(version[key] != value for key, value in changed.items()):
            self._record.endpoints.change(row["name"], {}, {version["name"]: changed})

    def _succeeded(self, row: dict[str, Any], version: dict[str, Any]) -> None:
        name, wanted = row["name"], version["wanted"]
        values: dict[str, Any] = {}
        others = any(v["wanted"] and not v["wanted"].get("failed") for v in row["versions"] if v is not version)
        if row["operation"]["state"] == "Running" and not others:
            values["operation"] = {**row["operation"], "state": "Succeeded", "words": "", "ended_utc": utc_now()}
        if version["is_default"]:
            values.update(state="Healthy", error=None)
        changed = {"serving": wanted, "wanted": None, "state": "Healthy", "error": None}
        self._record.endpoints.change(name, values, {version["name"]: changed})
        version.update(changed)
        row.update(values)
        self.push(name)
        self._sweep(name, version["name"], wanted["revision"])

    def _failed(self, row: dict[str, Any], version: dict[str, Any], error: dict[str, Any]) -> None:
        """The revision will not come up: what served before goes on."""
        ended = {**row["operation"], "state": "Failed", "error": error, "words": "", "ended_utc": utc_now()}
        if version["serving"]:
            changed: dict[str, Any] = {"wanted": None}
        else:
            changed = {"wanted": {**version["wanted"], "failed": True}, "state": "Failed", "error": error}
        values: dict[str, Any] = {"operation": ended}
        if version["is_default"] and not version["serving"]:
            values.update(state="Failed", error=error)
        self._record.endpoints.change(row["name"], values, {version["name"]: changed})
        version.update(changed)
        row.update(values)
        self.push(row["name"])

    def _move(self, row: dict[str, Any], status: dict[str, Any]) -> None:
        """A port that nobody asked for and somebody else has taken, while the front was away, is given up for another."""
        wanted = {**address_of(row["kind"], self._address()), "port": row["settings"]["port"]}
        if status["problem"] and status["listening"] != wanted and not row["settings"]["port_given"]:
            settings = {**row["settings"], "port": free_port(wanted["host"])}
            self._record.endpoints.change(row["name"], {"settings": settings, "updated_utc": utc_now()})
            row["settings"] = settings
            self.push(row["name"])

    def _state(self, row: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        """What of the endpoint itself has changed."""
        default = next(one for one in row["versions"] if one["is_default"])
        state, error = default["state"], default["error"]
        if status["problem"]:
            error = {"code": "address", "summary": status["problem"], "last_lines": []}
            state = "Unhealthy"
        values = {"state": state, "error": error}
        return {key: value for key, value in values.items() if row[key] != value}

    def _note_absence(self, name: str, row: dict[str, Any]) -> None:
        """No front answers: true for as long as it takes to start one."""
        if row["state"] == "Healthy":
            error = {"code": "front", "summary": "Its front does not answer; it is started again.", "last_lines": []}
            with self._lock():
                if self._is_still(row):
                    self._record.endpoints.change(name, {"state": "Unhealthy", "error": error})

    def _store_numbers(self, row: dict[str, Any], status: dict[str, Any]) -> None:
        have = row["settings"].get("have") or {}
        after = int(have.get("number", 0)) if have.get("epoch") == status["epoch"] else 0
        new = [bucket for bucket in status["buckets"] if bucket["number"] > after]
        if new or have.get("epoch") != status["epoch"]:
            number = max((bucket["number"] for bucket in new), default=after)
            settings = {**row["settings"], "have": {"epoch": status["epoch"], "number": number}}
            self._record.endpoints.add_numbers(row["name"], new, settings)
            row["settings"] = settings

    # -- what is used

    def _hold(self, row: dict[str, Any]) -> None:
        """Environments in use are not pruned: this keeper stands for them, and their front, which outlives it."""
        name = row["name"]
        wanted = {key for version in row["versions"] for key in _environment_keys(version)}
        front = self._seen.get(name, {}).get("pid")
        for key in wanted:
            try:
                if not leases.hold(key, _owner(name), os.getpid()):
                    self._lost(row, key)
                if front:
                    leases.hold(key, _owner(name), int(front), holder="front")
            except OSError as error:
                log.warning("Environment %s cannot be held for endpoint %s: %s", key, name, error)
        for key in self._held.get(name, set()) - wanted:
            leases.release_hold(key, _owner(name))
        self._held[name] = wanted

    def _lost(self, row: dict[str, Any], key: str) -> None:
        """Its environment was removed while nobody held it: what needs it is prepared again, as a new revision."""
        for version in row["versions"]:
            serving = version["serving"]
            if serving and not version["wanted"] and serving["launch"]["environment"]["key"] == key:
                number = version["last_revision"] + 1
                changed = {"wanted": {**serving, "revision": number, "launch": None}, "last_revision": number}
                self._record.endpoints.change(row["name"], {}, {version["name"]: changed})

    def _sweep(self, name: str, version: str, revision: int) -> None:
        """App roots of revisions that are over; one that still drains keeps what it has open."""
        for number, folder in self._apps(name, version):
            if number < revision - 1:
                shutil.rmtree(folder, ignore_errors=True)

    def _apps(self, name: str, version: str) -> list[tuple[int, str]]:
        """(revision, app root) of all that lie there."""
        apps = self._paths.served(name).apps
        found = os.listdir(apps) if os.path.isdir(apps) else []
        parts = [(folder.rpartition("-"), folder) for folder in found]
        return [(int(n), os.path.join(apps, folder)) for (of, _, n), folder in parts if of == version and n.isdigit()]


def _launched(version: dict[str, Any]) -> bool:
    wanted = version["wanted"]
    return bool(version["serving"]) or bool(wanted and wanted["launch"] and not wanted.get("failed"))


def _environment_keys(version: dict[str, Any]) -> list[str]:
    some = [one for one in (version["wanted"], version["serving"]) if one and one["launch"]]
    return [one["launch"]["environment"]["key"] for one in some if one["launch"]["environment"]["key"]]


def _owner(name: str) -> str:
    return f"endpoint-{name}"


def _write(file: Any, data: bytes) -> None:
    file.write(data)


def _tail(path: str) -> list[str]:
    try:
        with open(path, "rb") as f:
            return f.read()[-16384:].decode("utf-8", "replace").splitlines()[-LAST_LINES:]
    except OSError:
        return []
