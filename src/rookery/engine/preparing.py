"""Getting software ready beside the controller's thread, without letting runs overtake one another."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from rookery import environments
from rookery.engine import observations as obs
from rookery.engine.build_logs import BuildLogs
from rookery.engine.holds import Holds
from rookery.engine.live import Live
from rookery.engine.placement import JobMaker
from rookery.engine.verdict import data_cause, environment_cause
from rookery.errors import RookeryError
from rookery.spec.job import NODE_BIN, NODE_PYTHON
from rookery.spec.plain import to_plain

__all__ = ["Preparing"]

log = logging.getLogger(__name__)
ON_NODES = "on nodes "  # begins the key of a group whose environment is resolved here and built elsewhere
PAYLOAD = "payload"  # the group of runs whose environment is there and that wait for the payload only


class Preparing:
    """Runs that want the same thing wait in one group: it is prepared once, and they go on as they came.

    Args:
        follow_up: tell of a run what was seen, in the controller's thread.
        post: have something done in the controller's thread, from any thread.
    """

    def __init__(
        self,
        record: Any,
        jobs: JobMaker,
        holds: Holds,
        follow_up: Callable[[str, obs.Observation], None],
        post: Callable[[Callable[[], Any]], None],
    ) -> None:
        self._record, self._jobs, self._holds, self._follow_up, self._post = record, jobs, holds, follow_up, post
        self._groups: dict[str, list[Live]] = {}
        self._logs: dict[str, BuildLogs] = {}
        self._with_data: set[str] = set()  # runs whose inputs are resolved
        self._workers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="rookery-prepare")

    def stop(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    def want(self, live: Live) -> None:
        """Answered by EnvironmentReady or EnvironmentFailed; at once when everything is at hand."""
        if live.spec.inputs and live.run_id not in self._with_data:
            self._follow_up(live.run_id, obs.EnvironmentBuilding("its data is being looked at"))
            self._workers.submit(self._look_at_data, live)
            return
        if self._jobs.builds_on_nodes(live):
            self._want_on_nodes(live)
            return
        built = environments.prepared(live.spec.environment)
        if built and not self._holds.take(live.run_id, built):
            built = None  # removed in this very moment
        if built and self._jobs.has_payload() and PAYLOAD not in self._groups:
            self._follow_up(live.run_id, obs.EnvironmentReady(built))
            return
        if built is None:
            words = f"environment '{live.spec.environment.name}' is being prepared"
            self._follow_up(live.run_id, obs.EnvironmentBuilding(words))
        key = PAYLOAD if built else json.dumps(to_plain(live.spec.environment), sort_keys=True)
        group = self._groups.setdefault(key, [])
        group.append(live)
        if key != PAYLOAD:
            self._logs.setdefault(key, BuildLogs(self._record)).add(live.run_id)
        if len(group) == 1:
            self._workers.submit(self._prepare, key, live)

    def _look_at_data(self, live: Live) -> None:
        """In a worker thread: what its inputs come to, once for all its attempts."""
        from rookery.data import prepare_inputs

        problem = ""
        try:
            prepare_inputs(self._record, live.spec)
        except RookeryError as error:
            problem = error.message
        except Exception as error:
            log.exception("Data of run %s could not be looked at", live.run_id)
            problem = f"The data of the run could not be looked at: {error!r}."
        self._post(lambda: self._data_seen(live, problem))

    def _data_seen(self, live: Live, problem: str) -> None:
        if problem:
            self._follow_up(live.run_id, obs.EnvironmentFailed(data_cause(problem)))
            return
        self._with_data.add(live.run_id)
        self.want(live)

    def _want_on_nodes(self, live: Live) -> None:
        """It is only resolved here; the nodes, which do not see this machine's files, build it."""
        words = f"environment '{live.spec.environment.name}' is being resolved; its nodes build it"
        self._follow_up(live.run_id, obs.EnvironmentBuilding(words))
        key = ON_NODES + json.dumps(to_plain(live.spec.environment), sort_keys=True)
        group = self._groups.setdefault(key, [])
        group.append(live)
        self._logs.setdefault(key, BuildLogs(self._record)).add(live.run_id)
        if len(group) == 1:
            self._workers.submit(self._resolve, key, live)

    def _resolve(self, key: str, first: Live) -> None:
        """In a worker thread."""
        spec, words, built = first.spec.environment, "", None
        try:
            data = self._jobs.kit.resolve_environment(spec, self._logs[key])
            self._jobs.kit.prepare()
            built = environments.BuiltEnvironment(
                NODE_PYTHON,
                NODE_BIN,
                variables=dict(data.get("variables") or {}),
                deviations=tuple(data.get("deviations") or ()),
                on_node=data,
            )
        except RookeryError as error:
            words = error.message
        except Exception as error:
            log.exception("Environment %s could not be resolved", spec.name)
            words = f"Environment '{spec.name}' could not be resolved: {error!r}."
        self._logs[key].close()
        self._post(lambda: self._resolved(key, built, words))

    def _resolved(self, key: str, built: Optional[environments.BuiltEnvironment], problem: str) -> None:
        self._logs.pop(key, None)
        for live in self._groups.pop(key, []):
            if built is None:
                self._follow_up(live.run_id, obs.EnvironmentFailed(environment_cause(problem)))
            else:
                self._follow_up(live.run_id, obs.EnvironmentReady(built))

    def _prepare(self, key: str, first: Live) -> None:
        """In a worker thread."""
        spec, words = first.spec.environment, ""
        try:
            if key != PAYLOAD:
                environments.prepare(spec, self._logs[key], record=self._record)
            self._jobs.get_payload()
        except RookeryError as error:
            words = error.message
        except Exception as error:
            log.exception("Environment %s could not be prepared", spec.name)
            words = f"Environment '{spec.name}' could not be prepared: {error!r}."
        if key != PAYLOAD:
            self._logs[key].close()
        self._post(lambda: self._done(key, words))

    def _done(self, key: str, problem: str) -> None:
        self._logs.pop(key, None)
        for live in self._groups.pop(key, []):
            try:
                self._answer(live, problem)
            except Exception as error:  # nobody would ask for it again, and the others of the group wait too
                log.exception("Environment %s could not be looked at", live.spec.environment.name)
                words = f"Environment '{live.spec.environment.name}' could not be looked at: {error!r}."
                self._follow_up(live.run_id, obs.EnvironmentFailed(environment_cause(words)))

    def _answer(self, live: Live, problem: str) -> None:
        built = None if problem else environments.prepared(live.spec.environment)
        if built is not None and self._holds.take(live.run_id, built):
            self._follow_up(live.run_id, obs.EnvironmentReady(built))
        elif problem:
            self._follow_up(live.run_id, obs.EnvironmentFailed(environment_cause(problem)))
        else:
            self.want(live)  # the interpreter was changed, or the environment removed, in this very moment
