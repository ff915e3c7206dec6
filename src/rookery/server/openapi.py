"""The OpenAPI of the API, complete and typed: FastAPI's own, with what routes answer and take from the table below.

Made when it is first asked for. Operation ids are the names given here and stay: the studio's client is made from them.
"""

from __future__ import annotations

from typing import Any, Optional, Union

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rookery import __version__
from rookery.server import answer_models as a
from rookery.server import answer_models_data as d
from rookery.server import body_models as b
from rookery.server import schemas_past as p
from rookery.server.answer_models import listing
from rookery.server.openapi_pipeline import PIPELINES
from rookery.server.openapi_serve import SERVE
from rookery.server.openapi_views import VIEWS
from rookery.server.rules import RULES
from rookery.spec.protocol import PREFIX

__all__ = ["OPERATIONS", "build_openapi"]

BYTES, EVENTS, ZIP = "application/octet-stream", "text/event-stream", "application/zip"
OBJECT = "object"  # a JSON object that the handler reads itself; its form is in docs/inside/protocol.md
_Answer = Union[type[BaseModel], str, None]
_Taken = Union[type[BaseModel], str, None]
_AGENT = "/agent/{run_id}/{attempt}/{node}/"

# (method, path below /api/v1) → (operation id, what is answered, what is taken where FastAPI does not know it)
OPERATIONS: dict[tuple[str, str], tuple[str, _Answer, _Taken]] = {
    ("GET", "/hello"): ("hello", a.Hello, None),
    ("GET", "/keeper"): ("get_keeper", a.Keeper, None),
    ("POST", "/keeper/stop"): ("stop_keeper", a.Empty, None),
    ("GET", "/workspace"): ("get_workspace", a.Workspace, None),
    ("PATCH", "/workspace"): ("change_workspace", a.Workspace, None),
    ("POST", "/tokens"): ("make_run_token", a.RunToken, None),
    ("POST", "/tokens/tracking"): ("make_tracking_token", a.TrackingToken, None),
    ("GET", "/experiments"): ("list_experiments", listing("experiments", a.ExperimentCounted), None),
    ("PUT", "/experiments/{name}"): ("ensure_experiment", a.Experiment, None),
    ("GET", "/experiments/{name}"): ("get_experiment", a.ExperimentCounted, None),
    ("PATCH", "/experiments/{name}"): ("change_experiment", a.Experiment, None),
    ("DELETE", "/experiments/{name}"): ("delete_experiment", a.Empty, None),
    ("POST", "/runs"): ("create_run", a.Run, b.NewRun),
    ("GET", "/runs"): ("list_runs", listing("runs", a.RunInList, cursor=Optional[str]), None),
    ("GET", "/runs/{run_id}"): ("get_run", a.Run, None),
    ("PATCH", "/runs/{run_id}"): ("change_run", a.Run, None),
    ("POST", "/runs/{run_id}/cancel"): ("cancel_run", a.Run, None),
    ("POST", "/runs/{run_id}/visit"): ("visit", a.Anything, None),
    ("POST", "/runs/{run_id}/manifests"): ("make_manifests", a.Anything, None),
    ("POST", "/runs/{run_id}/status"): ("report_status", a.Run, None),
    ("GET", "/runs/{run_id}/children"): ("list_children", a.listing("runs", a.RunInList), None),
    ("POST", "/runs/{run_id}/records"): ("add_records", a.Empty, b.Records),
    ("GET", "/runs/{run_id}/metrics"): ("get_metrics", listing("metrics", a.Metric), None),
    ("GET", "/runs/{run_id}/samples"): ("get_samples", listing("samples", a.Sample), None),
    ("GET", "/runs/{run_id}/logs"): ("list_logs", listing("logs", a.Log), None),
    ("GET", "/runs/{run_id}/logs/{name}"): ("read_log", BYTES, None),
    ("GET", "/runs/{run_id}/artifacts"): ("list_artifacts", listing("artifacts", a.Artifact), None),
    ("POST", "/runs/{run_id}/artifacts"): ("link_artifacts", a.Anything, None),
    ("PUT", "/runs/{run_id}/artifacts/{name}"): ("put_artifact", a.Artifact, BYTES),
    ("GET", "/runs/{run_id}/artifacts/{name}"): ("get_artifact", BYTES, None),
    ("GET", "/runs/{run_id}/events"): ("follow_run", EVENTS, None),
    ("GET", "/events"): ("follow_all", EVENTS, None),
    ("POST", "/content/missing"): ("find_missing_content", a.Missing, b.Hashes),
    ("POST", "/content/pack"): ("put_content_pack", a.Files, BYTES),
    ("PUT", "/content/{sha256}"): ("put_content", a.Content, BYTES),
    ("PATCH", "/content/{sha256}"): ("continue_upload", a.Anything, BYTES),
    ("GET", "/content/{sha256}/upload"): ("get_upload", a.UploadState, None),
    ("GET", "/content/{sha256}"): ("get_content", BYTES, None),
    ("POST", "/snapshots"): ("create_snapshot", a.SnapshotMade, b.NewSnapshot),
    ("GET", "/snapshots/{snapshot_id}"): ("get_snapshot", a.Snapshot, None),
    ("HEAD", "/snapshots/{snapshot_id}"): ("has_snapshot", None, None),
    ("GET", "/snapshots/{snapshot_id}/zip"): ("get_snapshot_zip", ZIP, None),
    ("GET", "/compute"): ("list_compute", listing("compute", a.Compute), None),
    ("POST", "/compute"): ("create_compute", a.Compute, None),
    ("GET", "/compute/{name}"): ("get_compute", a.Compute, None),
    ("PATCH", "/compute/{name}"): ("change_compute", a.Compute, None),
    ("DELETE", "/compute/{name}"): ("delete_compute", a.Empty, None),
    ("POST", "/compute/{name}/preempt"): ("preempt_node", a.Preempted, None),
    ("POST", "/compute/{name}/check"): ("check_compute", listing("checks", a.Check), None),
    ("GET", "/compute/{name}/nodes"): ("list_nodes", listing("nodes", a.Node), None),
    ("POST", "/models"): ("register_model", a.Model, None),
    ("GET", "/models"): ("list_models", listing("models", a.Model), None),
    ("GET", "/models/{name}"): ("get_model", a.Model, None),
    ("GET", "/models/{name}/{version}/files/{path}"): ("get_model_file", BYTES, None),
    ("PATCH", "/models/{name}/{version}"): ("change_model", a.Model, None),
    ("DELETE", "/models/{name}/{version}"): ("delete_model", a.Empty, None),
    ("GET", "/datastores"): ("list_datastores", listing("datastores", d.Datastore), None),
    ("POST", "/datastores"): ("register_datastore", d.Datastore, None),
    ("GET", "/datastores/{name}"): ("get_datastore", d.Datastore, None),
    ("DELETE", "/datastores/{name}"): ("delete_datastore", a.Empty, None),
    ("POST", "/datastores/{name}/default"): ("set_default_datastore", d.Datastore, None),
    ("GET", "/datastores/{name}/files"): ("list_store_files", d.StoreFiles, None),
    ("POST", "/datastores/{name}/pack"): ("put_store_pack", d.PackStored, BYTES),
    ("GET", "/datastores/{name}/files/{path}"): ("get_store_file", BYTES, None),
    ("GET", "/datasets"): ("list_datasets", listing("datasets", d.Dataset), None),
    ("POST", "/datasets"): ("register_dataset", d.Dataset, None),
    ("GET", "/datasets/{name}"): ("get_dataset", d.Dataset, None),
    ("GET", "/datasets/{name}/versions"): ("list_dataset_versions", listing("datasets", d.Dataset), None),
    ("PATCH", "/datasets/{name}/{version}"): ("change_dataset", d.Dataset, None),
    ("DELETE", "/datasets/{name}"): ("delete_dataset", a.Empty, None),
    ("GET", "/datasets/{name}/{version}/runs"): ("list_dataset_runs", listing("runs", d.RunOfData), None),
    ("GET", "/datasets/{name}/{version}/folder"): ("list_dataset_folder", d.DataFolder, None),
    ("GET", "/datasets/{name}/{version}/table"): ("preview_dataset_table", d.DataPreview, None),
    ("GET", "/datasets/{name}/{version}/files/{path}"): ("get_dataset_file", BYTES, None),
    ("POST", "/datasets/{name}/uploads"): ("upload_dataset", d.Dataset, BYTES),
    ("POST", "/data/definitions"): ("save_definition", d.Definition, b.NewDefinition),
    ("GET", "/data/definitions/{definition_id}"): ("get_definition", d.Definition, None),
    ("POST", "/data/definitions/{definition_id}/resolve"): ("resolve_definition", d.ManifestHead, None),
    ("GET", "/data/manifests/{manifest_id}"): ("get_manifest", d.Manifest, None),
    ("GET", "/data/manifests/{manifest_id}/files/{index}"): ("get_manifest_file", BYTES, None),
    ("GET", "/data/manifests/{manifest_id}/bytes"): ("get_manifest_bytes", BYTES, None),
    ("GET", "/data/manifests/{manifest_id}/folder"): ("list_manifest_folder", d.DataFolder, None),
    ("GET", "/keyvault"): ("list_secrets", d.SecretNames, None),
    ("PUT", "/keyvault/{name}"): ("set_secret", a.Empty, d.SecretValue),
    ("GET", "/keyvault/{name}"): ("get_secret", d.SecretValue, None),
    ("DELETE", "/keyvault/{name}"): ("delete_secret", a.Empty, None),
    ("GET", "/runs/{run_id}/data"): ("get_run_data", listing("data", d.RunData), None),
    ("POST", _AGENT + "outputs/{name}"): ("put_agent_output", d.PackStored, BYTES),
    ("PUT", _AGENT + "outputs/{name}/files/{path}"): ("put_agent_output_file", d.PackStored, BYTES),
    ("POST", "/past/experiments"): ("add_past_experiment", a.Anything, p.PastExperiment),
    ("POST", "/past/runs"): ("add_past_run", a.Anything, p.PastRun),
    ("POST", "/past/runs/{run_id}/values"): ("add_past_values", a.Anything, p.PastValues),
    ("POST", "/past/logged-models"): ("add_past_logged_model", a.Anything, p.PastLoggedModel),
    ("POST", "/past/models"): ("add_past_model", a.Anything, p.PastModel),
    ("POST", "/gc"): ("collect_garbage", a.Anything, None),
    ("GET", "/environments"): ("list_environments", listing("environments", a.Environment), None),
    ("POST", "/environments"): ("register_environment", a.Environment, b.NewEnvironment),
    ("POST", "/environments/builds"): ("start_build", a.Build, b.NewBuild),
    ("GET", "/environments/builds/{build_id}"): ("get_build", a.Build, None),
    ("GET", "/environments/builds/{build_id}/log"): ("read_build_log", BYTES, None),
    ("GET", "/environments/builds/{build_id}/events"): ("follow_build", EVENTS, None),
    ("POST", "/environments/prepared"): ("find_prepared", a.IsPrepared, b.WantedEnvironment),
    ("POST", "/environments/specifications"): ("read_specification", a.Specification, None),
    ("GET", "/environments/{name}"): ("get_environment", a.Environment, None),
    ("POST", "/environments/{name}/labels"): ("label_environment", a.Environment, None),
    ("POST", "/wheels"): ("add_wheel", a.Wheel, None),
    ("GET", "/built-environments"): ("list_built_environments", listing("environments", a.Built), None),
    ("GET", "/built-environments/{key}"): ("get_built_environment", a.BuiltInFull, None),
    ("POST", "/built-environments/prune"): ("prune_built_environments", a.Pruned, None),
    ("POST", "/session"): ("open_session", a.Session, None),
    ("POST", "/session/token"): ("log_in_for_token", a.SessionToken, None),
    ("POST", "/session/code"): ("make_entry_code", a.EntryCode, None),
    ("DELETE", "/session"): ("close_session", a.Empty, None),
    ("GET", "/me"): ("get_me", a.Me, None),
    ("PUT", "/me/password"): ("change_my_password", a.User, None),
    ("GET", "/users"): ("list_users", listing("users", a.User), None),
    ("POST", "/users"): ("add_user", a.User, None),
    ("GET", "/users/{name}"): ("get_user", a.User, None),
    ("PATCH", "/users/{name}"): ("change_user", a.User, None),
    ("DELETE", "/users/{name}"): ("remove_user", a.Empty, None),
    ("GET", "/user-tokens"): ("list_user_tokens", listing("tokens", a.UserToken), None),
    ("POST", "/user-tokens"): ("make_user_token", a.UserTokenMade, None),
    ("DELETE", "/user-tokens/{token_id}"): ("revoke_user_token", a.Empty, None),
    ("GET", "/audit"): ("list_audit", listing("entries", a.AuditEntry, cursor=Optional[int]), None),
    ("GET", "/webhooks"): ("list_webhooks", listing("webhooks", a.Webhook), None),
    ("POST", "/webhooks"): ("add_webhook", a.WebhookMade, None),
    ("GET", "/webhooks/{webhook_id}"): ("get_webhook", a.Webhook, None),
    ("DELETE", "/webhooks/{webhook_id}"): ("remove_webhook", a.Empty, None),
    ("POST", "/webhooks/{webhook_id}/ping"): ("ping_webhook", a.Delivery, None),
    ("GET", "/webhooks/{webhook_id}/deliveries"): ("list_deliveries", listing("deliveries", a.Delivery), None),
    ("POST", "/webhooks/{webhook_id}/deliveries/{delivery}/again"): ("send_delivery_again", a.Delivery, None),
    ("POST", _AGENT + "hello"): ("agent_hello", a.AgentHello, b.AgentIs),
    ("POST", _AGENT + "running"): ("agent_running", a.Empty, b.StartedRanks),
    ("POST", _AGENT + "rendezvous"): ("agent_open_rendezvous", a.Empty, b.MeetingPlace),
    ("GET", _AGENT + "rendezvous"): ("agent_rendezvous", a.Rendezvous, None),
    ("POST", _AGENT + "beat"): ("agent_beat", a.Beat, b.Beaten),
    ("POST", _AGENT + "journal"): ("agent_journal", a.Acknowledged, b.JournalPart),
    ("POST", _AGENT + "log"): ("agent_log", a.Acknowledged, BYTES),
    ("GET", _AGENT + "commands"): ("agent_commands", listing("commands", a.Command), None),
    ("POST", _AGENT + "outcome"): ("agent_outcome", a.Empty, b.NodeOutcome),
    ("POST", _AGENT + "finished"): ("agent_finished", a.Empty, b.Warned),
    ("GET", _AGENT + "job"): ("agent_job", a.Anything, None),
    ("GET", _AGENT + "checkpoints"): ("list_checkpoints", listing("files", a.Checkpoint), None),
    ("GET", _AGENT + "checkpoints/{name}"): ("get_checkpoint", BYTES, None),
    ("PUT", _AGENT + "checkpoints/{name}"): ("put_checkpoint", a.Size, BYTES),
    ("DELETE", _AGENT + "checkpoints/{name}"): ("delete_checkpoint", a.Empty, None),
    **VIEWS,
    **PIPELINES,
    **SERVE,
}


def build_openapi(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    document = get_openapi(title="Rookery", version=__version__, routes=app.routes)
    used = [kind for _, answer, body in OPERATIONS.values() for kind in (answer, body)]
    models = {kind for kind in used if isinstance(kind, type)} | {a.ErrorAnswer}
    ordered = sorted(models, key=lambda model: model.__name__)
    # Bodies in the same mode as answers: a type that is in both then has one name.
    refs, schemas = models_json_schema(
        [(model, "serialization") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(schemas.get("$defs", {}))
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "rookery_session"},
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            key = (method.upper(), path[len(PREFIX) :])
            if key in OPERATIONS:
                _complete(operation, key, refs)
    return document


def _complete(operation: dict[str, Any], key: tuple[str, str], refs: Any) -> None:
    name, answer, body = OPERATIONS[key]
    operation["operationId"] = name
    if not _is_open(key):
        operation["security"] = [{"token": []}, {"session": []}]
    statuses = [status for status in operation["responses"] if status.startswith("2")]
    for status in [*statuses, *(["200"] if key == ("POST", "/runs") else [])]:
        operation["responses"][status] = {"description": "Done", **_content(answer, refs)}
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = {
        "description": "Refused, in the one shape of errors",
        **_content(a.ErrorAnswer, refs),
    }
    if body == OBJECT:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
    elif body is not None:
        operation["requestBody"] = {"required": True, **_content(body, refs)}


def _is_open(key: tuple[str, str]) -> bool:
    return any(
        access.least == "nobody"
        for (method, path), access in RULES.items()
        if method == key[0] and path.replace(":path}", "}") == key[1]
    )


def _content(answer: _Answer, refs: Any) -> dict[str, Any]:
    if answer is None:
        return {}
    if isinstance(answer, str):
        schema = {"type": "string"} if answer == EVENTS else {"type": "string", "format": "binary"}
        return {"content": {answer: {"schema": schema}}}
    return {"content": {"application/json": {"schema": refs[(answer, "serialization")]}}}
