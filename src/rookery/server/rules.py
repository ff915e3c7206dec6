"""Who may use which route: one row for each, and nothing anywhere else.

`least` is the role that a user must have at least (nobody: no token is needed). `run` is what the token of a run must fulfil:
`any` of them may, only for its `own` run and that run's children, only the `agent` of that run; empty: none may. `quiet` keeps
what comes often, or changes nothing that anybody would look up, out of the audit log; reads never are in it. A route without
a row is the owner's alone, and a test fails.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RULES", "Access"]


class Access(NamedTuple):
    least: str
    run: str = ""
    quiet: bool = False


_AGENT = "/agent/{run_id}/{attempt}/{node}/"
_OPEN = Access("nobody", "any")
_READ = Access("reader", "any")
_OWNER = Access("owner")
_WRITE = Access("contributor")
_OF_AGENT = Access("owner", "agent", quiet=True)

# (method, path below /api/v1; of others the whole path) → access
RULES: dict[tuple[str, str], Access] = {
    ("GET", "/healthz"): _OPEN,
    ("GET", "/metrics"): Access("reader"),
    ("GET", "/"): _OPEN,
    ("GET", "/assets/{name}"): _OPEN,  # the studio's files; who may see its page is asked by that page
    ("GET", "/favicon.svg"): _OPEN,
    ("GET", "/theme.js"): _OPEN,
    ("GET", "/enter"): _OPEN,  # takes the code of POST /session/code
    ("GET", "/login"): _OPEN,
    ("POST", "/login"): _OPEN,
    ("POST", "/logout"): _OPEN,
    ("GET", "/hello"): _OPEN,
    ("POST", "/session"): _OPEN,
    ("POST", "/session/token"): _OPEN,
    ("DELETE", "/session"): _OPEN,
    ("POST", "/session/code"): Access("reader"),
    ("GET", "/me"): _READ,
    ("PUT", "/me/password"): Access("reader"),
    ("GET", "/users"): _OWNER,
    ("POST", "/users"): _OWNER,
    ("GET", "/users/{name}"): _OWNER,
    ("PATCH", "/users/{name}"): _OWNER,
    ("DELETE", "/users/{name}"): _OWNER,
    ("GET", "/user-tokens"): Access("reader"),  # others' only for an owner; the handler checks
    ("POST", "/user-tokens"): Access("reader"),
    ("DELETE", "/user-tokens/{token_id}"): Access("reader"),
    ("GET", "/audit"): _OWNER,
    # A webhook lets the server send requests to any address.
    ("GET", "/webhooks"): _OWNER,
    ("POST", "/webhooks"): _OWNER,
    ("GET", "/webhooks/{webhook_id}"): _OWNER,
    ("DELETE", "/webhooks/{webhook_id}"): _OWNER,
    ("POST", "/webhooks/{webhook_id}/ping"): _OWNER,
    ("GET", "/webhooks/{webhook_id}/deliveries"): _OWNER,
    ("POST", "/webhooks/{webhook_id}/deliveries/{delivery}/again"): _OWNER,
    ("GET", "/keeper"): _READ,
    ("POST", "/keeper/stop"): _OWNER,
    ("POST", "/gc"): _OWNER,
    ("GET", "/workspace"): _READ,
    ("PATCH", "/workspace"): _OWNER,
    ("POST", "/tokens"): _OWNER,
    ("POST", "/tokens/tracking"): _WRITE,
    ("GET", "/experiments"): _READ,
    ("PUT", "/experiments/{name}"): _WRITE,
    ("GET", "/experiments/{name}"): _READ,
    ("PATCH", "/experiments/{name}"): _WRITE,
    ("DELETE", "/experiments/{name}"): _WRITE,
    ("POST", "/runs"): Access("contributor", "any"),  # the handler checks the parent
    ("GET", "/runs"): _READ,
    ("GET", "/runs/{run_id}"): _READ,
    ("PATCH", "/runs/{run_id}"): Access("contributor", "own"),
    ("POST", "/runs/{run_id}/cancel"): Access("contributor", "own"),
    ("POST", "/runs/{run_id}/visit"): _WRITE,  # the same; the handler checks who began it
    ("POST", "/runs/{run_id}/manifests"): _WRITE,  # they hold a token of the run's agents
    ("POST", "/runs/{run_id}/status"): Access("contributor", "own"),
    ("GET", "/runs/{run_id}/children"): _READ,
    ("POST", "/runs/{run_id}/records"): Access("contributor", "own", quiet=True),
    ("GET", "/runs/{run_id}/metrics"): _READ,
    ("GET", "/runs/{run_id}/tune"): _READ,
    ("GET", "/runs/{run_id}/samples"): _READ,
    ("GET", "/runs/{run_id}/logs"): _READ,
    ("GET", "/runs/{run_id}/logs/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/artifacts"): _READ,
    ("POST", "/runs/{run_id}/artifacts"): Access("contributor", "own"),
    ("PUT", "/runs/{run_id}/artifacts/{name:path}"): Access("contributor", "own"),
    ("GET", "/runs/{run_id}/artifacts/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/events"): _READ,
    ("GET", "/events"): _READ,
    # Content and snapshots are named by their hash: who adds some changes nothing.
    ("POST", "/content/missing"): Access("reader", "any", quiet=True),
    ("PUT", "/content/{sha256}"): Access("contributor", "any", quiet=True),
    ("POST", "/content/pack"): Access("contributor", "any", quiet=True),
    ("GET", "/content/{sha256}"): _READ,
    ("PATCH", "/content/{sha256}"): Access("contributor", "any", quiet=True),
    ("GET", "/content/{sha256}/upload"): _READ,
    ("POST", "/snapshots"): Access("contributor", "any", quiet=True),
    ("GET", "/snapshots/{snapshot_id}"): _READ,
    ("HEAD", "/snapshots/{snapshot_id}"): _READ,
    ("GET", "/snapshots/{snapshot_id}/zip"): _READ,
    ("GET", "/compute"): _READ,
    ("POST", "/compute"): _OWNER,
    ("GET", "/compute/{name}"): _READ,
    ("PATCH", "/compute/{name}"): _OWNER,
    ("DELETE", "/compute/{name}"): _OWNER,
    ("POST", "/compute/{name}/preempt"): _OWNER,
    ("POST", "/compute/{name}/check"): _OWNER,
    ("GET", "/compute/{name}/nodes"): _READ,
    ("POST", "/models"): Access("contributor", "any"),  # the handler checks the run
    ("GET", "/models"): _READ,
    ("GET", "/models/{name}"): _READ,
    ("GET", "/models/{name}/{version}/files/{path:path}"): _READ,
    ("PATCH", "/models/{name}/{version}"): _WRITE,
    ("DELETE", "/models/{name}/{version}"): _WRITE,
    # A datastore lets the keeper read from, and write to, places of its own machine and network.
    ("GET", "/datastores"): _READ,
    ("POST", "/datastores"): _OWNER,
    ("GET", "/datastores/{name}"): _READ,
    ("DELETE", "/datastores/{name}"): _OWNER,
    ("POST", "/datastores/{name}/default"): _OWNER,
    ("GET", "/datastores/{name}/files"): _READ,
    ("POST", "/datastores/{name}/pack"): Access("contributor", "any"),
    ("GET", "/datastores/{name}/files/{path:path}"): _READ,
    ("GET", "/datasets"): _READ,
    ("POST", "/datasets"): Access(
        "contributor", "any"
    ),  # a version is added, none is changed; the handler checks the run
    ("GET", "/datasets/{name}"): _READ,
    ("GET", "/datasets/{name}/versions"): _READ,
    ("PATCH", "/datasets/{name}/{version}"): _WRITE,
    ("DELETE", "/datasets/{name}"): _WRITE,
    ("GET", "/datasets/{name}/{version}/runs"): _READ,
    ("GET", "/datasets/{name}/{version}/folder"): _READ,
    ("GET", "/datasets/{name}/{version}/table"): _READ,
    ("GET", "/datasets/{name}/{version}/files/{path:path}"): _READ,
    ("POST", "/datasets/{name}/uploads"): _WRITE,
    ("POST", "/data/definitions"): Access("contributor", "any", quiet=True),
    ("GET", "/data/definitions/{definition_id}"): _READ,
    ("POST", "/data/definitions/{definition_id}/resolve"): Access("reader", "any", quiet=True),
    ("GET", "/data/manifests/{manifest_id}"): _READ,
    ("GET", "/data/manifests/{manifest_id}/files/{index}"): _READ,
    ("GET", "/data/manifests/{manifest_id}/bytes"): _READ,
    ("GET", "/data/manifests/{manifest_id}/folder"): _READ,
    ("GET", "/data/manifests/{manifest_id}/preview/{path:path}"): _READ,
    ("GET", "/data/manifests/{manifest_id}/picture/{path:path}"): _READ,
    ("GET", "/runs/{run_id}/data"): _READ,
    ("GET", "/keyvault"): Access("contributor", "any"),
    ("PUT", "/keyvault/{name}"): _WRITE,
    ("GET", "/keyvault/{name}"): Access("contributor", "any"),
    ("DELETE", "/keyvault/{name}"): _WRITE,
    ("POST", _AGENT + "outputs/{name}"): _OF_AGENT,
    ("PUT", _AGENT + "outputs/{name}/files/{path:path}"): _OF_AGENT,
    # What came from elsewhere is told with its own ids and times: nobody else may make history.
    ("POST", "/past/experiments"): _OWNER,
    ("POST", "/past/runs"): Access("owner", quiet=True),
    ("POST", "/past/runs/{run_id}/values"): Access("owner", quiet=True),
    ("POST", "/past/logged-models"): Access("owner", quiet=True),
    ("POST", "/past/models"): _OWNER,
    ("GET", "/environments"): _READ,
    ("POST", "/environments"): Access("contributor", "any"),  # a version is added, none is changed
    ("POST", "/environments/builds"): Access("contributor", "any"),
    ("GET", "/environments/builds/{build_id}"): _READ,
    ("GET", "/environments/builds/{build_id}/log"): _READ,
    ("GET", "/environments/builds/{build_id}/events"): _READ,
    ("POST", "/environments/prepared"): Access("reader", "any", quiet=True),
    ("POST", "/environments/specifications"): Access(
        "reader", "any", quiet=True
    ),  # reads what it is given, keeps nothing
    ("GET", "/environments/{name}"): _READ,
    ("POST", "/environments/{name}/labels"): _WRITE,
    ("POST", "/wheels"): _OWNER,
    ("GET", "/built-environments"): _READ,
    ("GET", "/built-environments/{key}"): _READ,
    ("POST", "/built-environments/prune"): _OWNER,
    **{
        ("POST", _AGENT + verb): _OF_AGENT
        for verb in ("hello", "rendezvous", "running", "beat", "journal", "log", "outcome", "finished")
    },
    **{("GET", _AGENT + noun): _OF_AGENT for noun in ("commands", "rendezvous", "job", "checkpoints")},
    **{(method, _AGENT + "checkpoints/{name:path}"): _OF_AGENT for method in ("GET", "PUT", "DELETE")},
    # Whoever may read may ask an endpoint; who changes one also sees its keys.
    ("GET", "/endpoints"): _READ,
    ("POST", "/endpoints"): _WRITE,
    ("GET", "/endpoints/{name}"): _READ,
    ("PATCH", "/endpoints/{name}"): _WRITE,
    ("DELETE", "/endpoints/{name}"): _WRITE,
    ("POST", "/endpoints/{name}/reload"): _WRITE,
    ("PUT", "/endpoints/{name}/versions/{version}"): _WRITE,
    ("DELETE", "/endpoints/{name}/versions/{version}"): _WRITE,
    ("GET", "/endpoints/{name}/keys"): _WRITE,
    ("POST", "/endpoints/{name}/keys"): _WRITE,
    ("POST", "/endpoints/{name}/token"): _WRITE,
    ("GET", "/endpoints/{name}/logs"): _READ,
    ("GET", "/endpoints/{name}/log"): _READ,
    ("GET", "/endpoints/{name}/latency"): _READ,
    ("POST", "/model-profiles"): _WRITE,
    ("GET", "/model-profiles"): _READ,
    ("GET", "/model-profiles/{name}"): _READ,
    ("POST", "/model-packages"): Access("contributor", quiet=True),
    ("GET", "/service/{name}"): _READ,
    ("GET", "/service/{name}/swagger.json"): _READ,
    ("GET", "/service/{name}/score"): _READ,
    ("POST", "/service/{name}/score"): Access("reader", "any", quiet=True),
    ("OPTIONS", "/service/{name}/score"): Access("reader", "any", quiet=True),
    # What pages show. A search is a question, though it has a body.
    ("GET", "/home"): _READ,
    ("POST", "/search/runs"): Access("reader", "any", quiet=True),
    ("POST", "/search/series"): Access("reader", "any", quiet=True),
    ("GET", "/search/names"): _READ,
    ("GET", "/search/values"): _READ,
    ("POST", "/compare"): Access("reader", "any", quiet=True),
    ("POST", "/actions/runs"): _WRITE,
    ("GET", "/runs/{run_id}/overview"): _READ,
    ("GET", "/runs/{run_id}/timeline"): _READ,
    ("GET", "/runs/{run_id}/series"): _READ,
    ("GET", "/runs/{run_id}/items"): _READ,
    ("GET", "/runs/{run_id}/metrics.csv"): _READ,
    ("GET", "/runs/{run_id}/log-index/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/log-lines/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/log-search/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/tree"): _READ,
    ("GET", "/runs/{run_id}/zip"): _READ,
    ("GET", "/runs/{run_id}/preview/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/picture/{name:path}"): _READ,
    ("GET", "/runs/{run_id}/diff/{other}"): _READ,
    ("GET", "/runs/{run_id}/reproduce"): _READ,
    ("POST", "/runs/{run_id}/reproduce"): _WRITE,
    ("GET", "/snapshots/{snapshot_id}/tree"): _READ,
    ("GET", "/snapshots/{snapshot_id}/preview/{path:path}"): _READ,
    ("GET", "/snapshots/{snapshot_id}/picture/{path:path}"): _READ,
    ("GET", "/compute/{name}/queue"): _READ,
    ("GET", "/model-names"): _READ,
    ("PUT", "/model-names/{name}/aliases/{alias}"): _WRITE,
    ("GET", "/models/{name}/{version}/lineage"): _READ,
    ("GET", "/models/{name}/{version}/preview/{path:path}"): _READ,
    ("GET", "/models/{name}/{version}/picture/{path:path}"): _READ,
    ("GET", "/environments/{name}/runs"): _READ,
    ("GET", "/modules"): _READ,
    ("POST", "/modules"): _WRITE,
    ("PUT", "/modules/{name}"): _WRITE,
    ("PATCH", "/modules/{name}"): _WRITE,
    ("DELETE", "/modules/{name}"): _WRITE,
    ("GET", "/modules/{name}/versions"): _READ,
    # Checking a graph and turning it into another form keeps nothing.
    **{
        ("POST", f"/pipelines/{what}"): Access("reader", "any", quiet=True)
        for what in ("validate", "code", "yaml", "graph", "inference")
    },
    ("POST", "/pipelines/inference/deploy"): _WRITE,
    ("GET", "/pipelines/samples"): _READ,
    ("GET", "/pipelines/drafts"): _READ,
    ("POST", "/pipelines/drafts"): _WRITE,
    ("GET", "/pipelines/drafts/{draft_id}"): _READ,
    ("PUT", "/pipelines/drafts/{draft_id}"): Access("contributor", quiet=True),  # they save themselves, often
    ("DELETE", "/pipelines/drafts/{draft_id}"): _WRITE,
    ("POST", "/pipelines/runs"): Access("contributor", "any"),  # the handler checks the parent
    ("GET", "/pipelines/runs/{run_id}"): _READ,
    ("POST", "/pipelines/runs/{run_id}/steps/{node}/retry"): _WRITE,
    ("POST", "/pipelines/runs/{run_id}/clone"): _WRITE,
    ("GET", "/pipelines/published"): _READ,
    ("POST", "/pipelines/published"): _WRITE,
    ("GET", "/pipelines/published/{pipeline_id}"): _READ,
    ("PATCH", "/pipelines/published/{pipeline_id}"): _WRITE,
    ("GET", "/pipelines/endpoints"): _READ,
    ("POST", "/pipelines/endpoints"): _WRITE,
    ("GET", "/pipelines/endpoints/{endpoint}"): _READ,
    ("PATCH", "/pipelines/endpoints/{endpoint}"): _WRITE,
    ("GET", "/pipelines/schedules"): _READ,
    ("POST", "/pipelines/schedules"): _WRITE,
    ("GET", "/pipelines/schedules/{schedule_id}"): _READ,
    ("PATCH", "/pipelines/schedules/{schedule_id}"): _WRITE,
    ("DELETE", "/pipelines/schedules/{schedule_id}"): _WRITE,
    ("POST", "/pipelines/v1.0/PipelineRuns/PipelineSubmit/{pipeline_id}"): _WRITE,
    ("POST", "/pipelines/v1.0/PipelineEndpoints/Id/{endpoint_id}"): _WRITE,
    ("POST", "/pipelines/v1.0/PipelineEndpoints/Id/{endpoint_id}/{version}"): _WRITE,
    ("POST", "/pipelines/v1.0/PipelineEndpoints/Name"): _WRITE,
    ("GET", "/openapi.json"): _OPEN,
}
