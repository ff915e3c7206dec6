"""`rookery export RUN [FILE]`, and `rookery run --export FILE`: the manifests of a run that waits for Kubernetes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.engine_option import parse_options
from rookery.cli.find import find_run
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.errors import ComputeNotFoundError, ConflictError, UserError
from rookery.spec.status import RunStatus
from rookery.worker.http import quote_path

__all__ = ["ensure_target", "export", "print_manifests", "split_options", "write_export"]

PAUSE_S = 0.2
OWN = ("keeper_url", "python")  # of the target's reach, not of the engine


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Id, beginning of one, display name, or @last.", autocompletion=complete_run
        ),
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; '-' is standard output. It will hold a token.")
    ] = "-",
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Writes the manifests that start the agents of a run on Kubernetes, with a token for them."""
    write_export(find_run(session.client(), run), file)


def split_options(texts: Optional[Sequence[str]]) -> tuple[dict[str, Any], dict[str, str]]:
    """--k8s KEY=VALUE: options of the engine, and what belongs to the target's reach."""
    own = [text for text in texts or () if text.partition("=")[0] in OWN]
    rest = [text for text in texts or () if text not in own]
    reach = {key: value for key, _, value in (text.partition("=") for text in own)}
    return parse_options("kubernetes", rest, "--k8s"), reach


def ensure_target(name: str, options: Mapping[str, Any], reach: Mapping[str, str]) -> None:
    """The target of that name: made of these options, or there already.

    Raises:
        UserError: it is there with others.
    """
    try:
        there = session.client().request("GET", f"/compute/{quote_path(name)}")["spec"]
    except ComputeNotFoundError:
        body = {"name": name, "spec": _target(options, reach)}
        session.client().request("POST", "/compute", body=body)
        return
    if there["engine"] != "kubernetes":
        raise UserError(f"'{name}' is {there['engine']}, not Kubernetes: runs are sent to it, not exported.")
    given = {**options, **reach}
    has = {**there["options"], **{key: there["reach"].get(key) for key in OWN}}
    other = [f"{key}={has.get(key)!r}" for key, value in given.items() if has.get(key) != value]
    if other:
        raise UserError(
            f"'{name}' is there already with {', '.join(other)}. Leave --k8s out to take it as it is, detach it "
            f"(`rookery compute detach {name}`), or choose another --compute name."
        )


def write_export(run: dict[str, Any], file: str) -> None:
    """Waits until a run waits for its agents, and writes what starts them."""
    manifests = _wait_for_manifests(run["id"])["manifests"]
    if session.current().json:
        print_json({"run": run["id"], "manifests": manifests})
        return
    if file == "-":
        print_manifests(manifests)
        return
    path = os.path.abspath(os.path.expanduser(file))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as f:
        os.fchmod(f.fileno(), 0o600)  # one that was there may have been for everybody
        f.write(_yaml(manifests))
    say(run["id"])
    note(f"Its manifests are in {file}. They hold a token of this run: keep the file to yourself, and remove it later.")
    next_step(f"kubectl apply -f {file}")


def print_manifests(manifests: Sequence[dict[str, Any]]) -> None:
    say(_yaml(manifests).rstrip())


def _target(options: Mapping[str, Any], reach: Mapping[str, str]) -> dict[str, Any]:
    from rookery.spec.compute import ClusterSpec, Reach, check_cluster_spec
    from rookery.spec.plain import to_plain

    spec = ClusterSpec(engine="kubernetes", max_nodes=0, options=dict(options), reach=Reach(**dict[str, Any](reach)))
    plain: dict[str, Any] = to_plain(check_cluster_spec(spec))
    return plain


def _wait_for_manifests(run_id: str) -> dict[str, Any]:
    """Before that its environment may have to be resolved, which its log tells of."""
    said = ""
    while True:
        try:
            made: dict[str, Any] = session.client().request("POST", f"/runs/{run_id}/manifests", body={})
            return made
        except ConflictError as error:
            status = str(error.details.get("status") or "")
            if not status or RunStatus(status).is_terminal:
                raise
            if status != said and sys.stderr.isatty():
                note(f"{status} …")
            said = status
        time.sleep(PAUSE_S)


def _yaml(manifests: Sequence[dict[str, Any]]) -> str:
    from rookery.sdk.yaml_text import dump_yaml

    return "---\n".join(dump_yaml(one) for one in manifests)
