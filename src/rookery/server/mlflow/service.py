"""What a client asks about the server itself."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from rookery.server.mlflow.call import Call

__all__ = ["SPOKEN", "health", "server_info", "version"]

SPOKEN = "3.17.2"  # the MLflow whose calls these are; clients compare it with what they need


def server_info(call: Call) -> dict[str, Any]:
    return {
        "store_type": "SqlStore",
        "artifact_serving_enabled": True,
        "artifacts_presigned_only": False,
        "model_artifact_presigned_downloads_supported": False,
        "multipart_downloads_enabled": False,
        "multipart_uploads_enabled": False,
        "presigned_upload_model_id_supported": False,
        "presigned_upload_run_id_supported": False,
        "trace_archival_enabled": False,
        "tracking_auth": True,
        "workspaces_enabled": False,
        "features_enabled": {"gateway": False, "scheduled_issue_detection": False},
    }


def version(call: Call) -> Response:
    return Response(SPOKEN, media_type="text/plain")


def health(call: Call) -> Response:
    return Response("OK", media_type="text/plain")
