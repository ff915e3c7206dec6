"""The rows of `openapi.OPERATIONS` for the routes of pages."""

from __future__ import annotations

from typing import Any

from rookery.server import answer_views as v
from rookery.server.answer_models import Run, listing
from rookery.server.answer_tune import Tuning

__all__ = ["VIEWS"]

CSV, PICTURE, ZIP = "text/csv", "image/*", "application/zip"

VIEWS: dict[tuple[str, str], tuple[str, Any, Any]] = {
    ("GET", "/home"): ("get_home", v.Home, None),
    ("POST", "/search/runs"): ("search_runs", v.RunTablePage, None),
    ("POST", "/search/series"): ("compare_series", listing("series", v.Series), None),
    ("GET", "/search/names"): ("list_names", v.KnownNames, None),
    ("GET", "/search/values"): ("list_values", listing("values", v.ValueCount), None),
    ("POST", "/compare"): ("compare_runs", v.Comparison, None),
    ("POST", "/actions/runs"): ("act_on_runs", listing("results", v.ActionResult), None),
    ("GET", "/runs/{run_id}/overview"): ("get_overview", v.Overview, None),
    ("GET", "/runs/{run_id}/tune"): ("get_tuning", Tuning, None),
    ("GET", "/runs/{run_id}/timeline"): ("get_timeline", v.Timeline, None),
    ("GET", "/runs/{run_id}/series"): ("get_series", listing("series", v.Series), None),
    ("GET", "/runs/{run_id}/items"): ("get_items", v.Items, None),
    ("GET", "/runs/{run_id}/metrics.csv"): ("download_metrics", CSV, None),
    ("GET", "/runs/{run_id}/log-index/{name}"): ("index_log", v.LogIndex, None),
    ("GET", "/runs/{run_id}/log-lines/{name}"): ("read_log_lines", v.LogLines, None),
    ("GET", "/runs/{run_id}/log-search/{name}"): ("search_log", v.LogMatches, None),
    ("GET", "/runs/{run_id}/tree"): ("list_tree", v.Tree, None),
    ("GET", "/runs/{run_id}/zip"): ("get_outputs_zip", ZIP, None),
    ("GET", "/runs/{run_id}/preview/{name}"): ("preview_file", v.Preview, None),
    ("GET", "/runs/{run_id}/picture/{name}"): ("get_picture", PICTURE, None),
    ("GET", "/data/manifests/{manifest_id}/preview/{path}"): ("preview_manifest_file", v.Preview, None),
    ("GET", "/data/manifests/{manifest_id}/picture/{path}"): ("get_manifest_picture", PICTURE, None),
    ("GET", "/runs/{run_id}/diff/{other}"): ("diff_snapshots", v.SourceDiff, None),
    ("GET", "/runs/{run_id}/reproduce"): ("check_reproduce", v.Reproducible, None),
    ("POST", "/runs/{run_id}/reproduce"): ("reproduce_run", Run, None),
    ("GET", "/snapshots/{snapshot_id}/tree"): ("list_snapshot", v.Tree, None),
    ("GET", "/snapshots/{snapshot_id}/preview/{path}"): ("preview_snapshot_file", v.Preview, None),
    ("GET", "/snapshots/{snapshot_id}/picture/{path}"): ("get_snapshot_picture", PICTURE, None),
    ("GET", "/compute/{name}/queue"): ("get_queue", v.Queue, None),
    ("GET", "/model-names"): ("list_model_names", listing("models", v.ModelName), None),
    ("PUT", "/model-names/{name}/aliases/{alias}"): ("set_model_alias", v.Aliases, None),
    ("GET", "/models/{name}/{version}/lineage"): ("get_lineage", v.Lineage, None),
    ("GET", "/models/{name}/{version}/preview/{path}"): ("preview_model_file", v.Preview, None),
    ("GET", "/models/{name}/{version}/picture/{path}"): ("get_model_picture", PICTURE, None),
    ("GET", "/environments/{name}/runs"): ("list_environment_runs", listing("runs", v.BriefRun), None),
}
