"""What a client logs: metrics, parameters, tags; one by one or in batches. These check and gather; the intake stores."""

from __future__ import annotations

import posixpath
import re
import time
from typing import Any, Optional

from rookery.record.external import Said
from rookery.record.metric_values import Chunk, chunk_of_values
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import NOTE, RUN_NAME, number_in
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.runs import find_run

__all__ = ["delete_tag", "log_batch", "log_metric", "log_parameter", "set_tag"]

MAX_METRICS, MAX_PARAMS, MAX_TAGS, MAX_ALL = 1000, 100, 100, 1000
MAX_KEY = 250
_KEY = re.compile(r"[/\w.\- :]*\Z")
_INT64 = 2**63


def log_metric(call: Call) -> Said:
    run_id = call.own_run_id()
    if call.args.get("value") is None:
        raise invalid("Missing value for required parameter 'value'.")
    return _said(run_id, metrics=[call.args])


def log_parameter(call: Call) -> Said:
    run_id = call.own_run_id()
    key = _checked(call.text("key"), "parameter")
    return _said(run_id, params={key: call.text("value", "")})


def set_tag(call: Call) -> Said:
    run_id = call.own_run_id()
    return _said(run_id, tags={_checked(call.text("key"), "tag"): call.text("value", "")})


def delete_tag(call: Call) -> dict[str, Any]:
    run_id, key = call.own_run_id(), call.text("key")
    run = find_run(call, run_id)
    if key not in run["tags"]:
        raise missing(f"No tag with name: {key:.250} in run with id {run_id}")
    call.record.external.log(run_id, remove=[key])
    return {}


def log_batch(call: Call) -> Said:
    run_id = call.own_run_id()
    metrics, given_params, tags = call.items("metrics"), call.items("params"), call.items("tags")
    for what, limit, count in (
        ("metrics", MAX_METRICS, len(metrics)),
        ("params", MAX_PARAMS, len(given_params)),
        ("tags", MAX_TAGS, len(tags)),
        ("metrics, params, and tags", MAX_ALL, len(metrics) + len(given_params) + len(tags)),
    ):
        if count > limit:
            raise invalid(
                f"A batch logging request can contain at most {limit} {what}. Got {count} {what}. "
                f"Please split up {what} across multiple requests and try again."
            )
    params: dict[str, str] = {}
    for key, value in ((p.get("key"), p.get("value")) for p in given_params):
        text = "" if value is None else str(value)
        if params.setdefault(_checked(key, "parameter"), text) != text:
            raise invalid(
                f"Duplicate parameter keys have been submitted: ['{key}']. Please ensure that the request contains only one param value per param key."
            )
    labels = {_checked(key, "tag"): value for key, value in call.pairs("tags").items()}
    return _said(run_id, metrics, params, labels)


def _said(
    run_id: str,
    metrics: Optional[list[dict[str, Any]]] = None,
    params: Optional[dict[str, str]] = None,
    tags: Optional[dict[str, str]] = None,
) -> Said:
    chunks, on_models = _chunks(run_id, metrics or [])
    names = {}
    if tags and RUN_NAME in tags:
        names["display_name"] = tags.pop(RUN_NAME)
    if tags and NOTE in tags:
        names["description"] = tags[NOTE]
    return Said(run_id, chunks, params, tags, names=names, on_models=on_models)


def _chunks(run_id: str, metrics: list[dict[str, Any]]) -> tuple[list[tuple[str, Chunk]], list[dict[str, Any]]]:
    """Values by metric, in order; and those that were measured on a logged model as well."""
    rows = _plain_rows(metrics)
    if rows is None:
        now_ms = int(time.time() * 1000)
        rows = [_row(number, metric, now_ms) for number, metric in enumerate(metrics)]
    series: dict[str, tuple[list[float], list[int], list[int]]] = {}
    for key, value, step, stamp in rows:
        columns = series.get(key)
        if columns is None:
            columns = series[_checked(key, "metric")] = ([], [], [])
        columns[0].append(value)
        columns[1].append(step)
        columns[2].append(stamp)
    chunks = [
        (key, chunk_of_values(values, steps, [stamp / 1000 for stamp in stamps]))
        for key, (values, steps, stamps) in series.items()
    ]
    on_models = [_on_model(run_id, metric, row) for metric, row in zip(metrics, rows) if metric.get("model_id")]
    return chunks, on_models


def _plain_rows(metrics: list[dict[str, Any]]) -> Optional[list[tuple[Any, Any, Any, Any]]]:
    """Key, value, step and timestamp of each, where they all have them and those are what they should be, as nearly every
    request has it: then there is nothing to look at one by one. None otherwise."""
    try:
        rows = [(m["key"], m["value"], m["step"], m["timestamp"]) for m in metrics]
    except KeyError:
        return None
    if not rows:
        return rows
    keys, values, steps, stamps = zip(*rows)
    if set(map(type, keys)) != _TEXT or set(map(type, values)) != _FLOAT or set(map(type, steps + stamps)) != _INT:
        return None
    lowest, highest = min(min(steps), min(stamps)), max(max(steps), max(stamps))
    return rows if lowest >= -_INT64 and highest < _INT64 else None


_TEXT, _FLOAT, _INT = {str}, {float}, {int}


def _row(number: int, metric: dict[str, Any], now_ms: int) -> tuple[Any, Any, Any, Any]:
    key: Any = metric.get("key")
    value = number_in(metric.get("value"))
    if value is None:
        raise invalid(
            f"Invalid value {metric.get('value')!r:.60} for parameter 'metrics[{number}].value' supplied: Metric "
            f"'{key!s:.60}' needs a number."
        )
    step, stamp = _int64(metric.get("step"), 0, "step"), _int64(metric.get("timestamp"), now_ms, "timestamp")
    return _checked(key, "metric"), value, step, stamp


def _on_model(run_id: str, metric: dict[str, Any], row: tuple[Any, Any, Any, Any]) -> dict[str, Any]:
    return {
        "model_id": str(metric["model_id"]),
        "run_id": run_id,
        "key": row[0],
        "value": row[1],
        "step": row[2],
        "time_ms": row[3],
        "dataset_name": str(metric.get("dataset_name") or ""),
        "dataset_digest": str(metric.get("dataset_digest") or ""),
    }


def _int64(value: Any, default: int, what: str) -> int:
    if value is None:
        return default
    if type(value) is not int:
        try:
            if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
                raise ValueError
            value = int(value)
        except (TypeError, ValueError, OverflowError):
            raise invalid(
                f"Invalid value {value!r:.60} for parameter '{what}' supplied: it must be an integer."
            ) from None
    if not -_INT64 <= value < _INT64:
        raise invalid(f"Invalid value {value} for parameter '{what}' supplied: it does not fit in 64 bits.")
    return value


def _checked(key: Any, what: str) -> str:
    """A key as MLflow allows them."""
    if not isinstance(key, str) or not key:
        raise invalid(f"Missing value for required parameter 'key': a {what} needs a name.")
    if len(key) > MAX_KEY:
        raise invalid(f"The name of a {what} has {len(key)} characters, of which {MAX_KEY} are allowed: '{key[:40]}…'.")
    if not _KEY.match(key):
        raise invalid(
            f"Invalid value {key!r:.100} for parameter 'name' supplied: Names of a {what} may only contain alphanumerics, "
            "underscores (_), dashes (-), periods (.), spaces ( ), colon(:) and slashes (/)."
        )
    if "/" in key or key in (".", ".."):
        plain = posixpath.normpath(key)
        if plain != key or plain in (".", "..") or plain.startswith(("..", "/")):
            raise invalid(
                f"Invalid value {key!r:.100} for parameter 'name' supplied: Names may be treated as files in certain cases, and must not resolve to other names when treated as such. This name would resolve to {plain!r:.100}"
            )
    return key
