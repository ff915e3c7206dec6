"""Runs: create, look, change, search. A run that a client creates is an external one: its status is what the client says."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any

from rookery.record.clock import from_unix
from rookery.record.search import Condition, Order
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import NOTE, PARENT, RUN_NAME, run_info, run_out, status_in, statuses_of
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.experiments import find_experiment, view_of
from rookery.server.mlflow.filters import RUNS, parse_filter, parse_order
from rookery.server.mlflow.names import invented_name
from rookery.server.mlflow.pages import make_token, read_token
from rookery.spec.run import RunKind, RunSpec

__all__ = ["change", "create", "delete", "find_run", "get", "restore", "search"]

MAX_RESULTS = 50_000
USER = "mlflow.user"


def create(call: Call) -> dict[str, Any]:
    experiment = find_experiment(call.record, call.text("experiment_id", "0"))
    if experiment["archived_utc"]:
        raise invalid(f"The experiment {experiment['id']} must be in the 'active' state. Current state is deleted.")
    tags = call.pairs("tags")
    name = call.text("run_name", "")
    tagged = tags.pop(RUN_NAME, "")
    if name and tagged and name != tagged:
        raise invalid(
            f"Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different values ({name!r:.80}, {tagged!r:.80})."
        )
    parent = tags.get(PARENT) or None
    call.check_run(parent)
    if parent is not None and call.record.search.one(parent) is None:
        parent = None  # a tag may say anything; only a run that is here can be a parent here
    spec = RunSpec(
        run_id=secrets.token_hex(16),
        experiment=experiment["name"],
        kind=RunKind.EXTERNAL,
        parent_id=parent,
        display_name=name or tagged or invented_name(),
        description=tags.get(NOTE, ""),
        compute="external",
        tags=dict(tags),
    )
    # Somebody whose token we know is who they are, whatever their client calls them; the owner's may speak for others.
    known = call.principal.name if call.principal.role is not None else ""
    user = known or call.text("user_id", "") or tags.get(USER, "") or str(call.principal)
    began = call.integer("start_time", int(time.time() * 1000), 0, 2**53) or None
    return {"run": run_out(call.record.external.create(spec, user, began))}


def get(call: Call) -> dict[str, Any]:
    return {"run": run_out(find_run(call, call.run_id()))}


def change(call: Call) -> dict[str, Any]:
    """Status and end of an external run; those of a submitted one are what its agent sees, and stay so."""
    run_id = call.own_run_id()
    find_run(call, run_id)
    name = call.text("run_name", "")
    if name:
        call.record.external.log(run_id, names={"display_name": name})
    if call.args.get("status") is not None:
        status = status_in(call.args["status"])
        if status is None:
            raise invalid(
                f"Invalid value {call.args['status']!r:.40} for parameter 'status'. "
                "Known: RUNNING, SCHEDULED, FINISHED, FAILED, KILLED."
            )
        ended = call.integer("end_time", 0, 0, 2**53) or None
        call.record.external.report(run_id, status, ended)
    return {"run_info": run_info(find_run(call, run_id))}


def delete(call: Call) -> dict[str, Any]:
    run_id = call.run_id()
    find_run(call, run_id)
    call.record.external.delete(run_id)
    return {}


def restore(call: Call) -> dict[str, Any]:
    run_id = call.run_id()
    find_run(call, run_id)
    call.record.external.delete(run_id, restore=True)
    return {}


def search(call: Call) -> dict[str, Any]:
    limit = call.integer("max_results", 1000, 1, MAX_RESULTS)
    conditions = [c for given in parse_filter(call.text("filter", ""), RUNS) for c in _ours(given)]
    order = [_our_order(parse_order(text, RUNS)) for text in call.texts("order_by")]
    view = view_of(call, "run_view_type")
    ids = ["0" if i == "0" else i for i in call.texts("experiment_ids")]
    if "0" in ids:
        ids[ids.index("0")] = find_experiment(call.record, "0")["id"]
    offset = read_token(call.text("page_token", ""))
    deleted = {"active": False, "archived": True, "all": None}[view]
    found, is_more = call.record.search.runs(ids, conditions, order, limit, offset, deleted)
    result: dict[str, Any] = {}
    if found:
        result["runs"] = [run_out(run) for run in found]
    if is_more:
        result["next_page_token"] = make_token(offset + limit)
    return result


def find_run(call: Call, run_id: str) -> dict[str, Any]:
    run = call.record.search.one(run_id)
    if run is None:
        raise missing(f"Run with id={run_id:.255} not found")
    return run


def _ours(given: Condition) -> list[Condition]:
    """Their attributes in our terms."""
    if given.kind == "tag" and given.key == RUN_NAME and given.op not in ("IS NULL", "IS NOT NULL"):
        return [Condition("attribute", "display_name", given.op, given.value)]
    if given.kind != "attribute":
        return [given]
    if given.key == "ended_utc":
        return [replace(given, value=from_unix(given.value / 1000))]
    if given.key == "status":
        return [_status(given)]
    if given.key == "artifact_uri":
        raise invalid(
            "artifact_uri cannot be searched here: it is made of the experiment's and the run's id. Search run_id."
        )
    return [given]


def _status(given: Condition) -> Condition:
    """A status of theirs is several of ours."""
    if given.op in ("LIKE", "ILIKE"):
        from rookery.server.mlflow.filters import like

        names = [
            n
            for n in ("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")
            if like(n, given.value, given.op == "ILIKE")
        ]
    else:
        names = given.value if isinstance(given.value, list) else [given.value]
    ours = [status for name in names for status in statuses_of(name)]
    return Condition("attribute", "status", "NOT IN" if given.op in ("!=", "NOT IN") else "IN", ours or [""])


def _our_order(order: Order) -> Order:
    if order.kind == "tag" and order.key == RUN_NAME:
        return Order("attribute", "display_name", order.ascending)
    if order.kind == "dataset":
        raise invalid("Runs cannot be ordered by a dataset. Possible: attributes, metrics, params, tags.")
    if order.kind == "attribute" and order.key == "artifact_uri":
        return Order("attribute", "id", order.ascending)
    return order
