"""Pipelines as `rookery pipeline` shows them: problems with their lines, the nodes of a file, what became of a run's steps."""

from __future__ import annotations

from typing import Any, Optional

from rookery.cli import session
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, note, paint, print_json, say

__all__ = ["lines_of", "print_problems", "print_steps", "show_end", "show_file", "with_lines"]

INTERRUPTED = 130


def show_end(client: Any, run_id: str, detach: bool, have: Optional[dict[str, int]] = None) -> int:
    """Waits for the end of a pipeline's run, and shows what became of it; the exit code. `have`: sizes of logs told before."""
    if detach:
        if session.current().json:
            print_json({"run": run_id})
        else:
            say(run_id)
            next_step(f"rookery pipeline show {run_id}")
        return 0
    shown = _follow(client, run_id, have)
    if shown is None:
        note(f"It goes on. Stop it with `rookery stop {run_id}`.")
        return INTERRUPTED
    if session.current().json:
        print_json(shown)
    else:
        print_steps(shown)
        next_step(f"rookery pipeline show {run_id}")
    return 0 if shown["status"] == "Completed" else 1


def with_lines(problems: list[dict[str, Any]], lines: dict[str, int]) -> list[dict[str, Any]]:
    return [{**problem, "line": lines.get(str(problem["node"]))} for problem in problems]


def print_problems(problems: list[dict[str, Any]], lines: dict[str, int]) -> None:
    for problem in with_lines(problems, lines):
        where = clean(problem["node"] or "pipeline")
        place = f" (line {problem['line']})" if problem["line"] else ""
        say(f"{paint(where, 'bold')}{place}: {clean(problem['message'])}")
    note(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}")


def lines_of(file: str) -> dict[str, int]:
    """Where the nodes of a file are; empty where that cannot be said."""
    from rookery.errors import UserError
    from rookery.spec.pipeline_file import node_lines
    from rookery.spec.safe_yaml import read_text

    try:
        return node_lines(read_text(file))
    except UserError:
        return {}


def show_file(file: str) -> None:
    from rookery.sdk.pipeline_graph import PipelineGraph
    from rookery.spec.pipeline import in_order, node_map, sources_of

    graph = PipelineGraph.from_yaml(file).graph
    if session.current().json:
        print_json(graph)
        return
    nodes = node_map(graph)
    rows = []
    for key in [*in_order(graph), *(key for key in nodes if key not in in_order(graph))]:
        node = nodes[key]
        run: Any = node["run"] if isinstance(node.get("run"), dict) else {}
        what = node.get("module") or node.get("dataset") or node.get("model") or run.get("script") or run.get("command")
        inputs = ", ".join(f"{source.node}.{source.port}" for source in sources_of(node).values())
        rows.append((key, node.get("kind") or "", what if isinstance(what, str) else "", inputs))
    columns = (Column("NODE"), Column("KIND"), Column("WHAT"), Column("TAKES", rank=1, shrinks=True))
    print_table(columns, rows)
    next_step(f"rookery pipeline run {file}")


def print_steps(shown: dict[str, Any]) -> None:
    rows = []
    for step in shown["steps"].values():
        rows.append((step["name"], step["status"], _seconds(step), step["reason"] or step["reuse"]))
    columns = (
        Column("STEP"),
        Column("STATUS", is_status=True),
        Column("S", right=True),
        Column("WHY", rank=1, shrinks=True),
    )
    print_table(columns, rows)
    reused = sum(bool(step["reused_from"]) for step in shown["steps"].values())
    say(f"{shown['status']}: {len(rows)} steps, {reused} reused")
    if shown["status"] == "Failed" and shown["error"]:
        note(clean(shown["error"]["summary"]))


def _follow(client: Any, run_id: str, have: Optional[dict[str, int]]) -> Optional[dict[str, Any]]:
    """The run at its end; what is told of it on the way goes to stderr. None: the watcher has enough."""
    from rookery.cli.follow import follow

    def tell(_name: str, data: bytes) -> None:
        if not session.current().json:
            for line in data.decode("utf-8", "replace").splitlines():
                note(clean(line.partition("] ")[2] or line))

    try:
        follow(client, run_id, tell, have=have)
    except KeyboardInterrupt:
        return None
    shown: dict[str, Any] = client.request("GET", f"/pipelines/runs/{run_id}")
    return shown


def _seconds(step: dict[str, Any]) -> str:
    from datetime import datetime

    if not step["started"] or not step["ended"] or step["reused_from"]:
        return ""
    began, ended = (datetime.fromisoformat(step[key].replace("Z", "+00:00")) for key in ("started", "ended"))
    return f"{(ended - began).total_seconds():.1f}"
