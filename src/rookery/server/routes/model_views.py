"""Models by name, where a version comes from, and what used an environment."""

from __future__ import annotations

import re
from typing import Annotated, Any, Optional

from fastapi import APIRouter, Query

from rookery.errors import UserError
from rookery.record.run_table import Columns
from rookery.server.answers import JsonAnswer, answer
from rookery.server.routes.run_views import git_of
from rookery.server.schemas_views import AliasGiven
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["models"])

MAX_NAMES = 2000
_ALIAS = re.compile(r"(?![vV][0-9]+\Z)[\w-]{1,255}\Z", re.ASCII)


@router.get("/model-names")
def list_model_names(services: Served) -> JsonAnswer:
    """Every name once, with its newest version."""
    return strict_answer({"models": services.record.model_names.overview(MAX_NAMES)})


@router.put("/model-names/{name}/aliases/{alias}")
def set_model_alias(name: str, alias: str, given: AliasGiven, services: Served) -> JsonAnswer:
    """Points an alias to a version; null takes it away."""
    if not _ALIAS.match(alias):
        raise UserError(f"Alias {alias!r:.60} is not allowed. Use 1 to 255 letters, digits, - and _, but not v1, v2 …")
    services.record.model_names.set_alias(name, alias, given.version)
    return answer({"aliases": services.record.model_names.get(name)["aliases"]})


@router.get("/models/{name}/{version}/lineage")
def get_lineage(name: str, version: int, services: Served) -> JsonAnswer:
    """From data over source and environment to the model."""
    record = services.record
    model = record.models.get(name, version)
    run = record.runs.find(model["run_id"]) if model["run_id"] else None
    found: dict[str, Any] = (record.search.one(run["id"]) or {}) if run else {}
    siblings = record.models.list(run_id=run["id"]) if run else []
    return strict_answer(
        {
            "model": model,
            "run": record.table.brief([run["id"]]).get(run["id"]) if run else None,
            "experiment": model["experiment"],
            "snapshot_id": model["snapshot_id"],
            "git": git_of(run) if run else {},
            "environment": run["spec"]["environment"]["name"] if run else None,
            "data": [
                {key: one[key] for key in ("direction", "kind", "name", "digest", "context")}
                for one in found.get("inputs", ())
            ],
            "siblings": [
                {"name": one["name"], "version": one["version"]} for one in siblings[:200] if one["id"] != model["id"]
            ],
        }
    )


@router.get("/environments/{name}/runs")
def list_environment_runs(
    name: str, services: Served, version: Optional[str] = None, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> JsonAnswer:
    """Who used it lately, newest first."""
    ids = services.record.table.of_environment(name, version, limit)
    shown = services.record.table.shown(ids, Columns((), (), ()))
    bare = ("metrics", "params", "tags")
    return strict_answer({"runs": [{k: v for k, v in run.items() if k not in bare} for run in shown]})
