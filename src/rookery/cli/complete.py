"""What the shell offers on TAB. Asks only a keeper that runs already; on any trouble it offers nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from typer import Context

from rookery.cli.find import LAST
from rookery.cli.terminal import clean
from rookery.spec.status import ACTIVE, RunStatus

__all__ = [
    "complete_compute",
    "complete_dataset",
    "complete_datastore",
    "complete_endpoint",
    "complete_environment",
    "complete_environment_key",
    "complete_experiment",
    "complete_live_run",
    "complete_model",
    "complete_pipeline",
    "complete_run",
    "complete_status",
]

Offers = list[tuple[str, str]]


def complete_run(ctx: Context, incomplete: str) -> Offers:
    return _offers(ctx, incomplete, _runs)


def complete_live_run(ctx: Context, incomplete: str) -> Offers:
    return _offers(ctx, incomplete, lambda client: _runs(client, {"status": [str(s) for s in ACTIVE]}))


def complete_compute(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        answer = client.request("GET", "/compute")
        found = answer["compute"] if isinstance(answer, dict) else answer
        specs = ((c["name"], c.get("spec") or {}) for c in found)
        return [(name, clean(spec.get("vm_size") or spec.get("engine", ""))) for name, spec in specs]

    return _offers(ctx, incomplete, ask)


def complete_experiment(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        found = client.request("GET", "/experiments", query={"view": "all"})["experiments"]
        return [(e["name"], f"{e['shown_count']} runs") for e in found]

    return _offers(ctx, incomplete, ask)


def complete_model(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        found = client.request("GET", "/models", query={"latest": "true"})["models"]
        return [(m["name"], f"version {m['version']}") for m in found]

    return _offers(ctx, incomplete, ask)


def complete_pipeline(ctx: Context, incomplete: str) -> Offers:
    """Runs of pipelines that have completed, and YAML files of the folder that is being typed."""
    folder, _, start = incomplete.rpartition("/")
    try:
        names = sorted(os.listdir(folder or ("/" if incomplete.startswith("/") else ".")))
    except OSError:
        names = []
    files = [f"{folder}/{name}" if "/" in incomplete else name for name in names if name.startswith(start)]
    found = [(name, "file") for name in files if name.endswith((".yaml", ".yml"))]
    query = {"kind": "pipeline", "status": str(RunStatus.COMPLETED)}
    return [*found, *_offers(ctx, incomplete, lambda client: _runs(client, query))]


def complete_dataset(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        found = client.request("GET", "/datasets")["datasets"]
        return [(d["name"], f"version {d['version']}, {d['files']} files") for d in found]

    return _offers(ctx, incomplete, ask)


def complete_datastore(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        return [(d["name"], d["kind"]) for d in client.request("GET", "/datastores")["datastores"]]

    return _offers(ctx, incomplete, ask)


def complete_endpoint(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        return [(e["name"], e["state"]) for e in client.request("GET", "/endpoints")["endpoints"]]

    return _offers(ctx, incomplete, ask)


def complete_environment(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        found = client.request("GET", "/environments")["environments"]
        return [(e["name"], clean(e.get("maps_to") or f"version {e['version']}")) for e in found]

    return _offers(ctx, incomplete, ask)


def complete_environment_key(ctx: Context, incomplete: str) -> Offers:
    def ask(client: Any) -> Offers:
        found = client.request("GET", "/built-environments", query={"measure": "false"})["environments"]
        return [(e["key"], clean(e["name"])) for e in found]

    return _offers(ctx, incomplete, ask)


def complete_status(incomplete: str) -> list[str]:
    return [str(s) for s in RunStatus if str(s).lower().startswith(incomplete.lower())]


def _runs(client: Any, query: Any = None) -> Offers:
    found = client.request("GET", "/runs", query={**(query or {}), "limit": 50})["runs"]
    last = [(LAST, "the newest run")] if found else []
    return [(r["id"], clean(f"{r['status']} {r['display_name']}")) for r in found] + last


def _offers(ctx: Context, incomplete: str, ask: Callable[[Any], Offers]) -> Offers:
    from rookery.cli import session

    try:
        client = session.running_client(_workspace(ctx))
        return [offer for offer in ask(client) if offer[0].startswith(incomplete)] if client else []
    except Exception:  # a TAB must never print an error into the line that is being typed
        return []


def _workspace(ctx: Context) -> Any:
    """--workspace as typed so far, on the verb or before it."""
    where: Any = ctx
    while where is not None:
        if where.params.get("workspace"):
            return where.params["workspace"]
        where = where.parent
    return None
