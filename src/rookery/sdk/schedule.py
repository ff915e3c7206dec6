"""Schedule: a published pipeline that runs by the clock, or when something on a datastore has changed."""

from __future__ import annotations

import builtins
import enum
import re
from datetime import datetime
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.pipeline_run import PipelineRun, plain_parameters, runs_with
from rookery.spec.time_zones import WINDOWS_ZONES
from rookery.worker.http import quote_path

__all__ = ["Schedule", "ScheduleRecurrence", "TimeZone"]

FREQUENCIES = ("Minute", "Hour", "Day", "Week", "Month")


_enum: Any = enum.Enum  # made of data, which type checkers want to read
TimeZone: Any = _enum("TimeZone", {re.sub(r"[^A-Za-z0-9]", "", name): name for name in WINDOWS_ZONES}, module=__name__)
TimeZone.__doc__ = "Windows' names of time zones; a ScheduleRecurrence takes IANA's ('Europe/Berlin') too."


class ScheduleRecurrence:
    """How often. `hours`, `minutes` (or `time_of_day`, 'HH:MM') and `week_days` count with Day and Week."""

    def __init__(
        self,
        frequency: str,
        interval: int,
        start_time: Any = None,
        time_zone: Any = None,
        hours: Optional[list[int]] = None,
        minutes: Optional[list[int]] = None,
        week_days: Optional[list[str]] = None,
        time_of_day: Optional[str] = None,
    ) -> None:
        self.frequency, self.interval = frequency, interval
        self.start_time = start_time.strftime("%Y-%m-%dT%H:%M:%S") if isinstance(start_time, datetime) else start_time
        self.time_zone = time_zone if time_zone is not None else TimeZone.UTC
        self.hours, self.minutes, self.week_days = hours, minutes, week_days
        self.time_of_day = time_of_day
        if time_of_day is not None:
            hour, _, minute = str(time_of_day).partition(":")
            if not hour.isdigit() or not minute.isdigit():
                raise UserError(f"time_of_day={time_of_day!r:.40}. Give it as '15:30'.")
            self.hours, self.minutes = [int(hour)], [int(minute)]
        self.validate()

    def validate(self) -> None:
        """UserError for what no schedule can be; the keeper checks the rest."""
        if self.frequency not in FREQUENCIES:
            raise UserError(f"frequency={self.frequency!r:.40}. Allowed: {', '.join(FREQUENCIES)}.")
        if isinstance(self.interval, bool) or not isinstance(self.interval, int) or self.interval < 1:
            raise UserError(f"interval={self.interval!r:.40}. Give a whole number from 1.")

    def _plain(self) -> dict[str, Any]:
        zone = self.time_zone.value if isinstance(self.time_zone, enum.Enum) else self.time_zone
        given = {
            "frequency": self.frequency,
            "interval": self.interval,
            "start_time": self.start_time,
            "time_zone": zone,
            "hours": self.hours,
            "minutes": self.minutes,
            "week_days": self.week_days,
        }
        return {key: value for key, value in given.items() if value is not None}


class Schedule:
    """While a schedule is active the keeper stays up."""

    def __init__(self, workspace: Any, id: str, _data: Optional[dict[str, Any]] = None, **kwargs: Any) -> None:
        self._workspace = workspace
        self._data = _data or workspace.client.request("GET", f"/pipelines/schedules/{quote_path(id)}")

    @property
    def id(self) -> str:
        return str(self._data["id"])

    @property
    def name(self) -> str:
        return str(self._data["name"])

    @property
    def status(self) -> str:
        return str(self._data["status"])

    @property
    def recurrence(self) -> Optional[ScheduleRecurrence]:
        given = self._data["facts"].get("recurrence")
        return None if not given else ScheduleRecurrence(**given)

    description = property(lambda self: self._data["facts"].get("description"))
    pipeline_id = property(lambda self: self._data["facts"].get("pipeline_id"))
    pipeline_endpoint_id = property(lambda self: self._data["facts"].get("endpoint_id"))
    datastore_name = property(lambda self: self._data["facts"].get("datastore"))
    polling_interval = property(lambda self: self._data["facts"].get("polling_interval"))
    data_path_parameter_name = property(lambda self: self._data["facts"].get("data_path_parameter_name"))
    continue_on_step_failure = property(lambda self: self._data["facts"].get("continue_on_failure"))
    path_on_datastore = property(lambda self: self._data["facts"].get("path_on_datastore"))
    next_time = property(lambda self: self._data["next_utc"], doc="When it is looked at next. Ours, not v1's.")

    @staticmethod
    def create(
        workspace: Any,
        name: str,
        pipeline_id: str,
        experiment_name: str,
        recurrence: Optional[ScheduleRecurrence] = None,
        description: Optional[str] = None,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        wait_for_provisioning: bool = False,
        wait_timeout: float = 3600,
        datastore: Any = None,
        polling_interval: float = 5,
        data_path_parameter_name: Optional[str] = None,
        continue_on_step_failure: Optional[bool] = None,
        path_on_datastore: Optional[str] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> Schedule:
        """By `recurrence`, or (`datastore`) every so many minutes a look at a place, and a run when it has changed."""
        return _create(workspace, name, experiment_name, locals(), pipeline_id=pipeline_id)

    @staticmethod
    def create_for_pipeline_endpoint(
        workspace: Any,
        name: str,
        pipeline_endpoint_id: str,
        experiment_name: str,
        recurrence: Optional[ScheduleRecurrence] = None,
        description: Optional[str] = None,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        wait_for_provisioning: bool = False,
        wait_timeout: float = 3600,
        datastore: Any = None,
        polling_interval: float = 5,
        data_path_parameter_name: Optional[str] = None,
        continue_on_step_failure: Optional[bool] = None,
        path_on_datastore: Optional[str] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> Schedule:
        """The same for the default version of an endpoint."""
        return _create(workspace, name, experiment_name, locals(), endpoint_id=pipeline_endpoint_id)

    @staticmethod
    def get(workspace: Any, id: str, _workflow_provider: Any = None, _service_endpoint: Any = None) -> Schedule:
        return Schedule(workspace, id)

    @staticmethod
    def list(
        workspace: Any,
        active_only: bool = True,
        pipeline_id: Optional[str] = None,
        pipeline_endpoint_id: Optional[str] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> builtins.list[Schedule]:
        query = {"active_only": str(bool(active_only)).lower()}
        found = workspace.client.request("GET", "/pipelines/schedules", query)["schedules"]
        wanted = {"pipeline_id": pipeline_id, "endpoint_id": pipeline_endpoint_id}
        return [
            Schedule(workspace, data["id"], data)
            for data in found
            if all(value in (None, data["facts"].get(key)) for key, value in wanted.items())
        ]

    get_all = list

    @staticmethod
    def get_schedules_for_pipeline_id(workspace: Any, pipeline_id: str, **kwargs: Any) -> builtins.list[Schedule]:
        return Schedule.list(workspace, False, pipeline_id)

    @staticmethod
    def get_schedules_for_pipeline_endpoint_id(
        workspace: Any, pipeline_endpoint_id: str, **kwargs: Any
    ) -> builtins.list[Schedule]:
        return Schedule.list(workspace, False, None, pipeline_endpoint_id)

    def update(
        self,
        name: Optional[str] = None,
        description: Optional[str] = None,
        recurrence: Optional[ScheduleRecurrence] = None,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        status: Optional[str] = None,
        wait_for_provisioning: bool = False,
        wait_timeout: float = 3600,
        datastore: Any = None,
        polling_interval: Optional[float] = None,
        data_path_parameter_name: Optional[str] = None,
        continue_on_step_failure: Optional[bool] = None,
        path_on_datastore: Optional[str] = None,
    ) -> None:
        """What is given changes."""
        self._change({**_facts(self._workspace, locals()), "name": name, "status": status})

    def enable(self, wait_for_provisioning: bool = False, wait_timeout: float = 3600) -> None:
        self._change({"status": "Active"})

    def disable(self, wait_for_provisioning: bool = False, wait_timeout: float = 3600) -> None:
        self._change({"status": "Disabled"})

    def get_pipeline_runs(self) -> builtins.list[PipelineRun]:
        """The newest first."""
        return runs_with(self._workspace, "azureml.scheduleid", self.id)

    def get_last_pipeline_run(self) -> Optional[PipelineRun]:
        return next(iter(self.get_pipeline_runs()), None)

    def _change(self, changes: dict[str, Any]) -> None:
        body = {key: value for key, value in changes.items() if value is not None}
        self._data = self._workspace.client.request("PATCH", f"/pipelines/schedules/{quote_path(self.id)}", body=body)

    def __repr__(self) -> str:
        return f"Schedule(Name: {self.name},\nId: {self.id},\nStatus: {self.status})"


def _create(workspace: Any, name: str, experiment_name: str, given: dict[str, Any], **what: Any) -> Schedule:
    body = {"name": name, "experiment": experiment_name, **_facts(workspace, given), **what}
    if not body.get("datastore"):
        body.pop("polling_interval", None)
    data = workspace.client.request("POST", "/pipelines/schedules", body=body)
    return Schedule(workspace, data["id"], data)


def _facts(workspace: Any, given: dict[str, Any]) -> dict[str, Any]:
    """v1's arguments as the keeper takes them, those that are given."""
    store = given.get("datastore")
    recurrence = given.get("recurrence")
    facts = {
        "description": given.get("description"),
        "recurrence": None if recurrence is None else recurrence._plain(),
        "datastore": None if store is None else getattr(store, "name", store),
        "path_on_datastore": given.get("path_on_datastore"),
        "polling_interval": given.get("polling_interval"),
        "data_path_parameter_name": given.get("data_path_parameter_name"),
        "parameters": plain_parameters(workspace, given.get("pipeline_parameters")) or None,
        "continue_on_failure": given.get("continue_on_step_failure"),
    }
    return {key: value for key, value in facts.items() if value is not None}
