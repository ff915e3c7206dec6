"""`rookery data …`: data sets, from files here to versions, and back."""

from __future__ import annotations

import os
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_dataset, complete_datastore
from rookery.cli.fields import field
from rookery.cli.pairs import parse_model, parse_pairs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, paint, print_json, say
from rookery.cli.words import age, local_time, size
from rookery.errors import UserError
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(help="Data sets: add, list, show, download.", no_args_is_help=True, rich_markup_mode=None)
DataSet = Annotated[
    str,
    typer.Argument(
        metavar="NAME[:VERSION]", help="A data set; without a version the latest.", autocompletion=complete_dataset
    ),
]
SHOWN = 20


@app.command("add")
def add_data(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called; adding it again makes a version.")],
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="A folder or file here, a URL, or with --datastore a path or glob on it."),
    ],
    datastore: Annotated[
        Optional[str],
        typer.Option(
            "--datastore",
            metavar="NAME",
            help="PATH lies on this datastore already.",
            autocompletion=complete_datastore,
        ),
    ] = None,
    to: Annotated[
        Optional[str],
        typer.Option("--to", metavar="NAME", help="The datastore to send files to.", autocompletion=complete_datastore),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Do not copy: the files stay where they are, and must stay there.")
    ] = False,
    table: Annotated[
        Optional[str],
        typer.Option("--table", metavar="FORMAT", help="It is a table: csv, tsv, parquet or jsonl."),
    ] = None,
    tag: Annotated[
        Optional[list[str]], typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeat for several.")
    ] = None,
    description: Annotated[Optional[str], typer.Option("--description", metavar="TEXT", help="What it is.")] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Adds a data set, or a version of one."""
    from rookery.sdk.dataset import Dataset

    tags = parse_pairs("--tag", tag)
    ws = session.sdk_workspace()
    place = _place(ws, name, path, datastore, to, in_place)
    made = _make(Dataset, place, table)
    if made._workspace_object is None:
        made._workspace_object = ws
    registered = made.register(ws, name, description, tags, create_new_version=True)
    _print(session.client(), registered._data)


@app.command("list")
def list_data(
    tag: Annotated[
        Optional[list[str]],
        typer.Option("--tag", metavar="KEY[=VALUE]", help="Only data sets with this tag; repeat for several."),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists data sets: the latest version of each."""
    found = session.client().request("GET", "/datasets", query={"tag": tag})["datasets"]
    if session.current().json:
        print_json({"datasets": found})
        return
    if not found:
        say("No data sets." if tag else "No data sets yet.")
        next_step("rookery data add NAME PATH")
        return
    columns = (
        Column("DATA SET"),
        Column("KIND", rank=3),
        Column("FILES", rank=2, right=True),
        Column("SIZE", rank=1, right=True),
        Column("CREATED", rank=1),
        Column("RUNS", rank=4, right=True),
        Column("TAGS", rank=5, shrinks=True),
    )
    rows = [
        (
            f"{d['name']}:{d['version']}",
            d["kind"],
            str(d["files"]),
            size(d["bytes"]),
            age(d["created_utc"]),
            str(d["used_by_runs"]),
            _pairs(d["tags"]),
        )
        for d in found
    ]
    print_table(columns, rows)
    next_step(f"rookery data show {clean(found[0]['name'])}")


@app.command("show")
def show_data(data: DataSet, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one version: its files, where they lie, which runs used it."""
    client = session.client()
    _print(client, _get(client, data))


@app.command("download")
def download_data(
    data: DataSet,
    to: Annotated[
        Optional[str], typer.Option("--to", metavar="DIR", help="Where to. Default: a folder NAME-VERSION here.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Downloads the files of a data set."""
    from rookery.sdk.data_delivery import fetch_tree, resolve

    client = session.client()
    found = _get(client, data)
    folder = os.path.abspath(os.path.expanduser(to or f"{found['name']}-{found['version']}"))
    manifest = resolve(client, found["id"])
    written = fetch_tree(client, manifest, folder, overwrite)
    changed = bool(found["fingerprint"]) and manifest.fingerprint != found["fingerprint"]
    if session.current().json:
        answer = {"dataset": found["name"], "version": found["version"], "folder": folder, "files": len(written)}
        print_json({**answer, "bytes": manifest.bytes, "fingerprint": manifest.fingerprint, "changed": changed})
        return
    say(f"{len(written)} file{'s' if len(written) != 1 else ''}, {size(manifest.bytes)}, in {clean(folder)}")
    if changed:
        say("The files have changed since this version was registered.")
    next_step(f"rookery data show {clean(found['name'])}:{found['version']}")


@app.command("delete")
def delete_data(
    data: DataSet,
    is_sure: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Forgets a data set, or one version of it. Its files stay."""
    name, version = parse_model(data)
    if not is_sure:
        if session.current().json:
            raise typer.BadParameter("Deleting asks first, and nobody can answer here. Give --yes.")
        typer.confirm(f"Forget data set {data}?", abort=True)
    session.client().request("DELETE", _route(name), query={"version": version})
    if session.current().json:
        print_json({"deleted": data})
    else:
        say(f"Forgot data set {clean(data)}; its files stay.")
        next_step("rookery data list")


def _place(ws: Any, name: str, path: str, datastore: Optional[str], to: Optional[str], in_place: bool) -> Any:
    """What `from_files` takes; files of this machine are sent first, unless they stay in place."""
    import secrets
    import time

    from rookery.sdk.datastore import Datastore

    if datastore:
        return (Datastore.get(ws, datastore), path)
    if "://" in path:
        return path
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(full):
        raise UserError(f"There is no file or folder {path!r}. On a datastore: --datastore NAME.")
    if in_place:
        return full
    store = Datastore.get(ws, to) if to else Datastore.get_default(ws)
    target = f"uploads/{name}/{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
    if os.path.isdir(full):
        store.upload(full, target, show_progress=False)
        return (store, target)
    store.upload_files([full], None, target, show_progress=False)
    return (store, f"{target}/{os.path.basename(full)}")


def _make(dataset: Any, place: Any, table: Optional[str]) -> Any:
    if table is None:
        return dataset.File.from_files(place, validate=False)
    if table in ("csv", "tsv"):
        return dataset.Tabular.from_delimited_files(place, False, separator="," if table == "csv" else "\t")
    if table == "parquet":
        return dataset.Tabular.from_parquet_files(place, False)
    if table == "jsonl":
        return dataset.Tabular.from_json_lines_files(place, False)
    raise typer.BadParameter(
        f"{table!r} is no format of tables. Known: csv, tsv, parquet, jsonl.", param_hint="--table"
    )


def _get(client: Any, data: str) -> dict[str, Any]:
    name, version = parse_model(data)
    found: dict[str, Any] = client.request("GET", _route(name), query={"version": version})
    return found


def _route(name: str) -> str:
    return "/datasets/" + quote_path(name).replace("/", "%2F")


def _pairs(values: Optional[dict[str, Any]]) -> str:
    return ", ".join(f"{k}={v}" if v else k for k, v in (values or {}).items())


def _print(client: Any, data: dict[str, Any]) -> None:
    route = f"{_route(data['name'])}/{data['version']}"
    runs = client.request("GET", route + "/runs")["runs"]
    if session.current().json:
        print_json({**data, "runs": runs})
        return
    say(paint(f"{clean(data['name'])}:{data['version']}", "bold"))
    field("about", data["description"])
    field("kind", data["kind"])
    field("created", f"{local_time(data['created_utc'])} by {data['created_by'] or 'unknown'}")
    field("files", f"{data['files']}, {size(data['bytes'])}")
    field("fingerprint", data["fingerprint"][:16])
    for source in data["definition"]["sources"][:5]:
        field("source", source.get("url") or f"{source['datastore']}: {source['path'] or '/'}")
    field("made by", f"{data['run_id']}, output {data['output']}" if data["run_id"] else "")
    field("tags", _pairs(data["tags"]))
    if data["manifest_id"]:
        folder = client.request("GET", route + "/folder", query={"limit": SHOWN})
        for entry in folder["entries"]:
            what = f"{entry['path']}/  {entry['files']} files" if entry["is_folder"] else entry["path"]
            field("holds", f"{what}  {size(entry['bytes'])}")
        if folder["total"] > SHOWN:
            field("", f"… {folder['total'] - SHOWN} more")
    for run in runs[:10]:
        verb = "used by" if run["direction"] == "in" else "made by"
        field(verb, f"{run['run_id']} ({run['status']}) as {run['name']}")
    next_step(f"rookery data download {clean(data['name'])}:{data['version']}")
