"""From what a person types to one run: an id, the beginning of one, a display name, or @last."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from rookery.cli.terminal import clean
from rookery.errors import RunNotFoundError, UserError

__all__ = ["LAST", "all_runs", "find_run"]

LAST = "@last"
PAGE = 500
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}\Z")


def find_run(client: Any, name: str) -> dict[str, Any]:
    """The run that `name` means.

    Raises:
        RunNotFoundError: none; the message names near ones.
        UserError: several; the message names them.
    """
    if name == LAST:
        return _last(client)
    if _RUN_ID.match(name):
        try:
            return dict(client.request("GET", f"/runs/{name}"))
        except RunNotFoundError:
            pass
    runs = list(all_runs(client, {"include_children": "true"}))
    for meant in (
        [r for r in runs if name and r["id"].startswith(name)],
        [r for r in runs if name and r["display_name"] == name],
    ):
        if len(meant) == 1:
            return dict(client.request("GET", f"/runs/{meant[0]['id']}"))
        if meant:
            raise UserError(f"{name!r} means {len(meant)} runs. Give more of the id of one of them:\n{_lines(meant)}")
    raise RunNotFoundError(_not_found(name, runs), details={"run": name})


def all_runs(client: Any, query: dict[str, Any], most: int = 0) -> Iterator[dict[str, Any]]:
    """Runs page by page, newest first; `most` 0 is all of them."""
    cursor, given = None, 0
    while True:
        limit = min(PAGE, most - given) if most else PAGE
        answer = client.request("GET", "/runs", query={**query, "limit": limit, "cursor": cursor})
        for run in answer["runs"]:
            yield run
            given += 1
        cursor = answer.get("cursor")
        if not cursor or (most and given >= most):
            return


def _last(client: Any) -> dict[str, Any]:
    runs = client.request("GET", "/runs", query={"limit": 1})["runs"]
    if not runs:
        raise RunNotFoundError("There is no run yet, so @last means none. Start one with `rookery run SCRIPT`.")
    return dict(client.request("GET", f"/runs/{runs[0]['id']}"))


def _not_found(name: str, runs: list[dict[str, Any]]) -> str:
    text = f"There is no run {name!r}."
    if not runs:
        return text + " There is no run at all yet: start one with `rookery run SCRIPT`."
    names = {r["id"]: r for r in reversed(runs)} | {r["display_name"]: r for r in reversed(runs) if r["display_name"]}
    near = [names[n] for n in difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)]
    if near:
        return f"{text} Did you mean:\n{_lines(near)}"
    return f"{text} The newest are:\n{_lines(runs[:3])}\n`rookery ps --all` lists them all."


def _lines(runs: list[dict[str, Any]]) -> str:
    shown = [f"  {r['id']}  {r['status']}  {clean(r['display_name'])}".rstrip() for r in runs[:10]]
    return "\n".join(shown + (["  …"] if len(runs) > 10 else []))
