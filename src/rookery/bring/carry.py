"""Carrying a source over, run by run, and counting both sides.

Nothing is remembered between calls but what the workspace itself holds: a call that was killed goes on where the workspace
ends, and one that finds everything there changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.bring.base import Experiment, LoggedModel, Registered, Run, Source, Version
from rookery.bring.files import carry_model_files, carry_run_files
from rookery.bring.mlflow_words import STATUS
from rookery.bring.values import carry_values
from rookery.errors import RookeryError, ServiceError, UserError

__all__ = ["Comparison", "bring"]

NOTE, PARENT = "mlflow.note.content", "mlflow.parentRunId"
MAX_PROBLEMS = 1000
KINDS = (
    "experiments", "runs", "parameters", "tags", "metrics", "metric values", "inputs and outputs", "files", "bytes of files",
    "logged models", "their metrics", "their files", "registered models", "versions", "aliases",
)  # fmt: skip


@dataclass
class Comparison:
    """What is there and what is here, by kind; and what could not be carried, a sentence each."""

    there: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    here: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    problems: list[str] = field(default_factory=list)
    new_runs: int = 0

    def count(self, kind: str, there: int, here: int) -> None:
        self.there[kind] += there
        self.here[kind] += here

    def problem(self, text: str) -> None:
        if len(self.problems) < MAX_PROBLEMS and text not in self.problems:
            self.problems.append(text)

    @property
    def is_equal(self) -> bool:
        return self.there == self.here and not self.problems

    def rows(self) -> list[tuple[str, int, int, int]]:
        """(kind, there, here, difference)."""
        return [(kind, self.there[kind], self.here[kind], self.here[kind] - self.there[kind]) for kind in KINDS]


def bring(
    client: Any,
    source: Source,
    names: Sequence[str] = (),
    progress: Callable[[int, int, str], None] = lambda done, total, words: None,
) -> Comparison:
    """Brings everything, or the experiments of these names with the models that come from them.

    Raises:
        UserError: there is no experiment of a name.
        ServiceError: the source or the workspace cannot be reached any more. What was carried is there; call it again.
    """
    carrier = _Carrier(client, source, progress)
    chosen = _choose(source.experiments(), names)
    carrier.total = source.count_runs([experiment.id for experiment in chosen])
    for experiment in chosen:
        carrier.experiment(experiment)
    for experiment in chosen:
        for run in source.runs(experiment):
            carrier.run(experiment, run)
    for experiment in chosen:
        for model in source.logged_models(experiment):
            carrier.logged_model(experiment, model)
    for registered in source.registered():
        if not names or any(version.run_id in carrier.places for version in registered.versions):
            carrier.registered(registered)
    return carrier.compared


class _Carrier:
    def __init__(self, client: Any, source: Source, progress: Callable[[int, int, str], None]) -> None:
        self._client, self._source, self._progress = client, source, progress
        self.compared = Comparison()
        self.total = 0
        self._done = 0
        self.places: dict[str, str] = {}  # run → its artifact address there
        self._model_places: dict[str, str] = {}

    def experiment(self, experiment: Experiment) -> None:
        body = {
            "name": experiment.name,
            "tags": experiment.tags,
            "created_ms": experiment.created_ms,
            "archived": experiment.is_deleted,
        }
        answer = self._ask(f"Experiment '{experiment.name}'", "/past/experiments", body)
        self.compared.count("experiments", 1, int(answer is not None))

    def run(self, experiment: Experiment, run: Run) -> None:
        """One run with all that belongs to it; the keeper is asked what it has before and after."""
        self._progress(self._done, self.total, f"{experiment.name}: {run.name or run.id}")
        self.places[run.id] = run.artifacts
        compared, what = self.compared, f"Run {run.id}"
        body = _run_body(experiment, run)
        compared.count("runs", 1, 0)
        compared.count("parameters", len(run.params), 0)
        compared.count("tags", len(run.tags), 0)
        compared.count("inputs and outputs", len(run.inputs), 0)
        compared.count("metrics", len(run.metrics), 0)
        before = self._ask(what, "/past/runs", body)
        self._done += 1
        if before is None:
            return
        compared.new_runs += bool(before["is_new"])
        moved = False
        for name, there, error in carry_values(self._client, self._source, run, before["values"]):
            compared.count("metric values", there, 0)
            moved |= there != before["values"].get(name, 0)
            if error:
                compared.problem(f"{what}: {error}")
        files = carry_run_files(self._client, self._source, run, compared.problem)
        compared.count("files", files.there, files.here)
        compared.count("bytes of files", files.bytes_there, files.bytes_here)
        after = (self._ask(what, "/past/runs", body) or before) if moved else before
        values = {name: after["values"].get(name, 0) for name in run.metrics}
        compared.count("runs", 0, 1)
        compared.count("parameters", 0, after["params"])
        compared.count("tags", 0, after["tags"])
        compared.count("inputs and outputs", 0, after["inputs"])
        compared.count("metrics", 0, sum(1 for count in values.values() if count))
        compared.count("metric values", 0, sum(values.values()))
        self._progress(self._done, self.total, f"{experiment.name}: {run.name or run.id}")

    def logged_model(self, experiment: Experiment, model: LoggedModel) -> None:
        self._progress(self._done, self.total, f"model {model.name}")
        self._model_places[model.id] = model.artifacts
        body = {
            "id": model.id,
            "experiment": experiment.name,
            "run_id": model.run_id,
            "name": model.name,
            "model_type": model.type,
            "status": model.status,
            "created_ms": model.created_ms,
            "modified_ms": model.modified_ms,
            "deleted": model.is_deleted,
            "tags": model.tags,
            "params": model.params,
            "metrics": model.metrics,
        }
        answer = self._ask(f"Model {model.id}", "/past/logged-models", body)
        self.compared.count("logged models", 1, int(answer is not None))
        self.compared.count("their metrics", len(model.metrics), answer["metrics"] if answer else 0)
        if answer is not None:
            small = {key: body[key] for key in ("id", "experiment", "status")}
            files = carry_model_files(self._client, self._source, model, small, answer["sizes"], self.compared.problem)
            self.compared.count("their files", files.there, files.here)

    def registered(self, model: Registered) -> None:
        self._progress(self._done, self.total, f"registered model {model.name}")
        body = {
            "name": model.name,
            "description": model.description,
            "tags": model.tags,
            "created_ms": model.created_ms,
            "modified_ms": model.modified_ms,
            "aliases": model.aliases,
            "versions": [self._version_body(version) for version in model.versions],
        }
        answer = self._ask(f"Registered model '{model.name}'", "/past/models", body)
        self.compared.count("registered models", 1, int(answer is not None))
        have, aliased = (answer["versions"], answer["aliases"]) if answer else ([], {})
        here = {version.number for version in model.versions} & set(have)
        aliases = sum(1 for alias, version in model.aliases.items() if aliased.get(alias) == version)
        self.compared.count("versions", len(model.versions), len(here))
        self.compared.count("aliases", len(model.aliases), aliases)

    def _version_body(self, version: Version) -> dict[str, Any]:
        body: dict[str, Any] = {
            "version": version.number,
            "created_ms": version.created_ms,
            "modified_ms": version.modified_ms,
            "description": version.description,
            "stage": version.stage,
            "source": version.source,
            "source_link": version.run_link or None,
            "run_id": version.run_id,
            "created_by": version.user,
            "framework": "MLflow",
            "tags": version.tags,
        }
        source = version.source.rstrip("/")
        if version.model_id or source in self._model_places.values():
            of = version.model_id or next(m for m, place in self._model_places.items() if place == source)
            return {**body, "files_of_model": of}
        if source.startswith("runs:/"):
            run_id, _, path = source[len("runs:/") :].partition("/")
            return {**body, "files_of_run": run_id, "path": path}
        place = self.places.get(version.run_id, "").rstrip("/")
        if place and source.startswith(place + "/"):
            return {**body, "files_of_run": version.run_id, "path": source[len(place) + 1 :]}
        return body

    def _ask(self, what: str, path: str, body: dict[str, Any]) -> Optional[dict[str, Any]]:
        """The answer; None where the keeper refuses it, which is a problem of this thing and not of the rest."""
        try:
            answer: dict[str, Any] = self._client.request("POST", path, body=body)
            return answer
        except ServiceError:
            raise
        except RookeryError as error:
            self.compared.problem(f"{what}: {error}")
            return None


def _run_body(experiment: Experiment, run: Run) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "experiment": experiment.name,
        "display_name": run.name,
        "description": run.tags.get(NOTE, ""),
        "user": run.user,
        "status": STATUS.get(run.status, "Failed"),
        "began_ms": run.began_ms,
        "ended_ms": run.ended_ms,
        "deleted": run.is_deleted,
        "deleted_ms": run.deleted_ms,
        "parent_id": run.tags.get(PARENT),
        "tags": run.tags,
        "params": run.params,
        "inputs": run.inputs,
    }


def _choose(experiments: list[Experiment], names: Sequence[str]) -> list[Experiment]:
    known = {experiment.name for experiment in experiments}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UserError(f"There is no experiment {unknown[0]!r} in the source. Known: {', '.join(sorted(known))}.")
    return [experiment for experiment in experiments if not names or experiment.name in names]
