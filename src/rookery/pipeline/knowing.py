"""What a graph may name in this workspace, for the validator: modules, compute targets, data sets, models."""

from __future__ import annotations

from typing import Any

from rookery.errors import RookeryError, UserError
from rookery.pipeline.catalog import Catalog
from rookery.pipeline.steps import check_body
from rookery.pipeline.validate import Known, validate
from rookery.record import Record
from rookery.spec.pipeline import Problem

__all__ = ["check_graph", "find_problems", "known_of"]


def find_problems(record: Record, controller: Any, graph: Any, parameters: Any = None) -> list[Problem]:
    """All problems of a graph in this workspace."""
    given = parameters if isinstance(parameters, dict) else {}
    return validate(graph, known_of(record, controller), given)


def check_graph(record: Record, controller: Any, graph: Any, parameters: Any = None) -> None:
    """Raises UserError, with all problems in its details, unless the graph can be run."""
    problems = find_problems(record, controller, graph, parameters)
    if problems:
        first = problems[0].message
        more = f" And {len(problems) - 1} more: `rookery pipeline validate` lists them." if len(problems) > 1 else ""
        raise UserError(
            f"The pipeline cannot be run: {first}{more}", details={"problems": [each.plain() for each in problems]}
        )


def known_of(record: Record, controller: Any) -> Known:
    seen: dict[Any, str] = {}  # three hundred nodes may name one data set

    def ask(what: str, get: Any, name: str, version: Any) -> str:
        key = (what, name, str(version))
        if key not in seen:
            try:
                get(name, None if version in (None, "", "latest") else int(version))
                seen[key] = ""
            except RookeryError as error:
                seen[key] = error.message
            except (TypeError, ValueError):
                seen[key] = f"Version {version!r:.40} of '{name}' is no number. Leave it out for the latest."
        return seen[key]

    computes = {each["name"]: int(each.get("max_nodes") or 0) for each in controller.computes()}
    computes["local"] = 1
    return Known(
        cards=Catalog(record).cards(),
        computes=computes,
        has_dataset=lambda name, version: ask("dataset", record.datasets.get, name, version),
        has_model=lambda name, version: ask("model", record.models.get, name, version),
        check_run=check_body,
    )
