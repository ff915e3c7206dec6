"""Every path of MLflow's that is answered: method, path, `module:function` in this room, and who may.

read: whoever may read. run: writes to one run (or to what hangs on it), so a run's own token may, for that run and its children; the
handler checks. write: whoever may track, but no run's token. test: only in testing mode. open: no token needed.
Modules are imported when one of their paths is first asked for.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ROUTES", "Route"]


class Route(NamedTuple):
    method: str
    path: str
    handler: str
    right: str


_V2 = "/api/2.0/mlflow"
_V3 = "/api/3.0/mlflow"
_FILES = "/api/2.0/mlflow-artifacts"

ROUTES: tuple[Route, ...] = tuple(
    Route(*row)
    for row in (
        ("POST", f"{_V2}/experiments/create", "experiments:create", "run"),
        ("GET", f"{_V2}/experiments/get", "experiments:get", "read"),
        ("GET", f"{_V2}/experiments/get-by-name", "experiments:get_by_name", "read"),
        ("POST", f"{_V2}/experiments/search", "experiments:search", "read"),
        ("GET", f"{_V2}/experiments/search", "experiments:search", "read"),
        ("POST", f"{_V2}/experiments/update", "experiments:rename", "write"),
        ("POST", f"{_V2}/experiments/delete", "experiments:delete", "write"),
        ("POST", f"{_V2}/experiments/restore", "experiments:restore", "write"),
        ("POST", f"{_V2}/experiments/set-experiment-tag", "experiments:set_tag", "write"),
        ("POST", f"{_V2}/experiments/delete-experiment-tag", "experiments:delete_tag", "write"),
        ("POST", f"{_V2}/runs/create", "runs:create", "run"),
        ("GET", f"{_V2}/runs/get", "runs:get", "read"),
        ("POST", f"{_V2}/runs/update", "runs:change", "run"),
        ("POST", f"{_V2}/runs/delete", "runs:delete", "write"),
        ("POST", f"{_V2}/runs/restore", "runs:restore", "write"),
        ("POST", f"{_V2}/runs/search", "runs:search", "read"),
        ("POST", f"{_V2}/runs/log-metric", "logging:log_metric", "run"),
        ("POST", f"{_V2}/runs/log-parameter", "logging:log_parameter", "run"),
        ("POST", f"{_V2}/runs/log-batch", "logging:log_batch", "run"),
        ("POST", f"{_V2}/runs/set-tag", "logging:set_tag", "run"),
        ("POST", f"{_V2}/runs/delete-tag", "logging:delete_tag", "run"),
        ("POST", f"{_V2}/runs/log-inputs", "inputs:log_inputs", "run"),
        ("POST", f"{_V2}/runs/outputs", "inputs:log_outputs", "run"),
        ("POST", f"{_V2}/runs/log-model", "inputs:log_model", "run"),
        ("GET", f"{_V2}/metrics/get-history", "history:get_history", "read"),
        ("GET", f"{_V2}/metrics/get-history-bulk-interval", "history:get_history_bulk", "read"),
        ("GET", f"{_V2}/artifacts/list", "artifacts:list_of_run", "read"),
        ("GET", f"{_FILES}/artifacts", "artifacts:list_folder", "read"),
        ("GET", _FILES + "/artifacts/{path:path}", "artifacts:download", "read"),
        ("PUT", _FILES + "/artifacts/{path:path}", "artifacts:upload", "run"),
        ("DELETE", _FILES + "/artifacts/{path:path}", "artifacts:delete", "write"),
        ("POST", _FILES + "/mpu/create/{path:path}", "artifacts:no_multipart", "read"),
        ("POST", _FILES + "/mpu/complete/{path:path}", "artifacts:no_multipart", "read"),
        ("POST", _FILES + "/mpu/abort/{path:path}", "artifacts:no_multipart", "read"),
        ("GET", _FILES + "/presigned/{path:path}", "artifacts:no_presigned", "read"),
        ("POST", f"{_V2}/artifacts/presigned-upload-url", "artifacts:no_presigned", "read"),
        ("POST", f"{_V2}/artifacts/presigned-download-url", "artifacts:no_presigned", "read"),
        ("POST", f"{_V2}/logged-models", "logged_models:create", "run"),
        ("POST", f"{_V2}/logged-models/search", "logged_models:search", "read"),
        ("GET", _V2 + "/logged-models/{model_id}", "logged_models:get", "read"),
        ("PATCH", _V2 + "/logged-models/{model_id}", "logged_models:finalize", "run"),
        ("DELETE", _V2 + "/logged-models/{model_id}", "logged_models:delete", "run"),
        ("POST", _V2 + "/logged-models/{model_id}/params", "logged_models:log_params", "run"),
        ("PATCH", _V2 + "/logged-models/{model_id}/tags", "logged_models:set_tags", "run"),
        ("DELETE", _V2 + "/logged-models/{model_id}/tags/{key}", "logged_models:delete_tag", "run"),
        ("GET", _V2 + "/logged-models/{model_id}/artifacts/directories", "logged_models:list_files", "read"),
        ("POST", f"{_V2}/registered-models/create", "registered_models:create", "run"),
        ("GET", f"{_V2}/registered-models/get", "registered_models:get", "read"),
        ("GET", f"{_V2}/registered-models/search", "registered_models:search", "read"),
        ("POST", f"{_V2}/registered-models/rename", "registered_models:rename", "write"),
        ("PATCH", f"{_V2}/registered-models/update", "registered_models:change", "write"),
        ("DELETE", f"{_V2}/registered-models/delete", "registered_models:delete", "write"),
        ("POST", f"{_V2}/registered-models/set-tag", "registered_models:set_tag", "write"),
        ("DELETE", f"{_V2}/registered-models/delete-tag", "registered_models:delete_tag", "write"),
        ("GET", f"{_V2}/registered-models/alias", "registered_models:get_alias", "read"),
        ("POST", f"{_V2}/registered-models/alias", "registered_models:set_alias", "write"),
        ("DELETE", f"{_V2}/registered-models/alias", "registered_models:delete_alias", "write"),
        ("POST", f"{_V2}/registered-models/get-latest-versions", "model_versions:latest", "read"),
        ("GET", f"{_V2}/registered-models/get-latest-versions", "model_versions:latest", "read"),
        ("POST", f"{_V2}/model-versions/create", "model_versions:create", "run"),
        ("GET", f"{_V2}/model-versions/get", "model_versions:get", "read"),
        ("GET", f"{_V2}/model-versions/search", "model_versions:search", "read"),
        ("GET", f"{_V2}/model-versions/get-download-uri", "model_versions:download_uri", "read"),
        ("PATCH", f"{_V2}/model-versions/update", "model_versions:change", "write"),
        ("DELETE", f"{_V2}/model-versions/delete", "model_versions:delete", "write"),
        ("POST", f"{_V2}/model-versions/transition-stage", "model_versions:transition", "write"),
        ("POST", f"{_V2}/model-versions/set-tag", "model_versions:set_tag", "write"),
        ("DELETE", f"{_V2}/model-versions/delete-tag", "model_versions:delete_tag", "write"),
        ("POST", f"{_V3}/traces", "traces:start", "run"),
        ("POST", f"{_V3}/traces/search", "traces:search", "read"),
        ("GET", f"{_V3}/traces/batchGet", "traces:batch_get", "read"),
        ("GET", f"{_V3}/traces/get", "traces:get", "read"),
        ("GET", _V3 + "/traces/{trace_id}", "traces:get_info", "read"),
        ("POST", f"{_V2}/traces/delete-traces", "traces:delete", "write"),
        ("POST", f"{_V3}/traces/delete-traces", "traces:delete", "write"),
        ("PATCH", _V2 + "/traces/{trace_id}/tags", "traces:set_tag", "run"),
        ("PATCH", _V3 + "/traces/{trace_id}/tags", "traces:set_tag", "run"),
        ("DELETE", _V2 + "/traces/{trace_id}/tags", "traces:delete_tag", "run"),
        ("DELETE", _V3 + "/traces/{trace_id}/tags", "traces:delete_tag", "run"),
        ("POST", "/v1/traces", "traces:take_spans", "run"),
        ("GET", f"{_V3}/server-info", "service:server_info", "read"),
        ("GET", "/version", "service:version", "open"),
        ("GET", "/health", "service:health", "open"),
        ("POST", "/__reset", "testing:reset", "test"),
    )
)
