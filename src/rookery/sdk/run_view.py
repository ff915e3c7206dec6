"""How a run shows itself in a terminal and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from rookery.sdk.details import explain_error
from rookery.sdk.html import block, link, page_link, table

if TYPE_CHECKING:
    from rookery.sdk.run import Run

__all__ = ["run_as_html", "run_as_text"]

MAX_LINES = 60


def run_as_text(run: Run) -> str:
    return f"Run(Experiment: {run.experiment.name},\nId: {run.id},\nType: {run.type},\nStatus: {run.status})"


def run_as_html(run: Run) -> str:
    """A table, and below it why the run failed or what it waits for."""
    shown = table(
        {
            "Experiment": run.experiment.name,
            "Id": run.id,
            "Type": run.type,
            "Status": run.status,
            "Details Page": page_link(run, "Link to the run"),
            "Docs Page": link(run.get_docs_url(), "Link to Documentation"),
        }
    )
    data = run._data or {}
    if data.get("error"):
        return shown + block("\n".join(explain_error(data["error"]).splitlines()[:MAX_LINES]))
    return shown + (f"<p>{html.escape(data['reason'])}</p>" if data.get("reason") else "")
