"""Endpoints as the API shows them, and their numbers as charts want them."""

from __future__ import annotations

import time
from typing import Any

from rookery.record import Record
from rookery.record.clock import from_unix
from rookery.serve.asked import DEFAULTS
from rookery.serve.front.numbers import BUCKET_S, edge_of

__all__ = ["latency", "show"]


def show(row: dict[str, Any], address: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """Endpoint of docs/inside/serve.md. `seen` is what its front said last."""
    settings, name = row["settings"], row["name"]
    scheme = "https" if address.get("tls_cert") else "http"
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(address["host"], address["host"])
    base = f"{scheme}://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{settings['port']}"
    if row["kind"] != "local":
        base += f"/api/v1/service/{name}"
    told = seen.get("versions", {})
    shares = _shares(row["versions"])
    operation = dict(row["operation"])
    if operation["state"] == "Running":
        operation["words"] = _words(row, told)
    return {
        "name": name,
        "kind": row["kind"],
        "state": row["state"],
        "error": row["error"],
        "operation": operation,
        **row["about"],
        "created_utc": row["created_utc"],
        "updated_utc": row["updated_utc"],
        "created_by": row["created_by"],
        "auth_enabled": settings["auth_enabled"],
        "token_auth_enabled": settings["token_auth_enabled"],
        "port": settings["port"],
        "scoring_uri": base + "/score",
        "swagger_uri": base + "/swagger.json",
        "keeper_path": f"/api/v1/service/{name}/score",
        "versions": [_version(one, told.get(one["name"], {}), shares[one["name"]]) for one in row["versions"]],
        "requests": row["requests"],
        "errors": row["errors"],
    }


def _shares(versions: list[dict[str, Any]]) -> dict[str, float]:
    """Name → percent of the requests: the default version has what the others leave over."""
    others = sum(one["traffic"] for one in versions if not one["is_default"])
    return {one["name"]: max(0.0, 100.0 - others) if one["is_default"] else one["traffic"] for one in versions}


def _version(version: dict[str, Any], told: dict[str, Any], share: float) -> dict[str, Any]:
    newest = version["wanted"] or version["serving"]
    what, launch = newest["what"], newest["launch"]
    replicas = [
        {
            "pid": one["pid"],
            "state": one["state"],
            "revision": revision["revision"],
            "since_utc": from_unix(one["since"]),
            "restarts": revision["restarts"],
        }
        for revision in told.get("revisions", {}).values()
        for one in revision["replicas"]
    ]
    environment = launch["environment"] if launch else None
    serving = told.get("revisions", {}).get(str(told.get("serving"))) or {}
    return {
        "name": version["name"],
        "revision": newest["revision"],
        "traffic": share,
        "is_default": bool(version["is_default"]),
        "state": version["state"],
        "error": version["error"],
        "models": what["models"],
        "inference": what["inference"],
        "no_code": what["no_code"],
        "config": {**DEFAULTS, **newest["config"]},
        "environment": {k: environment[k] for k in ("name", "python", "deviations")} if environment else None,
        "replicas": replicas,
        "scaling": serving.get("scaling"),
        "created_utc": version["created_utc"],
        "updated_utc": version["updated_utc"],
        **version["about"],
    }


def _words(row: dict[str, Any], told: dict[str, Any]) -> str:
    """What is waited for."""
    for version in row["versions"]:
        wanted = version["wanted"]
        if not wanted or wanted.get("failed"):
            continue
        if not wanted["launch"]:
            return "its environment is prepared and its files are laid out"
        found = told.get(version["name"], {}).get("revisions", {}).get(str(wanted["revision"]))
        if found is None:
            return "its front is started"
        ready = sum(one["state"] == "ready" for one in found["replicas"])
        return f"init() is running: {ready} of {len(found['replicas'])} processes are ready"
    return ""


def latency(record: Record, name: str, seconds: int, points: int) -> dict[str, Any]:
    """Series of a chart: each point adds up as many histograms of ten seconds as it takes."""
    record.endpoints.get(name)
    seconds, points = max(60, min(seconds, 7 * 86400)), max(1, min(points, 2000))
    step = max(BUCKET_S, -(-seconds // points) // BUCKET_S * BUCKET_S)
    now = int(time.time())
    since = (now - seconds) // step * step
    series: dict[str, dict[int, dict[str, Any]]] = {}
    whole = _empty()
    for version, start, data in record.endpoints.numbers(name, since):
        place = series.setdefault(version, {}).setdefault(start // step * step, _empty())
        for into in (place, whole):
            _add(into, data)
    total = {**{key: whole[key] for key in ("requests", "errors")}, **_percentiles(whole)}
    shown = [_series(version, found) for version, found in sorted(series.items())]
    return {"from": since, "to": now, "step_s": step, "series": shown, "total": total}


def _series(version: str, found: dict[int, dict[str, Any]]) -> dict[str, Any]:
    told: dict[str, Any] = {"version": version, "times": sorted(found)}
    rows = [found[when] for when in told["times"]]
    for key in ("requests", "errors"):
        told[key] = [row[key] for row in rows]
    for key in ("p50_ms", "p95_ms", "p99_ms"):
        told[key] = [_percentiles(row)[key] for row in rows]
    for key in ("run_ms", "queue_ms", "batch"):
        told[key] = [round(row[key] / max(1, row["requests"]), 3) for row in rows]
    return told


def _empty() -> dict[str, Any]:
    return {"requests": 0, "errors": 0, "run_ms": 0.0, "queue_ms": 0.0, "batch": 0, "bins": {}}


def _add(into: dict[str, Any], data: dict[str, Any]) -> None:
    for key in ("requests", "errors", "run_ms", "queue_ms", "batch"):
        into[key] += data[key]
    for place, count in data["bins"].items():
        into["bins"][int(place)] = into["bins"].get(int(place), 0) + count


def _percentiles(row: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    count = sum(row["bins"].values())
    for share in (50, 95, 99):
        wanted, passed, value = count * share / 100, 0, None
        for place in sorted(row["bins"]):
            passed += row["bins"][place]
            if passed >= wanted:
                value = round(edge_of(place), 3)
                break
        told[f"p{share}_ms"] = value
    return told
