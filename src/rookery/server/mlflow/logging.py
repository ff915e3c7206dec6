"""What a client logs: metrics, parameters, tags; one by one or in batches."""

from __future__ import annotations

import posixpath
import re
import time
from typing import Any, Optional

from rookery.errors import ConflictError
from rookery.record.metric_values import Chunk, chunk_of_values
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import NOTE, RUN_NAME, number_in
from rookery.server.mlflow.errors import MlflowError, invalid, missing
from rookery.server.mlflow.runs import find_run

__all__ = ["delete_tag", "log_batch", "log_metric", "log_parameter", "set_tag"]

MAX_METRICS, MAX_PARAMS, MAX_TAGS, MAX_ALL = 1000, 100, 100, 1000
MAX_KEY = 250
_KEY = re.compile(r"[/\w.\- :]*\Z")
_INT64 = 2**63


def log_metric(call: Call) -> dict[str, Any]:
    run_id = call.own_run_id()
    if call.args.get("value") is None:
        raise invalid("Missing value for required parameter 'value'.")
    return _log(call, run_id, metrics=[call.args])


def log_parameter(call: Call) -> dict[str, Any]:
    run_id = call.own_run_id()
    key = _checked(call.text("key"), "parameter")
    return _log(call, run_id, params={key: call.text("value", "")})


def set_tag(call: Call) -> dict[str, Any]:
    run_id = call.own_run_id()
    return _log(call, run_id, tags={_checked(call.text("key"), "tag"): call.text("value", "")})


def delete_tag(call: Call) -> dict[str, Any]:
    run_id, key = call.own_run_id(), call.text("key")
    run = find_run(call, run_id)
    if key not in run["tags"]:
        raise missing(f"No tag with name: {key:.250} in run with id {run_id}")
    call.record.external.log(run_id, remove=[key])
    return {}


def log_batch(call: Call) -> dict[str, Any]:
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
    return _log(call, run_id, metrics, params, labels)


def _log(
    call: Call,
    run_id: str,
    metrics: Optional[list[dict[str, Any]]] = None,
    params: Optional[dict[str, str]] = None,
    tags: Optional[dict[str, str]] = None,
) -> dict[str, Any]:
    chunks, on_models = _chunks(run_id, metrics or [])
    names = {}
    if tags and RUN_NAME in tags:
        names["display_name"] = tags.pop(RUN_NAME)
    if tags and NOTE in tags:
        names["description"] = tags[NOTE]
    try:
        refused = call.record.external.log(run_id, metrics=chunks, params=params, tags=tags, names=names)
    except ConflictError as error:
        raise _conflict(run_id, error) from error
    if on_models:
        call.record.logged_models.add_metrics(on_models)
    if refused:
        raise invalid(refused[0])
    return {}


def _conflict(run_id: str, error: ConflictError) -> MlflowError:
    if error.details.get("deleted"):
        return invalid(f"The run {run_id} must be in the 'active' state. Current state is deleted.")
    if "given" not in error.details:
        return invalid(str(error))
    key, old, new = (error.details[name] for name in ("key", "value", "given"))
    return invalid(
        f"Changing param values is not allowed. Param with key='{key}' was already logged with value='{old}' for run "
        f"ID='{run_id}'. Attempted logging new value '{new}'."
    )


def _chunks(run_id: str, metrics: list[dict[str, Any]]) -> tuple[list[tuple[str, Chunk]], list[dict[str, Any]]]:
    """Values by metric, in order; and those that were measured on a logged model as well."""
    series: dict[str, tuple[list[float], list[int], list[float]]] = {}
    on_models = []
    now_ms = int(time.time() * 1000)
    for number, metric in enumerate(metrics):
        key: Any = metric.get("key")
        value = number_in(metric.get("value"))
        if value is None:
            raise invalid(
                f"Invalid value {metric.get('value')!r:.60} for parameter 'metrics[{number}].value' supplied: Metric "
                f"'{key!s:.60}' needs a number."
            )
        step, stamp = _int64(metric.get("step"), 0, "step"), _int64(metric.get("timestamp"), now_ms, "timestamp")
        if not isinstance(key, str) or key not in series:
            series[_checked(key, "metric")] = ([], [], [])
        values, steps, times = series[key]
        values.append(value)
        steps.append(step)
        times.append(stamp / 1000)
        if metric.get("model_id"):
            on_models.append(
                {
                    "model_id": str(metric["model_id"]),
                    "run_id": run_id,
                    "key": key,
                    "value": value,
                    "step": step,
                    "time_ms": stamp,
                    "dataset_name": str(metric.get("dataset_name") or ""),
                    "dataset_digest": str(metric.get("dataset_digest") or ""),
                }
            )
    return [(key, chunk_of_values(*columns)) for key, columns in series.items()], on_models


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
