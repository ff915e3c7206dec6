"""v1's bodies for published pipelines, as parameters of ours."""

from __future__ import annotations

from typing import Any

from rookery.errors import UserError
from rookery.record import Record

__all__ = ["rest_parameters"]


def rest_parameters(record: Record, graph: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """`ParameterAssignments`, `DataPathAssignments` and `DataSetDefinitionValueAssignments`, in one.

    Raises:
        UserError: one of them has another form than the documented one.
    """
    found = dict(body.get("ParameterAssignments") or {})
    for name, about in (body.get("DataPathAssignments") or {}).items():
        if not isinstance(about, dict) or not (about.get("DataStoreName") or about.get("datastore")):
            raise UserError(
                f'DataPathAssignments[\'{name:.80}\'] is {about!r:.80}. Give {{"DataStoreName": …, "RelativePath": …}}.'
            )
        place = {
            "datastore": about.get("DataStoreName") or about.get("datastore"),
            "path": about.get("RelativePath") or about.get("path") or "",
        }
        found[name] = {"definition": {"kind": "file", "sources": [place]}}
    for name, about in (body.get("DataSetDefinitionValueAssignments") or {}).items():
        saved = (about or {}).get("SavedDataSetReference") if isinstance(about, dict) else None
        registered = (about or {}).get("RegisteredDataSetReference") if isinstance(about, dict) else None
        if isinstance(saved, dict) and saved.get("Id"):
            found[name] = {"definition_id": str(saved["Id"])}
        elif isinstance(registered, dict) and registered.get("Name"):
            found[name] = {"dataset": registered["Name"], "version": registered.get("Version")}
        else:
            raise UserError(
                f"DataSetDefinitionValueAssignments['{name:.80}'] is {about!r:.80}. "
                'Give {"SavedDataSetReference": {"Id": …}}.'
            )
    return found
