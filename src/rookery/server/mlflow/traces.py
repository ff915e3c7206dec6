"""Traces, as far as clients need an answer: what is said of a trace is kept and found again; its spans are the client's file."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

from starlette.responses import Response

from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import location
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.experiments import find_experiment
from rookery.server.mlflow.pages import make_token, read_token

__all__ = ["batch_get", "delete", "delete_tag", "get", "get_info", "search", "set_tag", "start", "take_spans"]

ARTIFACTS = "mlflow.artifactLocation"
MAX_SPANS = 64 * 1024 * 1024


def start(call: Call) -> dict[str, Any]:
    trace = call.args.get("trace")
    info = trace.get("trace_info") if isinstance(trace, dict) else None
    if not isinstance(info, dict) or not isinstance(info.get("trace_id"), str) or not info["trace_id"]:
        raise invalid("Missing value for required parameter 'trace.trace_info.trace_id'.")
    where = (info.get("trace_location") or {}).get("mlflow_experiment") or {}
    experiment = find_experiment(call.record, str(where.get("experiment_id") or "0"))
    trace_id = info["trace_id"][:255]
    tags = {**(info.get("tags") or {}), ARTIFACTS: location(experiment["id"], "traces", trace_id, "artifacts")}
    kept = {**info, "tags": tags}
    call.record.traces.put(trace_id, experiment["id"], _milliseconds(info.get("request_time")), kept)
    return {"trace": {"trace_info": kept}}


def get_info(call: Call) -> dict[str, Any]:
    return {"trace": {"trace_info": _find(call, call.path["trace_id"])["data"]}}


def get(call: Call) -> dict[str, Any]:
    return {"trace": _whole(call, _find(call, call.text("trace_id")))}


def batch_get(call: Call) -> dict[str, Any]:
    found = [call.record.traces.get(trace_id) for trace_id in call.texts("trace_ids")]
    shown = [_whole(call, trace) for trace in found if trace is not None]
    return {"traces": shown} if shown else {}


def search(call: Call) -> dict[str, Any]:
    """The newest of some experiments. Filters are not understood: one that is given is refused, not overlooked."""
    if call.text("filter", "").strip():
        raise invalid("Traces cannot be searched by a filter here. Leave the filter out and choose among what comes.")
    ids = [
        str(((item.get("mlflow_experiment") or {}).get("experiment_id")) or "") for item in call.items("locations")
    ] + call.texts("experiment_ids")
    ids = [find_experiment(call.record, "0")["id"] if i == "0" else i for i in ids if i]
    limit = call.integer("max_results", 100, 1, 5000)
    offset = read_token(call.text("page_token", ""))
    found = call.record.traces.list(ids, limit + 1, offset) if ids else []
    shown: dict[str, Any] = {"traces": [trace["data"] for trace in found[:limit]]} if found else {}
    return {**shown, **({"next_page_token": make_token(offset + limit)} if len(found) > limit else {})}


def delete(call: Call) -> dict[str, Any]:
    return {"traces_deleted": call.record.traces.delete(call.texts("request_ids") or call.texts("trace_ids"))}


def set_tag(call: Call) -> dict[str, Any]:
    trace = _find(call, call.path["trace_id"])
    tags = {**trace["data"].get("tags", {}), call.text("key"): call.text("value", "")}
    call.record.traces.put(trace["id"], trace["experiment_id"], trace["time_ms"], {**trace["data"], "tags": tags})
    return {}


def delete_tag(call: Call) -> dict[str, Any]:
    trace = _find(call, call.path["trace_id"])
    tags = {key: value for key, value in trace["data"].get("tags", {}).items() if key != call.text("key")}
    call.record.traces.put(trace["id"], trace["experiment_id"], trace["time_ms"], {**trace["data"], "tags": tags})
    return {}


async def take_spans(call: Call) -> Response:
    """Spans come a second time, as OTLP; the file that the client puts beside its trace holds the same."""
    taken = 0
    async for piece in call.request.stream():
        taken += len(piece)
        if taken > MAX_SPANS:
            raise invalid(f"Spans of more than {MAX_SPANS // 1024**2} MiB at once are not taken.")
    return Response(b"", media_type="application/x-protobuf")


def _whole(call: Call, trace: dict[str, Any]) -> dict[str, Any]:
    return {"trace_info": trace["data"], **_spans(call, trace)}


def _spans(call: Call, trace: dict[str, Any]) -> dict[str, Any]:
    """Those of the file that the client has put beside the trace."""
    file = call.record.loose_files.find(f"{trace['experiment_id']}/traces/{trace['id']}/artifacts/traces.json")
    if file is None or file["size"] > MAX_SPANS:
        return {}
    with call.record.content.open(file["sha256"]) as stream:
        try:
            found = json.loads(stream.read()).get("spans", [])
        except (ValueError, AttributeError):
            return {}
    return {"spans": found} if isinstance(found, list) and found and "trace_id" in found[0] else {}


def _find(call: Call, trace_id: str) -> dict[str, Any]:
    found = call.record.traces.get(trace_id)
    if found is None:
        raise missing(f"Trace with ID '{trace_id:.255}' not found.")
    return found


def _milliseconds(moment: Any) -> int:
    try:
        return int(datetime.fromisoformat(str(moment).replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return int(time.time() * 1000)
