"""`rookery module …`: the designer's modules, for pictures and for tables, one at a time."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, note, print_json, say

__all__ = ["app"]

app = typer.Typer(help="The designer's modules: list, show, run.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The module's name or title.")]
SCRIPT = "import sys\n\nfrom rookery_vision.__main__ import main\n\nsys.exit(main())\n"


@app.command("list")
def list_modules(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists modules."""
    from rookery_vision.catalog import modules

    cards = modules()
    own = _own_modules()
    if session.current().json:
        print_json({"modules": [*(card.describe() for card in cards), *own]})
        return
    columns = (Column("NAME"), Column("CATEGORY", rank=2), Column("WHAT IT DOES", rank=1, shrinks=True))
    rows = [
        *((card.name, card.category, card.help) for card in cards),
        *((card["name"], card["category"], card["help"]) for card in own),
    ]
    print_table(columns, rows)
    next_step(f"rookery module show {cards[0].name}")


@app.command("show")
def show_module(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows a module's ports and parameters."""
    from rookery_vision.declare.pages import allowed

    card = _find(name)
    if session.current().json:
        print_json(card.describe())
        return
    say(f"{card.title} ({card.category})")
    say(card.help)
    for title, ports in (("Inputs", card.inputs), ("Outputs", card.outputs)):
        if ports:
            say(f"\n{title}")
            shown = [(p.option, " or ".join(p.types) + (", optional" if p.is_optional else ""), p.help) for p in ports]
            print_table((Column("OPTION"), Column("TYPE"), Column("", rank=1, shrinks=True)), shown, indent=2)
    if card.parameters:
        say("\nParameters")
        rows = [
            (p.option, p.label, allowed(p), "" if p.is_required else str(p.default), p.help) for p in card.parameters
        ]
        columns = (Column("OPTION"), Column("LABEL", rank=2), Column("ALLOWED"), Column("DEFAULT"))
        print_table((*columns, Column("", rank=1, shrinks=True)), rows, indent=2)
    next_step(f"rookery module run {card.name} --help")


@app.command("run", context_settings={"allow_interspersed_args": False})
def run_module(
    name: Name,
    arguments: Annotated[
        Optional[list[str]], typer.Argument(metavar="[ARGS]...", help="Its ports and parameters; --help lists them.")
    ] = None,
    compute: Annotated[Optional[str], typer.Option("--compute", help="Run it as a run, there.")] = None,
    nodes: Annotated[int, typer.Option("--nodes", help="Nodes of that run.", min=1)] = 1,
    processes: Annotated[int, typer.Option("--processes-per-node", help="Processes on each node.", min=1)] = 1,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Runs a module here, or as a run on a compute target."""
    card, words = _find(name), list(arguments or [])
    from rookery_vision.declare.invoke import parse, run

    try:
        given, _ = parse(card, words)
        if compute is None and not session.current().json:
            return run(card, words)
        if compute is None:
            with contextlib.redirect_stdout(sys.stderr):
                code = run(card, words)
            print_json({"exit_code": code, "outputs": {p.name: given.get(p.name) for p in card.outputs}})
            return code
    except SystemExit as asked:  # argparse has said what there was to say
        return asked.code if isinstance(asked.code, int) else 2
    return _submit(card, words, compute, nodes, processes)


@app.command("add")
def add_module(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A folder with module.yaml and a script, or FILE.py[:FUNCTION] with a function that is declared as a module.",
        ),
    ],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Adds a module of your own to the palette; the same name again makes its next version."""
    from rookery.cli.module_files import read_module
    from rookery.sdk.snapshots import snapshot_folder

    found = read_module(path)
    client = session.client()
    body = {"card": found.card, "function": found.function, "snapshot_id": snapshot_folder(client, found.folder).id}
    card = client.request("POST", "/modules", body=body)
    if session.current().json:
        print_json(card)
        return
    say(f"{card['name']} (version {card['version']}) is in the palette, below {card['category']}.")
    next_step("rookery studio")


@app.command("remove")
def remove_module(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Takes a module of your own out of the palette."""
    from rookery.worker.http import quote_path

    session.client().request("DELETE", f"/modules/{quote_path(name)}")
    if session.current().json:
        print_json({"removed": name})
        return
    say(f"{name} is gone from the palette. Runs that used it stay.")


def _own_modules() -> list[dict[str, Any]]:
    """Those that were added to the workspace, where a keeper runs that could tell."""
    from rookery.errors import RookeryError

    try:
        client = session.running_client(session.current().workspace)
        if client is None:
            return []
        with client:
            cards = client.request("GET", "/modules")["modules"]
    except RookeryError:  # the room's own modules are listed whatever is wrong with a workspace
        return []
    return [card for card in cards if card["source"] == "custom"]


def _find(name: str) -> Any:
    from rookery_vision.catalog import find

    try:
        return find(name)
    except LookupError as error:
        raise typer.BadParameter(str(error.args[0])) from None


def _submit(card: Any, words: list[str], compute: str, nodes: int, processes: int) -> int:
    """As a run with this Python; the folders are those of this machine, or of one that shares them."""
    from rookery.sdk import Environment, Experiment, PyTorchConfiguration, ScriptRunConfig
    from rookery_vision.declare.invoke import parse

    given, _ = parse(card, words)
    ports = {port.name for port in (*card.inputs, *card.outputs)}
    whole = {n: os.path.abspath(value) if n in ports else value for n, value in given.items()}
    environment = Environment("this-python")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    folder = tempfile.mkdtemp(prefix="rookery-module-")
    try:
        with open(os.path.join(folder, "run_module.py"), "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        config = ScriptRunConfig(
            source_directory=folder,
            script="run_module.py",
            arguments=card.command(whole, {}, {}),
            compute_target=compute,
            environment=environment,
            distributed_job_config=PyTorchConfiguration("Gloo", nodes * processes, nodes)
            if nodes * processes > 1
            else None,
        )
        run = Experiment(session.sdk_workspace(), card.name).submit(config)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if session.current().json:
        print_json({"run": run.id})
        return 0
    note(f"Submitted {shlex.join([card.name, *words])}")
    say(run.id)
    next_step(f"rookery logs -f {run.id}")
    return 0
