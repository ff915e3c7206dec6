"""`rookery compute …`: the pools of nodes that runs are sent to."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import attach, session
from rookery.cli.complete import complete_compute
from rookery.cli.fields import field
from rookery.cli.pairs import parse_pairs
from rookery.cli.reach import check_target, print_checks
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, paint, print_json, say
from rookery.cli.words import age, duration, local_time, size
from rookery.errors import UserError
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Compute targets: list, create, attach, show, nodes, check, update, delete, detach, preempt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(attach.app, name="attach")
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The compute target's name.", autocompletion=complete_compute)
]
MinNodes = Annotated[
    Optional[int], typer.Option("--min-nodes", min=0, metavar="N", help="Nodes kept ready when nothing runs.")
]
MaxNodes = Annotated[Optional[int], typer.Option("--max-nodes", min=0, metavar="N", help="Nodes at most.")]
Idle = Annotated[
    Optional[int],
    typer.Option("--idle-seconds", min=0, metavar="S", help="Idle seconds before a node is given up."),
]
Tags = Annotated[Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat for several.")]
About = Annotated[Optional[str], typer.Option("--description", metavar="TEXT", help="What it is for.")]


@app.command("list")
def list_compute(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists compute targets; `local`, this machine, is always there."""
    found = session.client().request("GET", "/compute")["compute"]
    if session.current().json:
        print_json({"compute": found})
        return
    columns = (
        Column("NAME"),
        Column("ENGINE", rank=2),
        Column("STATE", rank=2),
        Column("NODES", rank=1, right=True),
        Column("MIN-MAX", rank=3),
        Column("RUNNING", rank=1, right=True),
        Column("QUEUED", rank=1, right=True),
        Column("SIZE", rank=5, shrinks=True),
    )
    print_table(columns, [_row(c) for c in found])
    next_step(
        f"rookery run --compute {found[-1]['name']} SCRIPT"
        if len(found) > 1
        else "rookery compute create NAME --max-nodes 2"
    )


@app.command("create")
def create_compute(
    name: Annotated[str, typer.Argument(metavar="NAME", help="2 to 64 letters, digits and '-'.")],
    max_nodes: Annotated[int, typer.Option("--max-nodes", min=0, metavar="N", help="Nodes at most.")] = 1,
    min_nodes: Annotated[
        int, typer.Option("--min-nodes", min=0, metavar="N", help="Nodes kept ready when nothing runs.")
    ] = 0,
    idle_seconds: Annotated[
        int,
        typer.Option("--idle-seconds", min=0, metavar="S", help="Idle seconds before a node is given up."),
    ] = 1800,
    vm_size: Annotated[
        str,
        typer.Option("--vm-size", metavar="LABEL", help="A label, kept and shown; the nodes are this machine's."),
    ] = "",
    vm_priority: Annotated[
        str, typer.Option("--vm-priority", metavar="WORD", help="dedicated or lowpriority.")
    ] = "dedicated",
    cpus: Annotated[
        Optional[int], typer.Option("--cpus-per-node", min=1, metavar="N", help="CPU cores of a node.")
    ] = None,
    gpus: Annotated[Optional[int], typer.Option("--gpus-per-node", min=0, metavar="N", help="GPUs of a node.")] = None,
    tag: Tags = None,
    description: About = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Makes a cluster of this machine's cores and GPUs."""
    from rookery.spec.compute import ClusterSpec, check_cluster_spec
    from rookery.spec.names import check_compute_name
    from rookery.spec.plain import to_plain

    check_compute_name(name)
    spec = ClusterSpec(
        vm_size=vm_size,
        vm_priority=vm_priority,
        min_nodes=min_nodes,
        max_nodes=max_nodes,
        idle_seconds_before_scaledown=idle_seconds,
        cpus_per_node=cpus,
        gpus_per_node=gpus,
        tags=parse_pairs("--tag", tag),
        description=description or "",
    )
    body = {"name": name, "spec": to_plain(check_cluster_spec(spec))}
    _print(session.client().request("POST", "/compute", body=body), f"rookery run --compute {name} SCRIPT")


@app.command("show")
def show_compute(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one compute target."""
    _print(session.client().request("GET", _path(name)), f"rookery compute nodes {name}")


@app.command("update")
def update_compute(
    name: Name,
    min_nodes: MinNodes = None,
    max_nodes: MaxNodes = None,
    idle_seconds: Idle = None,
    tag: Tags = None,
    description: About = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Changes a cluster's limits, tags or description."""
    given = {
        "min_nodes": min_nodes,
        "max_nodes": max_nodes,
        "idle_seconds_before_scaledown": idle_seconds,
        "tags": parse_pairs("--tag", tag) or None,
        "description": description,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise typer.BadParameter("Give at least one of --min-nodes, --max-nodes, --idle-seconds, --tag, --description.")
    _print(session.client().request("PATCH", _path(name), body=changes), f"rookery compute show {name}")


@app.command("delete")
def delete_compute(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Deletes a cluster that no run uses."""
    session.client().request("DELETE", _path(name))
    if session.current().json:
        print_json({"deleted": name})
    else:
        say(f"Deleted compute target {name}")
        next_step("rookery compute list")


@app.command("detach")
def detach_compute(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Forgets an attached target that no run uses; its machines are left alone."""
    spec = session.client().request("GET", _path(name))["spec"] or {}
    if not _is_attached(spec):
        raise UserError(f"'{name}' was created, not attached. Remove it with `rookery compute delete {name}`.")
    session.client().request("DELETE", _path(name))
    if session.current().json:
        print_json({"detached": name})
    else:
        say(f"Detached compute target {name}")
        next_step("rookery compute list")


@app.command("check")
def check_compute(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> int:
    """Tries a target from end to end: its engine, a node of it, the way back from there. Exits with 1 when one is broken."""
    checks = check_target(name)
    if session.current().json:
        print_json({"ok": all(c["ok"] for c in checks), "checks": checks})
        return 0 if all(c["ok"] for c in checks) else 1
    is_well = print_checks(checks)
    if is_well:
        next_step(f"rookery run --compute {name} SCRIPT")
    return 0 if is_well else 1


@app.command("nodes")
def list_nodes(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists a compute target's nodes and what they run."""
    nodes = session.client().request("GET", _path(name) + "/nodes")["nodes"]
    if session.current().json:
        print_json({"nodes": nodes})
        return
    if not nodes:
        say(f"{name} has no node up now. It brings them up when a run needs them.")
        next_step(f"rookery compute show {name}")
        return
    columns = (
        Column("NODE"),
        Column("STATE"),
        Column("RUN", rank=1),
        Column("CPUS", rank=3, right=True),
        Column("GPUS", rank=3, right=True),
        Column("MEMORY", rank=5, right=True),
        Column("SINCE", rank=2),
        Column("ADDRESS", rank=4),
        Column("", rank=6, shrinks=True),
    )
    rows = [
        (
            n["id"],
            n["state"],
            ", ".join(run["run_id"] for run in n.get("runs") or ()) or n["run_id"] or "",
            _share(n, "cpus"),
            _share(n, "gpus"),
            size(n["memory_bytes"]) if n.get("memory_bytes") else "",
            age(n["since_utc"]) if n["since_utc"] else "",
            n["address"] or "",
            n.get("detail") or "",
        )
        for n in nodes
    ]
    print_table(columns, rows)
    next_step(f"rookery compute show {name}")


@app.command("preempt")
def preempt(
    name: Name,
    node: Annotated[
        Optional[str],
        typer.Argument(metavar="NODE", help="Which one; default: one that runs something.", show_default=False),
    ] = None,
    grace: Annotated[
        Optional[float],
        typer.Option("--grace", min=0, metavar="S", help="Seconds that its processes have to save their work."),
    ] = None,
    away: Annotated[
        Optional[float], typer.Option("--away", min=0, metavar="S", help="Seconds that the node stays away.")
    ] = None,
    is_forced: Annotated[bool, typer.Option("--force", help="Also from a dedicated cluster.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Takes a node of a low-priority cluster away, as a cloud would; its run goes back to the queue and resumes."""
    given = {"node": node, "grace_s": grace, "away_s": away, "force": is_forced or None}
    body = {key: value for key, value in given.items() if value is not None}
    taken = session.client().request("POST", _path(name) + "/preempt", body=body)
    if session.current().json:
        print_json(taken)
        return
    if taken["run_id"]:
        say(f"{taken['node']} is taken from run {taken['run_id']}, whose processes have {duration(taken['grace_s'])}")
        next_step(f"rookery show {taken['run_id']}")
    else:
        say(f"{taken['node']} is away for {duration(taken['away_s'])}; nothing ran on it")
        next_step(f"rookery compute nodes {name}")


def _path(name: str) -> str:
    return "/compute/" + quote_path(name).replace("/", "%2F")


def _count(value: Any) -> str:
    """A number, or of a list its length."""
    return "" if value is None else str(len(value) if isinstance(value, list) else value)


def _share(node: dict[str, Any], kind: str) -> str:
    """How many it has, and of other machines how many of them are free: 2/8."""
    total, free = node.get(f"num_{kind}"), node.get(f"free_{kind}")
    if total is None:
        return _count(node[kind])
    return str(total) if free is None else f"{free}/{total}"


def _is_attached(spec: dict[str, Any]) -> bool:
    return spec.get("engine", "embedded") != "embedded"


def _limits(spec: dict[str, Any]) -> str:
    most = spec.get("max_nodes", 1)
    if _is_attached(spec):
        return f"0-{most}" if most else "all"
    return f"{spec.get('min_nodes', 0)}-{most}"


def _row(compute: dict[str, Any]) -> list[Any]:
    spec = compute["spec"] or {}
    limits = _limits(spec) if compute["kind"] == "cluster" else ""
    state = (
        compute["provisioning_state"]
        if compute["allocation_state"] in (None, "", "Steady")
        else compute["allocation_state"]
    )
    return [
        compute["name"],
        spec.get("engine") or "embedded",
        state or "",
        _count(compute["current_nodes"]),
        limits,
        _count(compute["running_runs"]),
        _count(compute["queued_runs"]),
        spec.get("vm_size") or "",
    ]


def _print(compute: dict[str, Any], then: str) -> None:
    if session.current().json:
        print_json(compute)
        return
    spec = compute["spec"] or {}
    say(paint(compute["name"], "bold") + f"  {compute['kind']}")
    field("about", spec.get("description"))
    field("state", ", ".join(s for s in (compute["provisioning_state"], compute["allocation_state"]) if s))
    field("nodes", f"{compute['current_nodes']} up, {compute['target_nodes']} wanted")
    field(
        "node states",
        ", ".join(f"{count} {state}" for state, count in (compute["node_states"] or {}).items() if count),
    )
    if compute.get("problem"):
        field("problem", compute["problem"])
    if _is_attached(spec):
        _print_attached(spec)
    elif compute["kind"] == "cluster":
        field(
            "limits",
            f"{spec['min_nodes']} to {spec['max_nodes']} nodes, idle ones leave after "
            f"{duration(spec['idle_seconds_before_scaledown'])}",
        )
        field("size", f"{spec['vm_size'] or 'this machine'}, {spec['vm_priority']}")
        _print_per_node(spec)
    field("runs", f"{compute['running_runs']} running, {compute['queued_runs']} queued")
    field("created", local_time(compute["created_utc"]))
    field("tags", ", ".join(f"{k}={v}" for k, v in (spec.get("tags") or {}).items()))
    for warning in compute["warnings"]:
        say(paint("warning: ", "yellow") + clean(warning))
    next_step(then)


def _print_attached(spec: dict[str, Any]) -> None:
    reach = spec.get("reach") or {}
    field("engine", spec["engine"])
    options = ((key, value) for key, value in (spec.get("options") or {}).items() if value not in (None, "", [], {}))
    field("options", ", ".join(f"{key}={_text(value)}" for key, value in options))
    field("limits", f"{spec['max_nodes']} nodes at most" if spec["max_nodes"] else "as many nodes as there are")
    _print_per_node(spec)
    field("keeper at", reach.get("keeper_url"))
    words: dict[Any, str] = {True: "shared with the nodes", False: "sent to the nodes"}
    shared = words.get(reach.get("shared_files"), "")
    field("files", ", ".join(word for word in (shared, reach.get("transport")) if word))
    field("node home", reach.get("node_home"))


def _print_per_node(spec: dict[str, Any]) -> None:
    kinds = (("cpus_per_node", "CPUs"), ("gpus_per_node", "GPUs"))
    field("per node", ", ".join(f"{spec[key]} {word}" for key, word in kinds if spec.get(key) is not None))


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
