"""Schedules: published pipelines that run by the clock, or when something on a datastore has changed."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

from rookery.data import resolver_of
from rookery.errors import DataError, RookeryError, UserError
from rookery.pipeline.recurrence import check_recurrence, first_time, next_time
from rookery.pipeline.submitting import submit_pipeline
from rookery.record import Record
from rookery.spec.names import check_experiment_name, new_guid
from rookery.spec.pipeline import parameter_values

__all__ = ["ScheduleClock", "check_schedule", "first_due"]

log = logging.getLogger(__name__)
MAX_WAIT_S = 60.0  # a clock that was set, or a machine that slept, is noticed


class ScheduleClock:
    """Starts what is due. Which run it is going to be is stored first, so a keeper that is killed starts it once."""

    def __init__(self, record: Record, controller: Any, work: Callable[[Callable[[], None]], None]) -> None:
        self._record, self._controller, self._work = record, controller, work
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    def look(self) -> Optional[float]:
        """In how many seconds to look again; None: nothing is scheduled."""
        now = datetime.now(timezone.utc)
        # Asked before the record is read: one that ends meanwhile is in there as it was before, and would start twice.
        with self._lock:
            busy = set(self._busy)
        for schedule in self._record.schedules.due(_text(now)):
            if schedule["id"] in busy:
                continue
            with self._lock:
                self._busy.add(schedule["id"])
            self._work(lambda schedule=schedule: self._fire(schedule))  # type: ignore[misc]
        due = self._record.schedules.next_due()
        if due is None:
            return None
        if due <= _text(now):
            return 1.0  # it is at it
        return min(MAX_WAIT_S, max(0.05, (_moment(due) - now).total_seconds()))

    def _fire(self, schedule: dict[str, Any]) -> None:
        try:
            self._start(schedule)
        except RookeryError as error:
            log.warning("Schedule %s: %s", schedule["name"], error.message)
            self._note(schedule, {**schedule["state"], "pending": None, "problem": error.message})
        except Exception:
            log.exception("Schedule %s failed", schedule["name"])
            self._note(schedule, schedule["state"])
        finally:
            with self._lock:
                self._busy.discard(schedule["id"])

    def _start(self, schedule: dict[str, Any]) -> None:
        facts, state = schedule["facts"], dict(schedule["state"])
        parameters = dict(facts.get("parameters") or {})
        if facts.get("datastore"):
            seen = listing(self._record, facts["datastore"], facts.get("path_on_datastore") or "")
            if not state.get("pending") and (state.get("seen") in (None, seen)):
                self._note(schedule, {**state, "seen": seen, "problem": ""})
                return
            state["seen"] = seen
            if facts.get("data_path_parameter_name"):
                parameters[facts["data_path_parameter_name"]] = _changed_place(facts)
        if not state.get("pending"):
            state["pending"] = new_guid()
            self._record.schedules.change(schedule["id"], state=state)
        pipeline = self._pipeline(facts)
        run = submit_pipeline(
            self._record,
            self._controller,
            pipeline["graph"],
            facts["experiment"],
            schedule["created_by"],
            run_id=state["pending"],
            display_name=schedule["name"],
            parameters=parameters,
            continue_on_failure=bool(facts.get("continue_on_failure") or pipeline["continue_on_failure"]),
            origin={
                "azureml.pipelineid": pipeline["id"],
                "azureml.scheduleid": schedule["id"],
                "azureml.runsource": "Schedule",
            },
        )
        self._note(schedule, {**state, "pending": None, "last_run_id": run["id"], "problem": ""})

    def _pipeline(self, facts: dict[str, Any]) -> dict[str, Any]:
        published = self._record.published
        if facts.get("endpoint_id"):
            return published.version(published.endpoint(facts["endpoint_id"]))
        return published.get(facts["pipeline_id"])

    def _note(self, schedule: dict[str, Any], state: dict[str, Any]) -> None:
        following = _following(schedule)
        try:
            self._record.schedules.change(schedule["id"], state=state, next_utc=following)
        except RookeryError:
            log.warning("Schedule %s is gone", schedule["name"])


def check_schedule(record: Record, given: dict[str, Any]) -> dict[str, Any]:
    """The facts of a schedule, checked.

    Raises:
        UserError, NotFoundError: says what is wrong.
    """
    facts = {key: given.get(key) for key in _FACTS}
    if bool(facts["pipeline_id"]) == bool(facts["endpoint_id"]):
        raise UserError(
            "A schedule runs either a published pipeline (pipeline_id) or an endpoint (endpoint_id): give one."
        )
    if bool(facts["recurrence"]) == bool(facts["datastore"]):
        raise UserError("A schedule goes either by a recurrence or by a datastore that it looks at: give one of them.")
    facts["experiment"] = check_experiment_name(facts["experiment"])
    if facts["recurrence"]:
        facts["recurrence"] = check_recurrence(facts["recurrence"])
    else:
        record.datastores.opening(str(facts["datastore"]))
        interval = facts["polling_interval"] = 5 if facts["polling_interval"] is None else facts["polling_interval"]
        if isinstance(interval, bool) or not isinstance(interval, (int, float)) or interval <= 0:
            raise UserError(f"polling_interval={interval!r:.40}. Give a number of minutes.")
    published = record.published
    if facts["endpoint_id"]:
        pipeline = published.version(published.endpoint(str(facts["endpoint_id"])))
    else:
        pipeline = published.get(str(facts["pipeline_id"]))
    named = dict(facts["parameters"] or {})
    if facts["data_path_parameter_name"]:
        named.setdefault(facts["data_path_parameter_name"], None)
    parameter_values(pipeline["graph"], named)
    return facts


_FACTS = (
    "description",
    "experiment",
    "pipeline_id",
    "endpoint_id",
    "recurrence",
    "datastore",
    "path_on_datastore",
    "polling_interval",
    "data_path_parameter_name",
    "parameters",
    "continue_on_failure",
)


def first_due(facts: dict[str, Any]) -> str:
    """When a new schedule is looked at first."""
    return _text(first_time(facts["recurrence"] or None, datetime.now(timezone.utc)))


def listing(record: Record, datastore: str, path: str) -> str:
    """What lies there, in 64 hex digits: another one when something was added or changed.

    Raises:
        DataError: nobody can say, because the datastore cannot be reached. That is no change.
    """
    store = resolver_of(record).store(datastore)
    try:
        files = [[f.path, f.size, f.etag] for f in store.files(path) if not f.is_folder]
    except DataError as error:
        store.check()
        if error.message != store.not_there(path).message:
            raise
        files = []  # nothing there yet
    return hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()


def _changed_place(facts: dict[str, Any]) -> dict[str, Any]:
    """What the parameter of a pipeline becomes that is told where data has changed."""
    place = {"datastore": facts["datastore"], "path": facts.get("path_on_datastore") or ""}
    return {"definition": {"kind": "file", "sources": [place]}}


def _following(schedule: dict[str, Any]) -> str:
    now, facts = datetime.now(timezone.utc), schedule["facts"]
    if facts.get("recurrence"):
        return _text(next_time(facts["recurrence"], _moment(schedule["created_utc"]), now))
    return _text(now + timedelta(minutes=float(facts["polling_interval"])))


def _text(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
