"""`rookery env …`: environments, as they are built on this machine and as they are known by name."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.ages import parse_age
from rookery.cli.complete import complete_environment, complete_environment_key
from rookery.cli.env_build import build_and_watch
from rookery.cli.environment_choice import choose_environment, parse_environment
from rookery.cli.fields import field, heading
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, is_terminal, next_step, note, paint, print_json, say
from rookery.cli.words import age, duration, local_time, size
from rookery.errors import NotFoundError
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Environments: list, show, build, prune.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
KEY_SHOWN = 12
_KEY = re.compile(r"[0-9a-f]{4,32}")


@app.command("list")
def list_environments(
    by_name: Annotated[
        bool, typer.Option("--registered", help="Those known by name instead: the workspace's own and curated ones.")
    ] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists what is built on this machine, with its disk use."""
    if by_name:
        _list_by_name()
        return
    told = session.client().request("GET", "/built-environments")
    if session.current().json:
        print_json(told)
        return
    found = told["environments"]
    if not found:
        say("No environment is built on this machine yet.")
        next_step("rookery env build requirements.txt")
        return
    columns = (
        Column("KEY"),
        Column("NAME", shrinks=True),
        Column("PYTHON", rank=3),
        Column("PACKAGES", rank=4, right=True),
        Column("USED", rank=1),
        Column("OWN", right=True),
        Column("SHARED", rank=2, right=True),
        Column("IN USE BY", rank=5, shrinks=True),
    )
    print_table(columns, [_row(one) for one in found])
    kept = f", {size(told['cache_bytes'])} of it packages kept for the next" if told["cache_bytes"] else ""
    say(f"{len(found)} environment{'s' * (len(found) != 1)}, {size(told['disk_bytes'])} on disk in all{kept}")
    next_step("rookery env prune --older-than 30d --dry-run")


@app.command("show")
def show_environment(
    environment: Annotated[
        str,
        typer.Argument(
            metavar="NAME|KEY",
            help="NAME[:VERSION], or the beginning of a built one's key.",
            autocompletion=complete_environment,
        ),
    ],
    with_log: Annotated[bool, typer.Option("--log", help="The build log too.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows one environment: what it holds, what differs from what was asked, its lock."""
    client = session.client()
    if _KEY.fullmatch(environment):
        try:
            _print_built(client.request("GET", f"/built-environments/{environment}"), with_log)
            return
        except NotFoundError as error:
            missing = error
        try:
            _print_named(client, environment)
        except NotFoundError:
            raise missing from None
        return
    _print_named(client, environment)


@app.command("build")
def build_environment(
    environment: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="A conda YAML, a requirements file, a pyproject.toml, a lock file, or a name.",
            autocompletion=complete_environment,
        ),
    ],
    is_fresh: Annotated[
        bool, typer.Option("--fresh", help="Resolve it anew: newer versions where the specification allows them.")
    ] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Builds an environment now, so that no run has to wait for it. A failure is tried again at once."""
    return build_and_watch(session.client(), choose_environment(environment), is_fresh)


@app.command("prune")
def prune_environments(
    keys: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="KEY", help="Beginnings of keys; without any, all.", autocompletion=complete_environment_key
        ),
    ] = None,
    older_than: Annotated[
        Optional[str],
        typer.Option("--older-than", metavar="AGE", help="Only those last used longer ago: 12h, 30d, 2w."),
    ] = None,
    with_cache: Annotated[
        bool, typer.Option("--cache", help="Downloaded packages too; the next build fetches them again.")
    ] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and remove nothing.")] = False,
    is_sure: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Removes built environments that no run uses. Whatever needs one again builds it again."""
    client = session.client()
    body: dict[str, Any] = {"older_than_s": 0.0 if older_than is None else parse_age("--older-than", older_than)}
    if keys:
        body["keys"] = keys
    if with_cache:
        body["cache"] = True
    plan = client.request("POST", "/built-environments/prune", body={**body, "dry_run": True})
    if is_dry or not (plan["removed"] or plan["cache_bytes"]):
        _print_pruned(plan)
        return
    if not is_sure:
        if session.current().json or not (is_terminal() and is_terminal(sys.stdin)):
            raise typer.BadParameter("Pruning asks first, and nobody can answer here. Give --yes, or --dry-run.")
        _print_pruned(plan)
        typer.confirm("Remove them?", abort=True)
    _print_pruned(client.request("POST", "/built-environments/prune", body=body))


def _list_by_name() -> None:
    found = session.client().request("GET", "/environments")["environments"]
    if session.current().json:
        print_json({"environments": found})
        return
    columns = (
        Column("NAME"),
        Column("VERSION", rank=1, right=True),
        Column("KIND", rank=2),
        Column("CREATED", rank=3),
        Column("HOLDS", rank=4, shrinks=True),
    )
    rows = [
        (
            one["name"],
            one["version"],
            "curated" if one.get("curated") else "registered",
            age(one["created_utc"]),
            one.get("maps_to") or _holds(one["definition"]),
        )
        for one in found
    ]
    print_table(columns, rows)
    next_step(f"rookery run --env {found[0]['name']} SCRIPT" if found else "rookery env build FILE")


def _row(one: dict[str, Any]) -> list[Any]:
    return [
        one["key"][:KEY_SHOWN],
        one["name"],
        one["python_version"],
        one["num_packages"],
        age(one["last_used_utc"]),
        size(one["own_bytes"]),
        size(one["shared_bytes"]),
        ", ".join(one["in_use_by"]),
    ]


def _print_built(one: dict[str, Any], with_log: bool) -> None:
    if session.current().json:
        print_json(one)
        return
    say(paint(one["key"], "bold") + f"  {clean(one['name'])}")
    asked = one["python_requested"]
    field("python", one["python_version"] + (f" (asked for: {asked})" if asked else ""))
    field("packages", one["num_packages"])
    field("built", f"{local_time(one['built_utc'])} in {duration(one['build_s'])}")
    field("last used", age(one["last_used_utc"]))
    field("disk", f"{size(one['own_bytes'])} of its own, {size(one['shared_bytes'])} shared with others or the cache")
    field("in use by", ", ".join(one["in_use_by"]))
    field("platform", one["platform"])
    field("path", one["path"])
    for text in one["deviations"]:
        say(paint("warning: ", "yellow") + clean(text))
    for text in one["notes"]:
        say(paint("note: ", "dim") + clean(text))
    heading("Packages")
    for line in [*one["conda"], *_pins(one["lock"])]:
        say("  " + clean(line))
    if with_log:
        heading("Build log")
        for line in one["log"].splitlines():
            say("  " + clean(line))
    next_step(f"rookery env prune {one['key'][:KEY_SHOWN]}")


def _print_named(client: Any, text: str) -> None:
    name, version = parse_environment(text)
    query = {"version": version} if version else None
    path = "/environments/" + quote_path(name).replace("/", "%2F")
    one = client.request("GET", path, query=query)
    if session.current().json:
        print_json(one)
        return
    python = (one["definition"] or {}).get("python") or {}
    say(
        paint(f"{clean(one['name'])}:{one['version']}", "bold")
        + ("  curated" if one.get("curated") else "  registered")
    )
    field("maps to", one.get("maps_to"))
    field("created", f"{local_time(one['created_utc'])} by {one['created_by']}" if one["created_utc"] else "")
    field("labels", ", ".join(one["labels"]))
    field("interpreter", python.get("interpreterPath") if python.get("userManagedDependencies") else "")
    field("packages", _holds(one["definition"]))
    field("image", ((one["definition"] or {}).get("docker") or {}).get("baseImage"))
    next_step(f"rookery env build {one['name']}")


def _print_pruned(told: dict[str, Any]) -> None:
    if session.current().json:
        print_json(told)
        return
    verb = "Would remove" if told["dry_run"] else "Removed"
    for one in told["removed"]:
        say(
            f"{verb} {one['key'][:KEY_SHOWN]}  {clean(one['name'])}, last used {age(one['last_used_utc'])}, {size(one['own_bytes'])}"
        )
    for one in told["kept"]:
        note(f"kept {one['key'][:KEY_SHOWN]}  {clean(one['name'])}: {clean(one['reason'])}")
    if told["cache_bytes"]:
        say(f"{verb} downloaded packages, {size(told['cache_bytes'])}")
    if not told["removed"] and not told["cache_bytes"]:
        say("There is nothing to remove.")
    else:
        say(f"{size(told['freed_bytes'])} {'would be' if told['dry_run'] else 'are'} freed")
    next_step("rookery env list")


def _holds(definition: Optional[dict[str, Any]]) -> str:
    """The packages that an environment asks for, in one line."""
    python = (definition or {}).get("python") or {}
    if python.get("userManagedDependencies"):
        return f"what {python.get('interpreterPath') or 'python'} has"
    listed = (python.get("condaDependencies") or {}).get("dependencies") or []
    texts = [t for one in listed for t in (one.get("pip") or [] if isinstance(one, dict) else [one])]
    return ", ".join(str(t) for t in texts)


def _pins(lock: str) -> list[str]:
    return [line.split(" ")[0].rstrip("\\") for line in lock.splitlines() if line and line[0] not in " #-"]
