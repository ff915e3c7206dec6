"""COVERAGE.md of MLflow's surface, from the routes and the tests: `python -m rookery.testing.mlflow_coverage` writes it."""

from __future__ import annotations

import os
import re

from rookery.server.mlflow.routes import ROUTES
from rookery.testing.mlflow_client import ROOT

__all__ = ["PATH", "coverage_text"]

PATH = os.path.join(ROOT, "COVERAGE.md")
SUITE = os.path.join(ROOT, "tests", "mlflow")

# What MLflow 3.17.2 has below /api/ outside of gateway, scorers, prompts, webhooks, review queues and the like (facts on its
# surface: 69 pairs). `mlflow.server.handlers.get_endpoints()` lists them; a test compares where the client is installed.
THEIRS = (
    "GET /api/2.0/mlflow-artifacts/artifacts", "DELETE /api/2.0/mlflow-artifacts/artifacts/{path}",
    "GET /api/2.0/mlflow-artifacts/artifacts/{path}", "PUT /api/2.0/mlflow-artifacts/artifacts/{path}",
    "POST /api/2.0/mlflow-artifacts/mpu/abort/{path}", "POST /api/2.0/mlflow-artifacts/mpu/complete/{path}",
    "POST /api/2.0/mlflow-artifacts/mpu/create/{path}", "GET /api/2.0/mlflow-artifacts/presigned/{path}",
    *(f"{method} /api/2.0/mlflow/{rest}" for method, rest in (
        ("GET", "artifacts/list"), ("POST", "artifacts/presigned-download-url"), ("POST", "artifacts/presigned-upload-url"),
        ("POST", "experiments/create"), ("POST", "experiments/delete"), ("POST", "experiments/delete-experiment-tag"),
        ("GET", "experiments/get"), ("GET", "experiments/get-by-name"), ("POST", "experiments/restore"),
        ("GET", "experiments/search"), ("POST", "experiments/search"), ("POST", "experiments/set-experiment-tag"),
        ("POST", "experiments/update"), ("POST", "logged-models"), ("DELETE", "logged-models/{}"), ("GET", "logged-models/{}"),
        ("PATCH", "logged-models/{}"), ("GET", "logged-models/{}/artifacts/directories"), ("POST", "logged-models/{}/params"),
        ("PATCH", "logged-models/{}/tags"), ("DELETE", "logged-models/{}/tags/{}"), ("POST", "logged-models/search"),
        ("GET", "metrics/get-history"), ("GET", "metrics/get-history-bulk-interval"), ("POST", "model-versions/create"),
        ("DELETE", "model-versions/delete"), ("DELETE", "model-versions/delete-tag"), ("GET", "model-versions/get"),
        ("GET", "model-versions/get-download-uri"), ("GET", "model-versions/search"), ("POST", "model-versions/set-tag"),
        ("POST", "model-versions/transition-stage"), ("PATCH", "model-versions/update"), ("DELETE", "registered-models/alias"),
        ("GET", "registered-models/alias"), ("POST", "registered-models/alias"), ("POST", "registered-models/create"),
        ("DELETE", "registered-models/delete"), ("DELETE", "registered-models/delete-tag"), ("GET", "registered-models/get"),
        ("GET", "registered-models/get-latest-versions"), ("POST", "registered-models/get-latest-versions"),
        ("POST", "registered-models/rename"), ("GET", "registered-models/search"), ("POST", "registered-models/set-tag"),
        ("PATCH", "registered-models/update"), ("POST", "runs/create"), ("POST", "runs/delete"), ("POST", "runs/delete-tag"),
        ("GET", "runs/get"), ("POST", "runs/log-batch"), ("POST", "runs/log-inputs"), ("POST", "runs/log-metric"),
        ("POST", "runs/log-model"), ("POST", "runs/log-parameter"), ("POST", "runs/outputs"), ("POST", "runs/restore"),
        ("POST", "runs/search"), ("POST", "runs/set-tag"), ("POST", "runs/update"),
    )),
    "GET /api/3.0/mlflow/server-info",
)  # fmt: skip

# What answers "not possible here", as MLflow's own server does over a plain store: clients then take another way.
REFUSED = ("artifacts:no_multipart", "artifacts:no_presigned")
# handler → what in the client suite shows that a test calls it: a call of the client library, or a part of a path.
CALLS = {
    "experiments:create": "create_experiment", "experiments:get": "get_experiment(", "experiments:search": "search_experiments",
    "experiments:get_by_name": "get_experiment_by_name", "experiments:rename": "rename_experiment",
    "experiments:delete": "delete_experiment(", "experiments:restore": "restore_experiment",
    "experiments:set_tag": "set_experiment_tag", "experiments:delete_tag": "delete_experiment_tag",
    "runs:create": "create_run", "runs:get": "get_run(", "runs:change": "update_run", "runs:delete": "delete_run(",
    "runs:restore": "restore_run(", "runs:search": "search_runs", "logging:log_metric": "log_metric(",
    "logging:log_parameter": "log_param(", "logging:log_batch": "log_batch(", "logging:set_tag": "set_tag(",
    "logging:delete_tag": "delete_tag(", "inputs:log_inputs": "log_inputs(", "inputs:log_outputs": "log_outputs(",
    "inputs:log_model": "/runs/log-model", "history:get_history": "get_metric_history(",
    "history:get_history_bulk": "get-history-bulk-interval", "artifacts:list_of_run": "/artifacts/list?",
    "artifacts:list_folder": "list_artifacts(", "artifacts:download": "download_artifacts(", "artifacts:upload": "log_artifact(",
    "artifacts:delete": "delete_artifacts(", "logged_models:create": "create_logged_model(",
    "logged_models:search": "search_logged_models(", "logged_models:get": "get_logged_model(",
    "logged_models:finalize": "finalize_logged_model(", "logged_models:delete": "delete_logged_model(",
    "logged_models:log_params": "log_model_params(", "logged_models:set_tags": "set_logged_model_tags(",
    "logged_models:delete_tag": "delete_logged_model_tag(", "logged_models:list_files": "/artifacts/directories",
    "registered_models:create": "create_registered_model(", "registered_models:get": "get_registered_model(",
    "registered_models:search": "search_registered_models(", "registered_models:rename": "rename_registered_model(",
    "registered_models:change": "update_registered_model(", "registered_models:delete": "delete_registered_model(",
    "registered_models:set_tag": "set_registered_model_tag(", "registered_models:delete_tag": "delete_registered_model_tag(",
    "registered_models:get_alias": "get_model_version_by_alias(", "registered_models:set_alias": "set_registered_model_alias(",
    "registered_models:delete_alias": "delete_registered_model_alias(", "model_versions:latest": "get_latest_versions(",
    "model_versions:create": "create_model_version(", "model_versions:get": "get_model_version(",
    "model_versions:search": "search_model_versions(", "model_versions:download_uri": "get_model_version_download_uri(",
    "model_versions:change": "update_model_version(", "model_versions:delete": "delete_model_version(",
    "model_versions:transition": "transition_model_version_stage(", "model_versions:set_tag": "set_model_version_tag(",
    "model_versions:delete_tag": "delete_model_version_tag(", "service:server_info": "server-info", "service:version": "/version",
    "service:health": "/health", "testing:reset": "RESET", "traces:start": "mlflow.trace", "traces:take_spans": "mlflow.trace",
    "traces:search": "search_traces(", "artifacts:no_multipart": "MULTIPART_UPLOAD",
}  # fmt: skip


def coverage_text() -> str:
    """The page as it should be."""
    tests = _tests()
    ours = {f"{route.method} {_bare(route.path)}" for route in ROUTES}
    answered = [pair for pair in THEIRS if _bare(pair) in {_bare(o) for o in ours}]
    refused = {f"{route.method} {_bare(route.path)}" for route in ROUTES if route.handler in REFUSED}
    done = [pair for pair in answered if _bare(pair) not in refused]
    rows = []
    for route in ROUTES:
        state = "refused, as by MLflow over a plain store" if route.handler in REFUSED else "done"
        rows.append(f"| `{route.method} {route.path}` | {state} | {_found(tests, route.handler) or '–'} |")
    tested = sum(1 for route in ROUTES if _found(tests, route.handler))
    missing = [pair for pair in THEIRS if pair not in answered]
    return "\n".join(
        [
            "# MLflow's REST surface: what is answered",
            "",
            "Made by `python -m rookery.testing.mlflow_coverage` from `server/mlflow/routes.py` and `tests/mlflow`; a test checks that it is current.",
            "",
            f"**{len(done)} of the {len(THEIRS)} calls** of MLflow 3.17.2's tracking, artifact and registry surface are done, "
            f"{len(answered) - len(done)} more are answered with the refusal that makes clients take the other way, {len(missing)} are not there.",
            f"{tested} of {len(ROUTES)} paths below are called by a test. {_listed()} checks of a real client pass (`tests/mlflow/passes.txt`).",
            "",
            *(["Not there: " + ", ".join(f"`{pair}`" for pair in missing) + ".", ""] if missing else []),
            "Outside of it: gateway, scorers, issues, prompts' own calls, webhooks, review queues, MCP, workspaces: 404 `ENDPOINT_NOT_FOUND`.",
            "",
            "| path | state | tested in |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _tests() -> dict[str, str]:
    found = {}
    for folder, _, names in sorted(os.walk(SUITE)):
        for name in sorted(names):
            if name.startswith(("check_", "test_", "conftest")) and name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    found[os.path.relpath(os.path.join(folder, name), ROOT)] = f.read()
    return found


def _found(tests: dict[str, str], handler: str) -> str:
    call = CALLS.get(handler)
    return next((f"`{name}`" for name, text in tests.items() if call and call in text), "")


def _listed() -> int:
    with open(os.path.join(SUITE, "passes.txt"), encoding="utf-8") as f:
        return sum(1 for line in f if line.strip() and not line.startswith("#"))


def _bare(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


if __name__ == "__main__":
    with open(PATH, "w", encoding="utf-8") as f:
        f.write(coverage_text())
