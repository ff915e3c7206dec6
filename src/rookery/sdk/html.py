"""The small tables that notebooks show for SDK objects."""

from __future__ import annotations

import html
from typing import Any

from rookery.errors import RookeryError

__all__ = ["DOCS_URL", "Markup", "block", "link", "page_link", "table", "table_of"]

# The documentation is part of the package's repository; it has no address of its own yet.
DOCS_URL = "docs/README.md"
_CELL = "border:1px solid #999;padding:0.2em 0.6em;text-align:left"


class Markup(str):
    """Text that is HTML already; everything else is escaped."""


def link(url: str, text: str) -> Markup:
    if not url.startswith(("http://", "https://")):
        return Markup(html.escape(text))
    return Markup(f'<a href="{html.escape(url, quote=True)}" target="_blank" rel="noopener">{html.escape(text)}</a>')


def page_link(thing: Any, text: str) -> Markup:
    """To the thing's own page; the bare text where the keeper cannot be asked for its address: what shows itself must not fail."""
    try:
        return link(thing.get_portal_url(), text)
    except RookeryError:
        return Markup(html.escape(text))


def table(row: dict[str, Any]) -> str:
    """One row under its headings."""
    return table_of([row])


def table_of(rows: list[dict[str, Any]]) -> str:
    """Rows under the headings of the first."""
    heads = "".join(f'<th style="{_CELL}">{html.escape(name)}</th>' for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_cell(value)}</td>' for value in row.values()) + "</tr>" for row in rows
    )
    parts = f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="border-collapse:collapse">{parts}</table>'


def block(text: str) -> str:
    """Lines as they are, such as the cause of a failure."""
    return (
        f'<pre style="border-left:3px solid #b91c1c;padding-left:0.6em;white-space:pre-wrap">{html.escape(text)}</pre>'
    )


def _cell(value: Any) -> str:
    return value if isinstance(value, Markup) else html.escape("" if value is None else str(value))
