"""`rookery run SCRIPT [ARGS…]`: submits a script (or a shell line) and shows what it prints."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_compute, complete_environment, complete_experiment
from rookery.cli.export import ensure_target, print_manifests, split_options, write_export
from rookery.cli.page import run_page
from rookery.cli.pairs import parse_pairs, parse_secrets
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.submission import Request, build_config, plan_manifests, print_plan, source_and_script
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.watch import watch
from rookery.errors import RookeryError, UserError
from rookery.spec.jobset import KUBERNETES_NAMES

__all__ = ["run"]

CONTEXT = {"allow_interspersed_args": False}


def run(
    script: Annotated[
        Optional[str], typer.Argument(metavar="SCRIPT", help="The Python file to run.", show_default=False)
    ] = None,
    arguments: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="ARGS", help="The script's own, whatever they look like."),
    ] = None,
    command: Annotated[
        Optional[str], typer.Option("--command", "-c", metavar="LINE", help="A shell line instead of SCRIPT.")
    ] = None,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait; print the run's id.")] = False,
    compute: Annotated[
        str,
        typer.Option("--compute", metavar="NAME", help="Where to run it.", autocompletion=complete_compute),
    ] = "local",
    experiment: Annotated[
        Optional[str],
        typer.Option(
            "--experiment",
            metavar="NAME",
            help="Default: the script's name.",
            autocompletion=complete_experiment,
        ),
    ] = None,
    name: Annotated[Optional[str], typer.Option("--name", metavar="TEXT", help="A display name for the run.")] = None,
    source: Annotated[
        Optional[str],
        typer.Option(
            "--source",
            metavar="DIR",
            help="The folder that travels along. Default: this one if the script is in it, else its own.",
        ),
    ] = None,
    python: Annotated[
        Optional[str], typer.Option("--python", metavar="PATH", help="The interpreter to run it with.")
    ] = None,
    env: Annotated[
        Optional[str],
        typer.Option(
            "--env",
            metavar="FILE|NAME",
            help="Its software: a conda YAML, requirements, a pyproject.toml, a lock file, or a name.",
            autocompletion=complete_environment,
        ),
    ] = None,
    env_var: Annotated[
        Optional[list[str]],
        typer.Option("--env-var", metavar="KEY=VALUE", help="A variable for the run; repeat for several."),
    ] = None,
    secret: Annotated[
        Optional[list[str]],
        typer.Option(
            "--secret",
            metavar="KEY[=VALUE]",
            help="A variable that is never shown; without a value it is taken from here. Repeat for several.",
        ),
    ] = None,
    tag: Annotated[
        Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat for several.")
    ] = None,
    max_seconds: Annotated[
        Optional[int], typer.Option("--max-seconds", min=1, metavar="S", help="Stop it after this long.")
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", min=0, metavar="N", help="Try again this often after the script failed.")
    ] = 0,
    lost_node_retries: Annotated[
        Optional[int],
        typer.Option(
            "--lost-node-retries",
            min=0,
            metavar="N",
            help="Try again this often after a lost or preempted node. Default: 3 on a low-priority cluster, else 0.",
            show_default=False,
        ),
    ] = None,
    nodes: Annotated[int, typer.Option("--nodes", min=1, metavar="N", help="Nodes that take part.")] = 1,
    processes: Annotated[
        int, typer.Option("--processes-per-node", min=1, metavar="N", help="Processes of the script on each node.")
    ] = 1,
    k8s: Annotated[
        Optional[list[str]],
        typer.Option(
            "--k8s",
            metavar="KEY=VALUE",
            help="With --compute k8s: keeper_url, image, cpus, memory, gpus, namespace …",
        ),
    ] = None,
    export: Annotated[
        Optional[str],
        typer.Option(
            "--export", metavar="FILE", help="With --compute k8s: write the run's manifests there, do not wait."
        ),
    ] = None,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be submitted, and submit nothing.")
    ] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Runs a script. Everything after SCRIPT belongs to the script; Rookery's own options come before it."""
    if bool(script) == bool(command):
        raise typer.BadParameter("Give a SCRIPT, or a shell line with --command, and not both.")
    if env and python:
        raise typer.BadParameter(
            "Give --env or --python, and not both: --python names an interpreter that is used as it is."
        )
    folder, inside = source_and_script(script, source)
    request = Request(
        folder=folder,
        script=inside,
        arguments=tuple(arguments or ()),
        command=command,
        compute=compute,
        experiment=experiment,
        name=name,
        python=python,
        env=env,
        variables=parse_pairs("--env-var", env_var),
        secrets=parse_secrets("--secret", secret),
        tags=parse_pairs("--tag", tag),
        max_seconds=max_seconds,
        retries=retries,
        lost_node_retries=lost_node_retries,
        nodes=nodes,
        processes_per_node=processes,
    )
    if compute in KUBERNETES_NAMES and is_dry:
        _print_plan_of_manifests(request, k8s)
        return 0
    if is_dry:
        print_plan(request)
        return 0
    if export is not None:
        ensure_target(compute, *split_options(k8s))
        write_export(_submit(request), export)
        return 0
    if compute in KUBERNETES_NAMES:
        raise UserError(
            f"Runs are not sent to Kubernetes: `--export FILE --compute {compute}` submits one and writes the manifests that "
            f"start it, `--dry-run --compute {compute}` only prints them. `rookery compute list` shows where runs can be sent."
        )
    made = _submit(request)
    if is_detached:
        _say_detached(made)
        return 0
    return watch(session.client(), made)


def _print_plan_of_manifests(request: Request, k8s: Optional[list[str]]) -> None:
    made = plan_manifests(request, *split_options(k8s))
    if session.current().json:
        print_json({"manifests": made})
        return
    print_manifests(made)
    note(
        "Nothing is submitted, so the Secret holds no tokens yet. `--export FILE` instead of --dry-run gives those that run."
    )


def _submit(request: Request) -> dict[str, Any]:
    from rookery.sdk import Experiment

    config = build_config(request)
    client = session.client()
    try:
        submitted = Experiment(session.sdk_workspace(), request.experiment_name).submit(
            config, tags=dict(request.tags), display_name=request.name
        )
    except KeyboardInterrupt:
        raise RookeryError("Interrupted while submitting. `rookery ps` shows whether the run was created.") from None
    made: dict[str, Any] = client.request("GET", f"/runs/{submitted.id}")
    return made


def _say_detached(run: dict[str, Any]) -> None:
    if session.current().json:
        print_json(run)
        return
    say(run["id"])
    because = f": {run['reason']}" if run["reason"] else ""
    note(f"{run['status']}{because}")
    page = run_page(session.client(), run["id"])
    if page:
        note(page)
    next_step(f"rookery logs -f {run['id']}")
