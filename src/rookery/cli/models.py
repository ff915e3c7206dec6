"""`rookery models …`: the registry, from model to run to snapshot."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_model, complete_run
from rookery.cli.export_model import export_model
from rookery.cli.fetch import fetch
from rookery.cli.fields import field
from rookery.cli.find import find_run
from rookery.cli.pairs import parse_model, parse_pairs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, is_terminal, next_step, paint, print_json, say
from rookery.cli.words import age, local_time, size
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Models: list, show, register, download, export, delete.", no_args_is_help=True, rich_markup_mode=None
)
Model = Annotated[
    str,
    typer.Argument(
        metavar="NAME[:VERSION]", help="A model; without a version the latest.", autocompletion=complete_model
    ),
]
app.command("export")(export_model)


@app.command("list")
def list_models(
    name: Annotated[
        Optional[str],
        typer.Option("--name", metavar="NAME", help="Only versions of this model.", autocompletion=complete_model),
    ] = None,
    tag: Annotated[
        Optional[list[str]],
        typer.Option("--tag", metavar="KEY[=VALUE]", help="Only models with this tag; repeat for several."),
    ] = None,
    run: Annotated[
        Optional[str],
        typer.Option("--run", metavar="RUN", help="Only models of this run.", autocompletion=complete_run),
    ] = None,
    is_latest: Annotated[bool, typer.Option("--latest", help="Only the latest version of each.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists registered models, newest first."""
    client = session.client()
    query = {
        "name": name,
        "tag": tag,
        "run_id": find_run(client, run)["id"] if run else None,
        "latest": "true" if is_latest else None,
    }
    found = client.request("GET", "/models", query=query)["models"]
    if session.current().json:
        print_json({"models": found})
        return
    if not found:
        say("No models." if name or tag or run else "No models yet.")
        next_step("rookery models register NAME --run RUN --path outputs/model.pt")
        return
    columns = (
        Column("MODEL"),
        Column("SIZE", rank=2, right=True),
        Column("CREATED", rank=1),
        Column("FRAMEWORK", rank=4, shrinks=True),
        Column("RUN", rank=3),
        Column("TAGS", rank=5, shrinks=True),
    )
    print_table(
        columns,
        [
            (
                m["id"],
                size(_bytes(m)),
                age(m["created_utc"]),
                _framework(m),
                m["run_id"] or "",
                _pairs(m["tags"]),
            )
            for m in found
        ],
    )
    next_step(f"rookery models show {found[0]['id']}")


@app.command("show")
def show_model(model: Model, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one version of a model."""
    found = _get(session.client(), model)
    _print(found, f"rookery models download {found['id']}")


@app.command("register")
def register_model(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The model's name; registering it again makes the next version."),
    ],
    path: Annotated[
        str,
        typer.Option(
            "--path",
            metavar="PATH",
            help="With --run an artifact or a folder of it, else a file or folder here.",
        ),
    ],
    run: Annotated[
        Optional[str],
        typer.Option("--run", metavar="RUN", help="The run that made it.", autocompletion=complete_run),
    ] = None,
    tag: Annotated[
        Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat for several.")
    ] = None,
    prop: Annotated[
        Optional[list[str]],
        typer.Option("--property", metavar="KEY=VALUE", help="A property; repeat for several."),
    ] = None,
    description: Annotated[Optional[str], typer.Option("--description", metavar="TEXT", help="What it is.")] = None,
    framework: Annotated[
        Optional[str],
        typer.Option("--framework", metavar="NAME", help="PyTorch, ScikitLearn, Onnx, Custom …"),
    ] = None,
    framework_version: Annotated[
        Optional[str], typer.Option("--framework-version", metavar="V", help="Its version.")
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Registers a model from a run's files, or from a file or folder here."""
    tags, properties = parse_pairs("--tag", tag), parse_pairs("--property", prop)
    client = session.client()
    if run:
        body = {
            "name": name,
            "run_id": find_run(client, run)["id"],
            "path": path,
            "tags": tags,
            "properties": properties,
            "description": description,
            "framework": framework,
            "framework_version": framework_version,
        }
        made = client.request("POST", "/models", body={k: v for k, v in body.items() if v is not None})
    else:
        from rookery.sdk import Model as SdkModel

        registered = SdkModel.register(
            session.sdk_workspace(),
            model_path=os.path.expanduser(path),
            model_name=name,
            tags=tags,
            properties=properties,
            description=description,
            model_framework=framework,
            model_framework_version=framework_version,
        )
        made = client.request("GET", _path(name), query={"version": registered.version})
    _print(made, f"rookery models download {made['id']}")


@app.command("download")
def download_model(
    model: Model,
    to: Annotated[
        Optional[str],
        typer.Option("--to", metavar="DIR", help="Where to. Default: a folder NAME-VERSION here."),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Downloads a model's files."""
    client = session.client()
    found = _get(client, model)
    folder = os.path.abspath(os.path.expanduser(to or f"{found['name']}-{found['version']}"))
    url = f"{_path(found['name'])}/{found['version']}/files/"
    written = [
        {"path": fetch(client, url + quote_path(f["path"]), folder, f), "size": f["size"]} for f in found["files"]
    ]
    if session.current().json:
        print_json({"model": found["id"], "folder": folder, "files": written})
        return
    for file in written:
        say(f"{clean(file['path'])}  {size(file['size'])}")
    next_step(f"rookery models show {found['id']}")


@app.command("delete")
def delete_model(
    model: Annotated[
        str,
        typer.Argument(metavar="NAME:VERSION", help="The version to delete.", autocompletion=complete_model),
    ],
    is_sure: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Deletes one version of a model. The files of the run it came from stay."""
    name, version = parse_model(model)
    if version is None:
        raise typer.BadParameter(
            f"{model!r} names no version. Give NAME:VERSION; `rookery models list --name {model}` lists them."
        )
    if not is_sure:
        if session.current().json or not (is_terminal() and is_terminal(sys.stdin)):
            raise typer.BadParameter("Deleting asks first, and nobody can answer here. Give --yes.")
        typer.confirm(f"Delete model {model}?", abort=True)
    session.client().request("DELETE", f"{_path(name)}/{version}")
    if session.current().json:
        print_json({"deleted": f"{name}:{version}"})
    else:
        say(f"Deleted model {name}:{version}")
        next_step("rookery models list")


def _path(name: str) -> str:
    return "/models/" + quote_path(name).replace("/", "%2F")


def _get(client: Any, model: str) -> dict[str, Any]:
    name, version = parse_model(model)
    found: dict[str, Any] = client.request("GET", _path(name), query={"version": version})
    return found


def _bytes(model: dict[str, Any]) -> int:
    return sum(f["size"] for f in model["files"])


def _framework(model: dict[str, Any]) -> str:
    return " ".join(str(w) for w in (model["framework"], model["framework_version"]) if w)


def _pairs(values: Optional[dict[str, Any]]) -> str:
    return ", ".join(f"{k}={v}" if v else k for k, v in (values or {}).items())


def _print(model: dict[str, Any], then: str) -> None:
    if session.current().json:
        print_json(model)
        return
    say(paint(model["id"], "bold"))
    field("about", model["description"])
    field("created", f"{local_time(model['created_utc'])} by {model['created_by'] or 'unknown'}")
    field("framework", _framework(model))
    field("run", f"{model['run_id']} of experiment {model['experiment']}" if model["run_id"] else "")
    field("snapshot", model["snapshot_id"])
    field("tags", _pairs(model["tags"]))
    field("properties", _pairs(model["properties"]))
    for file in model["files"][:20]:
        field("file", f"{file['path']}  {size(file['size'])}")
    if len(model["files"]) > 20:
        field("", f"… {len(model['files']) - 20} more files")
    next_step(then)
