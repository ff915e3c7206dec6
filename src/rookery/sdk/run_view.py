"""How a run shows itself in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rookery.sdk.html import link, table

if TYPE_CHECKING:
    from rookery.sdk.run import Run

__all__ = ["run_as_html", "run_as_text"]


def run_as_text(run: Run) -> str:
    return f"Run(Experiment: {run.experiment.name},\nId: {run.id},\nType: {run.type},\nStatus: {run.status})"


def run_as_html(run: Run) -> str:
    return table(
        {
            "Experiment": run.experiment.name,
            "Id": run.id,
            "Type": run.type,
            "Status": run.status,
            "Details Page": link(run.get_portal_url(), "Link to the run"),
            "Docs Page": link(run.get_docs_url(), "Link to Documentation"),
        }
    )
