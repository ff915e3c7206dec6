"""`rookery webhook …`: addresses that are told when something happens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.words import age
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(help="Webhooks: add, list, remove, ping, deliveries.", no_args_is_help=True, rich_markup_mode=None)
Id = Annotated[str, typer.Argument(metavar="ID", help="The webhook's id, from `rookery webhook list`.")]
DEFAULT = "run.completed,run.failed,run.canceled"


@app.command("add")
def add_webhook(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to send to: http:// or https://.")],
    events: Annotated[
        str, typer.Option("--events", metavar="A,B", help="Of which events; run.… by status, model.registered.")
    ] = DEFAULT,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Adds a webhook and prints the secret that its deliveries are signed with, this once."""
    wanted = [part.strip() for part in events.split(",") if part.strip()]
    made = session.client().request("POST", "/webhooks", body={"url": url, "events": wanted})
    if session.current().json:
        print_json(made)
        return
    note(f"Webhook {made['id']}. Its secret, which X-Rookery-Signature is made with, is shown this once:")
    say(made["secret"])
    next_step(f"rookery webhook ping {made['id']}")


@app.command("list")
def list_webhooks(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists webhooks."""
    found = session.client().request("GET", "/webhooks")["webhooks"]
    if session.current().json:
        print_json({"webhooks": found})
        return
    if not found:
        say("No webhooks.")
        next_step("rookery webhook add URL")
        return
    columns = (
        Column("ID"), Column("URL", shrinks=True), Column("EVENTS", rank=1, shrinks=True), Column("DELIVERED", right=True),
        Column("WAITING", right=True), Column("FAILED", right=True),
    )  # fmt: skip
    rows = [(w["id"], w["url"], ",".join(w["events"]), *_numbers(w["deliveries"])) for w in found]
    print_table(columns, rows)
    next_step(f"rookery webhook deliveries {found[0]['id']}")


@app.command("remove")
def remove_webhook(webhook: Id, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Removes a webhook, with what it has not been told yet."""
    session.client().request("DELETE", _path(webhook))
    if session.current().json:
        print_json({"removed": webhook})
    else:
        say(f"Removed {webhook}")
        next_step("rookery webhook list")


@app.command("ping")
def ping_webhook(webhook: Id, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Sends an event that tells of nothing, to try the way."""
    made = session.client().request("POST", _path(webhook) + "/ping")
    if session.current().json:
        print_json(made)
    else:
        say(f"Delivery {made['id']} is on its way")
        next_step(f"rookery webhook deliveries {webhook}")


@app.command("deliveries")
def list_deliveries(
    webhook: Id,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, metavar="N", help="How many.")] = 20,
    again: Annotated[int, typer.Option("--again", metavar="DELIVERY", help="First send this one again.")] = 0,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows what was sent, newest first, and what became of it."""
    client = session.client()
    if again:
        client.request("POST", f"{_path(webhook)}/deliveries/{again}/again")
    found = client.request("GET", _path(webhook) + "/deliveries", query={"limit": limit})["deliveries"]
    if session.current().json:
        print_json({"deliveries": found})
        return
    columns = (
        Column("ID", right=True), Column("EVENT"), Column("STATE"), Column("TRIES", right=True), Column("ANSWER", rank=1),
        Column("WHEN", rank=2), Column("ERROR", rank=3, shrinks=True),
    )  # fmt: skip
    print_table(columns, [_row(one) for one in found])


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    when = age(one["ended_utc"] or one["created_utc"])
    return one["id"], one["event"], one["state"], one["tries"], one["answer"] or "", when, one["error"]


def _numbers(counts: dict[str, int]) -> tuple[int, int, int]:
    return counts["delivered"], counts["waiting"], counts["failed"]


def _path(webhook: str) -> str:
    return "/webhooks/" + quote_path(webhook).replace("/", "%2F")
