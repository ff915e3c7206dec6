"""Experiment: a named collection of runs, and where runs are submitted from."""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import ExperimentNotFoundError, RookeryError, UserError
from rookery.sdk.filters import key_values, run_filters, texts
from rookery.sdk.html import DOCS_URL, link, page_link, table, table_of
from rookery.sdk.run_types import make_run
from rookery.spec.names import check_experiment_name

if TYPE_CHECKING:
    from rookery.sdk.run import Run
    from rookery.sdk.workspace import Workspace

__all__ = ["Experiment", "ViewType"]

SHOWN_RUNS = 5


class ViewType:
    """Which experiments `Experiment.list` shows."""

    ActiveOnly = "ActiveOnly"
    All = "All"
    ArchivedOnly = "ArchivedOnly"


_VIEWS = {ViewType.ActiveOnly: "active", ViewType.All: "all", ViewType.ArchivedOnly: "archived"}


class Experiment:
    """Runs under one name. The constructor creates the experiment where it does not exist yet."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        _skip_name_validation: bool = False,
        _id: Optional[str] = None,
        _archived_time: Any = None,
        _create_in_cloud: bool = True,
        _experiment_dto: Optional[dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        self._workspace = workspace
        # One that is there may have a freer name, given by an MLflow client.
        self._name = name if _experiment_dto is not None else check_experiment_name(name)
        self._cached = _experiment_dto
        if _create_in_cloud and self._cached is None:
            self._cached = self._client.request("PUT", self._path())

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    @property
    def workspace_object(self) -> Workspace:
        return self._workspace

    @property
    def name(self) -> str:
        return self._name

    @property
    def id(self) -> str:
        return str(self._data["id"])

    @property
    def archived_time(self) -> Optional[str]:
        return self._data["archived_utc"]

    @property
    def tags(self) -> dict[str, Any]:
        return dict(self._data["tags"])

    def submit(self, config: Any, tags: Optional[dict[str, Any]] = None, **kwargs: Any) -> Any:
        """Take a snapshot of the source, create the run and return it at once; it executes on its compute
        target.

        Raises:
            UserError: `config` is nothing that can be submitted, or contradicts itself.
            SubmitError: the script is not in the source folder.
        """
        from rookery.sdk.script_run import submit_config

        return submit_config(self, config, tags=tags, **kwargs)

    def start_logging(self, *args: Any, **kwargs: Any) -> Run:
        """An interactive run of this process: `start_logging(outputs=None, snapshot_directory='.',
        display_name=None)`."""
        from rookery.sdk.interactive import start_interactive_run

        return start_interactive_run(self, *args, **kwargs)

    def get_runs(
        self,
        type: Optional[str] = None,
        tags: Any = None,
        properties: Any = None,
        include_children: bool = False,
    ) -> Iterator[Run]:
        """Its runs, newest first, fetched page by page; top-level ones only unless `include_children`."""
        filters = run_filters(type, tags, properties, None, include_children)
        return (make_run(self, data) for data in list_runs(self._client, {"experiment": self._name, **filters}))

    @staticmethod
    def list(
        workspace: Workspace,
        experiment_name: Optional[str] = None,
        view_type: str = ViewType.ActiveOnly,
        tags: Any = None,
    ) -> builtins.list[Experiment]:
        """The experiments of a workspace, optionally only those with this name and all these tags."""
        if view_type not in _VIEWS:
            raise UserError(f"view_type={view_type!r} does not exist. Known: {', '.join(_VIEWS)}.")
        wanted = [pair.partition("=") for pair in key_values(tags)]
        found = []
        for data in workspace.client.request("GET", "/experiments", query={"view": _VIEWS[view_type]})["experiments"]:
            has_tags = all(
                key in data["tags"] and (not equals or data["tags"][key] == value) for key, equals, value in wanted
            )
            if has_tags and experiment_name in (None, data["name"]):
                found.append(Experiment(workspace, data["name"], _experiment_dto=data))
        return found

    @staticmethod
    def delete(workspace: Workspace, experiment_id: str) -> None:
        """Remove an experiment that has no runs, by its id or name."""
        for data in workspace.client.request("GET", "/experiments", query={"view": "all"})["experiments"]:
            if experiment_id in (data["id"], data["name"]):
                workspace.client.request("DELETE", f"/experiments/{data['name']}")
                return
        raise ExperimentNotFoundError(
            f"Experiment '{experiment_id}' does not exist. Experiment.list(workspace) shows all."
        )

    @staticmethod
    def from_directory(path: str, auth: Any = None) -> Experiment:
        """The experiment of a project folder: of its workspace, named like the folder."""
        from rookery.sdk.workspace import Workspace

        folder = os.path.abspath(os.path.expanduser(path))
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(folder)).strip("-_") or "default"
        return Experiment(Workspace.from_config(folder, auth), name)

    def archive(self) -> None:
        """Hide it from `Experiment.list` and `ws.experiments`; its runs stay."""
        self._patch({"archived": True})

    def reactivate(self, new_name: Optional[str] = None) -> None:
        """Undo `archive`, under a new name if one is given."""
        changes: dict[str, Any] = {"archived": False}
        if new_name is not None:
            changes["name"] = check_experiment_name(new_name)
        self._patch(changes)
        self._name = self._data["name"]

    def tag(self, key: str, value: Any = None) -> None:
        self.set_tags({key: value})

    def set_tags(self, tags: dict[str, Any]) -> None:
        """Add these tags, or change their values; the others stay."""
        self._patch({"tags": texts(tags)})

    def remove_tags(self, tags: Any) -> None:
        self._patch({"remove_tags": [tags] if isinstance(tags, str) else [str(tag) for tag in tags]})

    def refresh(self) -> None:
        """Ask the keeper anew for id, tags and archived_time."""
        self._cached = self._client.request("GET", self._path())

    def get_portal_url(self) -> str:
        return f"{self._workspace._base_url}/experiments/{self._name}"

    @classmethod
    def get_docs_url(cls) -> str:
        return DOCS_URL

    def __repr__(self) -> str:
        return f"Experiment(Name: {self._name},\nWorkspace: {self._workspace.name})"

    def _repr_html_(self) -> str:
        page, docs = (
            page_link(self, "Link to the experiment"),
            link(self.get_docs_url(), "Link to Documentation"),
        )
        shown = table({"Name": self._name, "Workspace": self._workspace.name, "Report Page": page, "Docs Page": docs})
        return shown + self._latest_as_html()

    def _latest_as_html(self) -> str:
        """Its newest runs. Nothing where the keeper cannot be asked: what shows itself must not fail."""
        try:
            query = {"experiment": self._name, "limit": SHOWN_RUNS}
            found = self._client.request("GET", "/runs", query=query)["runs"][:SHOWN_RUNS]
        except RookeryError:
            return ""
        base = self._workspace._base_url
        rows = [
            {
                "Run": link(f"{base}/runs/{run['id']}", run["display_name"] or run["id"]),
                "Status": run["status"],
                "Created": run["created_utc"][:19].replace("T", " "),
                "Compute": run["compute"],
                "Why": (run["error"] or {}).get("summary") or run["reason"] or "",
            }
            for run in found
        ]
        return table_of(rows) if rows else ""

    @property
    def _client(self) -> Any:
        return self._workspace.client

    @property
    def _data(self) -> dict[str, Any]:
        if self._cached is None:
            self.refresh()
        assert self._cached is not None
        return self._cached

    def _patch(self, changes: dict[str, Any]) -> None:
        self._cached = self._client.request("PATCH", self._path(), body=changes)

    def _path(self) -> str:
        return f"/experiments/{self._name}"


def list_runs(client: Any, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The keeper's JSON of every run that matches, newest first, page by page as it is consumed."""
    cursor: Optional[str] = None
    while True:
        page = client.request("GET", "/runs", query={**query, "cursor": cursor} if cursor else query)
        yield from page["runs"]
        cursor = page["cursor"]
        if not cursor:
            return
