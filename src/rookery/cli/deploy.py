"""`rookery deploy MODEL`: a registered model behind an address."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_environment, complete_model
from rookery.cli.environment_choice import choose_environment
from rookery.cli.pairs import parse_model, parse_pairs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, is_terminal, next_step, note, print_json, say

__all__ = ["deploy"]

KINDS = ("local", "aci", "aks")


def deploy(
    model: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL[:VERSION]...",
            help="A registered model, or several; without a version the latest.",
            autocompletion=complete_model,
        ),
    ],
    name: Annotated[
        Optional[str], typer.Option("--name", "-n", metavar="NAME", help="The endpoint's name. Default: the model's.")
    ] = None,
    script: Annotated[
        Optional[str],
        typer.Option(
            "--script",
            "-s",
            metavar="FILE",
            help="Scoring script with init() and run(data). Without one the model's framework decides (ONNX, PyTorch, scikit-learn).",
        ),
    ] = None,
    source: Annotated[
        Optional[str],
        typer.Option("--source", metavar="FOLDER", help="Folder that goes along; --script is a path in it."),
    ] = None,
    env: Annotated[
        Optional[str],
        typer.Option(
            "--env",
            metavar="FILE|NAME",
            help="Environment of the scoring script. Default: this Python.",
            autocompletion=complete_environment,
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="local, aci or aks: defaults and addresses as in SDK v1.")
    ] = "local",
    port: Annotated[
        Optional[int], typer.Option("--port", metavar="PORT", help="Of a local endpoint; default: a free one.")
    ] = None,
    replicas: Annotated[
        Optional[int], typer.Option("--replicas", metavar="N", help="Processes that answer; default 1.", min=1)
    ] = None,
    auth: Annotated[
        Optional[bool], typer.Option("--auth/--no-auth", help="Whether a key is needed. Default: for aks only.")
    ] = None,
    config: Annotated[
        Optional[list[str]],
        typer.Option(
            "--config", metavar="KEY=VALUE", help="An option of docs/serving.md, such as max_batch_size=8; repeat."
        ),
    ] = None,
    tag: Annotated[Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat.")] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it is.")] = "",
    is_overwriting: Annotated[
        bool, typer.Option("--overwrite", help="Replace an endpoint of that name, without a pause.")
    ] = False,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait until it answers.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Puts a registered model behind an address."""
    from rookery.sdk.deploy import post_endpoint

    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} does not exist. Known: {', '.join(KINDS)}.", param_hint="--kind")
    if (source or env) and not script:
        raise typer.BadParameter("--source and --env go with --script.", param_hint="--script")
    home = session.sdk_workspace()
    models = [{"name": n, **({"version": v} if v else {})} for n, v in map(parse_model, model)]
    options: dict[str, Any] = {"num_replicas": replicas} if replicas else {}
    options.update({key: _value(text) for key, text in parse_pairs("--config", config).items()})
    body = {
        "name": name or models[0]["name"],
        "kind": kind,
        "models": models,
        "inference": _inference(home, script, source, env) if script else None,
        "config": options,
        "tags": parse_pairs("--tag", tag),
        "description": description,
        "overwrite": is_overwriting,
        **({"port": port} if port is not None else {}),
        **({"auth_enabled": auth} if auth is not None else {}),
    }
    service = post_endpoint(home, body)
    if not is_detached:
        if is_terminal() and not session.current().json:
            note(f"{service.name}: coming up …")
        service.wait_for_deployment()
    if session.current().json:
        print_json(service._data)
        return
    say(f"{clean(service.name)}  {service._data['state']}  {service.scoring_uri}")
    next_step(f"rookery predict {service.name} FILE", f"or look: {service.portal_url}" if is_terminal() else "")


def _inference(home: Any, script: str, source: Optional[str], env: Optional[str]) -> dict[str, Any]:
    from rookery.sdk.inference_config import InferenceConfig

    chosen = choose_environment(env) if env else None
    return InferenceConfig(script, source_directory=source, environment=chosen).to_body(home)


def _value(text: str) -> Any:
    """A number, true, false or null where it is one; else the text."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text
