"""The rows of `openapi.OPERATIONS` for endpoints."""

from __future__ import annotations

from typing import Any

from rookery.server import answer_serve as s
from rookery.server.answer_models import Empty, listing

__all__ = ["SERVE"]

BYTES, TEXT, ZIP = "application/octet-stream", "text/plain", "application/zip"

SERVE: dict[tuple[str, str], tuple[str, Any, Any]] = {
    ("GET", "/endpoints"): ("list_endpoints", listing("endpoints", s.Endpoint), None),
    ("POST", "/endpoints"): ("create_endpoint", s.Endpoint, None),
    ("GET", "/endpoints/{name}"): ("get_endpoint", s.Endpoint, None),
    ("PATCH", "/endpoints/{name}"): ("change_endpoint", s.Endpoint, None),
    ("POST", "/endpoints/{name}/reload"): ("reload_endpoint", s.Endpoint, None),
    ("DELETE", "/endpoints/{name}"): ("delete_endpoint", Empty, None),
    ("PUT", "/endpoints/{name}/versions/{version}"): ("put_endpoint_version", s.Endpoint, None),
    ("DELETE", "/endpoints/{name}/versions/{version}"): ("delete_endpoint_version", s.Endpoint, None),
    ("GET", "/endpoints/{name}/keys"): ("get_endpoint_keys", s.EndpointKeys, None),
    ("POST", "/endpoints/{name}/keys"): ("make_endpoint_key", s.EndpointKeys, None),
    ("POST", "/endpoints/{name}/token"): ("make_endpoint_token", s.EndpointToken, None),
    ("GET", "/endpoints/{name}/logs"): ("read_endpoint_logs", TEXT, None),
    ("GET", "/endpoints/{name}/log"): ("read_endpoint_log", BYTES, None),
    ("GET", "/endpoints/{name}/latency"): ("get_endpoint_latency", s.EndpointLatency, None),
    ("POST", "/model-profiles"): ("profile_model", s.ModelProfile, None),
    ("GET", "/model-profiles"): ("list_model_profiles", listing("profiles", s.ModelProfile), None),
    ("GET", "/model-profiles/{name}"): ("get_model_profile", s.ModelProfile, None),
    ("POST", "/model-packages"): ("package_model", ZIP, None),
    ("GET", "/service/{name}"): ("get_service_health", TEXT, None),
    ("GET", "/service/{name}/swagger.json"): ("describe_endpoint_api", BYTES, None),
    ("GET", "/service/{name}/score"): ("score_query", BYTES, None),
    ("POST", "/service/{name}/score"): ("score_endpoint", BYTES, BYTES),
    ("OPTIONS", "/service/{name}/score"): ("score_options", BYTES, None),
}
