"""`rookery tune FILE.yaml` or `rookery tune SCRIPT --param …`: tries hyperparameters and shows the best."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_compute, complete_experiment
from rookery.cli.find import find_run
from rookery.cli.page import run_page
from rookery.cli.pairs import parse_pairs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.submission import Request, source_and_script
from rookery.cli.terminal import clean, has_color, is_terminal, next_step, note, print_json, say
from rookery.cli.tune_file import TuneRequest, build_tune_config, read_tune_file
from rookery.cli.tune_view import print_tuning, watch_table
from rookery.cli.watch import exit_code, watch

__all__ = ["CONTEXT", "tune"]

CONTEXT = {"allow_interspersed_args": False}
REFRESH_S = 0.5
SHOWN = 15


def tune(
    what: Annotated[
        str, typer.Argument(metavar="SCRIPT|FILE.yaml", help="A Python file, or a YAML file that says all of it.")
    ],
    arguments: Annotated[
        Optional[list[str]], typer.Argument(metavar="ARGS", help="The script's own, whatever they look like.")
    ] = None,
    param: Annotated[
        Optional[list[str]],
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=DISTRIBUTION",
            help="As in lr=loguniform(-7,-2) or batch=choice(16,32); repeat.",
        ),
    ] = None,
    maximize: Annotated[
        Optional[str], typer.Option("--maximize", metavar="METRIC", help="What is to be large.")
    ] = None,
    minimize: Annotated[
        Optional[str], typer.Option("--minimize", metavar="METRIC", help="What is to be small.")
    ] = None,
    runs: Annotated[
        Optional[int], typer.Option("--runs", "-n", min=1, metavar="N", help="Children in all; 20 by default.")
    ] = None,
    concurrent: Annotated[
        Optional[int], typer.Option("--concurrent", min=1, metavar="N", help="Children at a time.")
    ] = None,
    minutes: Annotated[
        Optional[float], typer.Option("--minutes", metavar="M", help="Stop what still runs after so long.")
    ] = None,
    sampler: Annotated[
        Optional[str], typer.Option("--sampler", metavar="NAME", help="random (default), sobol, grid or bayesian.")
    ] = None,
    seed: Annotated[
        Optional[int], typer.Option("--seed", metavar="N", help="The same one gives the same values.")
    ] = None,
    policy: Annotated[
        Optional[str],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="As in bandit(slack_factor=0.1), median, truncation(truncation_percentage=20), asha.",
        ),
    ] = None,
    resume_from: Annotated[
        Optional[list[str]],
        typer.Option("--resume-from", metavar="RUN", help="An earlier tuning to learn from; repeat."),
    ] = None,
    compute: Annotated[
        Optional[str],
        typer.Option("--compute", metavar="NAME", help="Where children run.", autocompletion=complete_compute),
    ] = None,
    experiment: Annotated[
        Optional[str],
        typer.Option(
            "--experiment", metavar="NAME", help="Default: the script's name.", autocompletion=complete_experiment
        ),
    ] = None,
    name: Annotated[Optional[str], typer.Option("--name", metavar="TEXT", help="A display name.")] = None,
    source: Annotated[
        Optional[str], typer.Option("--source", metavar="DIR", help="The folder that travels along.")
    ] = None,
    python: Annotated[
        Optional[str], typer.Option("--python", metavar="PATH", help="The interpreter of the children.")
    ] = None,
    env: Annotated[
        Optional[str], typer.Option("--env", metavar="FILE|NAME", help="Their software, as for `run`.")
    ] = None,
    env_var: Annotated[
        Optional[list[str]], typer.Option("--env-var", metavar="KEY=VALUE", help="A variable for the children; repeat.")
    ] = None,
    tag: Annotated[Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat.")] = None,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait; print the run's id.")] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Show what would be tried, and submit nothing.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Tunes hyperparameters: many runs of one script, each with other values. Options come before SCRIPT."""
    if maximize and minimize:
        raise typer.BadParameter("Give --maximize or --minimize, and not both.")
    if what.endswith((".yaml", ".yml")):
        if arguments or source:
            raise typer.BadParameter("A YAML file says its arguments and source itself.")
        request = read_tune_file(what)
    else:
        folder, inside = source_and_script(what, source)
        request = TuneRequest(Request(folder=folder, script=inside, arguments=tuple(arguments or ())))
    changes: dict[str, Any] = {
        "parameters": parse_pairs("--param", param, example="'lr=uniform(0,1)'") or None, "metric": maximize or minimize, "max_total_runs": runs,
        "goal": "maximize" if maximize else "minimize" if minimize else None, "max_concurrent_runs": concurrent, "seed": seed,
        "max_duration_minutes": minutes, "sampler": sampler, "policy": policy,
        "resume_from": tuple(find_run(session.client(), one)["id"] for one in resume_from) if resume_from else None,
    }  # fmt: skip
    of_run: dict[str, Any] = {
        "compute": compute, "experiment": experiment, "name": name, "python": python, "env": env,
        "variables": parse_pairs("--env-var", env_var) or None, "tags": parse_pairs("--tag", tag) or None,
    }  # fmt: skip
    request = replace(request, run=replace(request.run, **_given(of_run)), **_given(changes))
    if not request.metric:
        raise typer.BadParameter(
            "Say what is tuned for: --maximize METRIC or --minimize METRIC, as the script logs it."
        )
    if not request.parameters:
        raise typer.BadParameter("Say what is tuned: --param NAME=DISTRIBUTION, as in --param 'lr=loguniform(-7,-2)'.")
    config = build_tune_config(request)
    if is_dry:
        _print_plan(config)
        return 0
    run = _submit(request, config)
    if is_detached:
        _say_detached(run)
        return 0
    return _follow(run)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _print_plan(config: Any) -> None:
    from rookery.spec.plain import to_plain

    plan = to_plain(config.plan())
    if session.current().json:
        print_json({"plan": plan})
        return
    for key, value in plan.items():
        if value not in (None, [], {}):
            say(f"{key:<22}{value}")
    note("Nothing was submitted.")


def _submit(request: TuneRequest, config: Any) -> dict[str, Any]:
    from rookery.sdk import Experiment

    place = Experiment(session.sdk_workspace(), request.run.experiment_name)
    submitted = place.submit(config, tags=dict(request.run.tags), display_name=request.run.name)
    made: dict[str, Any] = session.client().request("GET", f"/runs/{submitted.id}")
    return made


def _say_detached(run: dict[str, Any]) -> None:
    if session.current().json:
        print_json(run)
        return
    say(run["id"])
    next_step(f"rookery show {run['id']}")


def _follow(run: dict[str, Any]) -> int:
    """On a terminal a table that is drawn again; else the tuning's log as it grows. Then the leader board."""
    client = session.client()
    path = f"/runs/{run['id']}"
    if session.current().json or not is_terminal():
        code = watch(client, run)
        if session.current().json:
            print_json({"event": "tuning", "tuning": client.request("GET", path + "/tune")}, line=True)
        else:
            print_tuning(client.request("GET", path + "/tune"))
        return code
    page = run_page(client, run["id"])
    note(f"Tuning {run['id']}" + (f"  {page}" if page else ""))
    try:
        ended = _live(client, path)
    except KeyboardInterrupt:
        note(
            f"\nThe tuning goes on. Stop it with `rookery stop {run['id']}`, look at it with `rookery show {run['id']}`."
        )
        return 130
    for warning in ended["warnings"]:
        note(f"warning: {clean(warning)}")
    tuning = client.request("GET", path + "/tune")
    print_tuning(tuning)
    next_step(f"rookery show {tuning['best'] or run['id']}")
    return exit_code(ended)


def _live(client: Any, path: str) -> dict[str, Any]:
    from rich.console import Console
    from rich.live import Live

    console = Console(no_color=not has_color(), highlight=False)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while True:
            tuning = client.request("GET", path + "/tune")
            live.update(watch_table(tuning, SHOWN), refresh=True)
            if tuning["status"] in ("Completed", "Failed", "Canceled"):
                ended: dict[str, Any] = client.request("GET", path)
                return ended
            time.sleep(REFRESH_S)
