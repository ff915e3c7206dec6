"""The small tables that notebooks show for SDK objects."""

from __future__ import annotations

import html
from typing import Any

__all__ = ["DOCS_URL", "Markup", "link", "table"]

# The documentation is part of the package's repository; it has no address of its own yet.
DOCS_URL = "docs/README.md"
_CELL = "border:1px solid #999;padding:0.2em 0.6em;text-align:left"


class Markup(str):
    """Text that is HTML already; everything else is escaped."""


def link(url: str, text: str) -> Markup:
    if not url.startswith(("http://", "https://")):
        return Markup(html.escape(text))
    return Markup(f'<a href="{html.escape(url, quote=True)}" target="_blank" rel="noopener">{html.escape(text)}</a>')


def table(row: dict[str, Any]) -> str:
    """One row under its headings."""
    heads = "".join(f'<th style="{_CELL}">{html.escape(name)}</th>' for name in row)
    cells = "".join(f'<td style="{_CELL}">{_cell(value)}</td>' for value in row.values())
    rows = f"<thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody>"
    return f'<table style="border-collapse:collapse">{rows}</table>'


def _cell(value: Any) -> str:
    return value if isinstance(value, Markup) else html.escape("" if value is None else str(value))
