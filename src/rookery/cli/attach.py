"""`rookery compute attach (ray|slurm|ssh)`: targets on machines that are there already."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Optional, get_type_hints

import typer

from rookery.cli import session
from rookery.cli.engine_option import parse_options
from rookery.cli.reach import print_checks
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, note, print_json, say

__all__ = ["app"]

app = typer.Typer(
    help="Attaches machines that are there already: ray, slurm, ssh.", no_args_is_help=True, rich_markup_mode=None
)
Name = Annotated[
    Optional[str], typer.Option("--name", metavar="NAME", help="What to call it; 2 to 64 letters, digits and '-'.")
]
MaxNodes = Annotated[int, typer.Option("--max-nodes", min=0, metavar="N", help="Nodes at most; 0: all there are.")]
Cpus = Annotated[
    Optional[int],
    typer.Option("--cpus-per-node", min=1, metavar="N", help="Cores that a run takes of a node; default: all."),
]
Gpus = Annotated[
    Optional[int],
    typer.Option("--gpus-per-node", min=0, metavar="N", help="GPUs that a run takes of a node; default: all."),
]
KeeperUrl = Annotated[
    str,
    typer.Option("--keeper-url", metavar="URL", help="Where nodes find this keeper; default: the address facing them."),
]
Transport = Annotated[
    str, typer.Option("--transport", metavar="WORD", help="http or spool (shared files); default: what works.")
]
Shared = Annotated[
    Optional[bool],
    typer.Option(
        "--shared-files/--no-shared-files", help="Whether nodes see the workspace's folder; default: found out."
    ),
]
NodeHome = Annotated[
    str, typer.Option("--node-home", metavar="DIR", help="Folder on the nodes; default: ~/.rookery/node.")
]
NodePython = Annotated[
    str, typer.Option("--node-python", metavar="PROGRAM", help="Starts the agent on a node; 3.9 or newer.")
]
Options = Annotated[
    Optional[list[str]],
    typer.Option("--option", "-o", metavar="KEY=VALUE", help="Any other option of the engine; repeat for several."),
]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Do not try it from one of its nodes first.")]
About = Annotated[str, typer.Option("--description", metavar="TEXT", help="What it is for.")]


def _with_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """`command(shared, …)` as a command that also takes the options of every attached target; they come as `shared`."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command({name: given.pop(name) for name in shared}, **given)

    shared = inspect.signature(_shared_options).parameters
    own = list(inspect.signature(command).parameters.values())[1:]
    hints = {**get_type_hints(command, include_extras=True), **get_type_hints(_shared_options, include_extras=True)}
    merged = [one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY) for one in (*own, *shared.values())]
    del run.__wrapped__  # what Typer reads is the signature
    run.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in merged}
    return run


def _shared_options(
    name: Name = None,
    max_nodes: MaxNodes = 0,
    cpus_per_node: Cpus = None,
    gpus_per_node: Gpus = None,
    keeper_url: KeeperUrl = "",
    transport: Transport = "",
    shared_files: Shared = None,
    node_home: NodeHome = "",
    node_python: NodePython = "",
    option: Options = None,
    is_unchecked: NoCheck = False,
    description: About = "",
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Never called: its signature is what all of them take."""


@app.command("ray")
@_with_shared_options
def attach_ray(
    shared: dict[str, Any],
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The cluster's head, as `ray start` prints it.")],
    auth: Annotated[
        str, typer.Option("--auth", metavar="WORD", help="token or disabled, as the cluster was started.")
    ] = "",
    token_path: Annotated[
        str, typer.Option("--token-path", metavar="FILE", help="The cluster's token; default: ~/.ray/auth_token.")
    ] = "",
) -> None:
    """Attaches a Ray cluster that runs."""
    _attach("ray", "ray", {"address": address, "auth": auth, "token_path": token_path}, shared)


@app.command("slurm")
@_with_shared_options
def attach_slurm(
    shared: dict[str, Any],
    partition: Annotated[str, typer.Option("--partition", metavar="NAME", help="As sbatch has it.")] = "",
    account: Annotated[str, typer.Option("--account", metavar="NAME", help="As sbatch has it.")] = "",
    qos: Annotated[str, typer.Option("--qos", metavar="NAME", help="As sbatch has it.")] = "",
    time_limit: Annotated[str, typer.Option("--time", metavar="LIMIT", help="As sbatch has it: 12:00:00.")] = "",
) -> None:
    """Attaches the Slurm cluster whose commands the keeper's machine has."""
    given = {"partition": partition, "account": account, "qos": qos, "time_limit": time_limit}
    _attach("slurm", "slurm", given, shared)


@app.command("ssh")
@_with_shared_options
def attach_ssh(
    shared: dict[str, Any],
    addresses: Annotated[
        list[str], typer.Argument(metavar="[USER@]HOST[:PORT]...", help="One machine, or several of a kind.")
    ],
    key: Annotated[
        str, typer.Option("--key", "-i", metavar="FILE", help="The private key, on the keeper's machine.")
    ] = "",
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, metavar="N", help="Where sshd listens.")] = 22,
    slots: Annotated[int, typer.Option("--slots", min=1, metavar="N", help="Nodes that one machine makes.")] = 1,
) -> None:
    """Attaches machines of your own over OpenSSH."""
    import os

    users, hosts = _split_users(addresses)
    given: dict[str, Any] = {"username": users, "ssh_port": port, "slots": slots}
    given["private_key_file"] = os.path.abspath(os.path.expanduser(key)) if key else ""
    given["address" if len(hosts) == 1 and ":" not in hosts[0] else "addresses"] = (
        hosts[0] if len(hosts) == 1 and ":" not in hosts[0] else hosts
    )
    default = re.sub(r"[^A-Za-z0-9]+", "-", hosts[0].split(":")[0].split(".")[0]).strip("-")
    _attach("ssh", default if len(default) > 1 and default[0].isalpha() else "ssh", given, shared)


def _attach(engine: str, default_name: str, options: dict[str, Any], given: dict[str, Any]) -> None:
    from rookery.sdk.attached_compute import ATTACH_TIMEOUT_S
    from rookery.spec.compute import ClusterSpec, Reach, check_cluster_spec
    from rookery.spec.names import check_compute_name
    from rookery.spec.plain import to_plain

    name = check_compute_name(given["name"] or default_name)
    options = {key: value for key, value in options.items() if value not in ("", [], None)}
    spec = ClusterSpec(
        engine=engine,
        max_nodes=given["max_nodes"],
        cpus_per_node=given["cpus_per_node"],
        gpus_per_node=given["gpus_per_node"],
        description=given["description"],
        options={**options, **parse_options(engine, given["option"])},
        reach=Reach(
            keeper_url=given["keeper_url"],
            transport=given["transport"],
            shared_files=given["shared_files"],
            node_home=given["node_home"],
            python=given["node_python"] or Reach.python,
        ),
    )
    body = {"name": name, "spec": to_plain(check_cluster_spec(spec)), "check": not given["is_unchecked"]}
    if not given["is_unchecked"] and not session.current().json:
        note(f"{engine} is asked, and a node of it tries the way back. This may take a minute.")
    made = session.client().request("POST", "/compute", body=body, timeout_s=ATTACH_TIMEOUT_S)
    if session.current().json:
        print_json(made)
        return
    print_checks(made.get("checks") or [])
    say(f"Attached {name}")
    next_step(f"rookery compute nodes {name}")


def _split_users(addresses: list[str]) -> tuple[str, list[str]]:
    users = {address.rpartition("@")[0] for address in addresses}
    if len(users) > 1:
        raise typer.BadParameter("All machines of a target have the same user. Attach the others under another name.")
    return users.pop(), [address.rpartition("@")[2] for address in addresses]
