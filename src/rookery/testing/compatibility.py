"""The import map of docs/compatibility.md, made from what is there: `python -m rookery.testing.compatibility` writes it.

A name is `done` where it is a thing of ours, `differs` where its module says so in its first lines (`Differs: …`), `absent` where it
is a placeholder. The sheet of the original's names (facts/azureml-v1.md, not part of the project) is read by a test.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re

from rookery.azureml.surface import SURFACE
from rookery.worker.placeholder import is_placeholder

__all__ = ["PAGE", "import_map", "read_sheet", "write_page"]

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "compatibility.md")
START, END = "<!-- import map: made by `make compatibility` -->", "<!-- end of the import map -->"
_DIFFERS = re.compile(r"Differs: (.*?)(?:\n\n|\Z)", re.S)
_PATH = re.compile(r"(azureml(?:\.\w+)+)(?:\.\{([^}]*)\})?")


def import_map() -> str:
    """The section: how many, then a row a module."""
    rows, counts = [], {"done": 0, "differs": 0, "absent": 0}
    for module in sorted(SURFACE):
        found = importlib.import_module("rookery." + module)
        absent = [name for name in SURFACE[module] if is_placeholder(getattr(found, name))]
        there = [name for name in SURFACE[module] if name not in absent]
        words = _differs(found)
        counts["absent"] += len(absent)
        counts["differs" if words else "done"] += len(there)
        if SURFACE[module]:
            state = "absent" if not there else "differs" if words else "done" if not absent else "in part"
            cells = (f"`{module}`", state, _names(there), _names(absent), words)
            rows.append("| " + " | ".join(cells) + " |")
    total = sum(counts.values())
    head = (
        f"{total} names in {len(rows)} modules: {counts['done']} done, {counts['differs']} there in modules that say what differs, "
        f"{counts['absent']} absent (placeholders)."
    )
    table = ["| module | state | there | absent | differs |", "|---|---|---|---|---|", *rows]
    return "\n".join([START, head, "", *table, END])


def read_sheet(text: str) -> dict[str, set[str]]:
    """Module → names, from parts 1 (the import map) and 3 (signatures) of the sheet."""
    found: dict[str, set[str]] = {}
    first = text[text.index("\n## 1.") : text.index("\n## 2.")]
    third = text[text.index("\n## 3.") :]
    for row in first.splitlines():
        cell = row.split("|")[1] if row.startswith("| `") else ""
        for module, names in _rows(cell):
            found.setdefault(module, set()).update(names)
    for match in re.finditer(r"(?m)^`(azureml[\w.]*)[^`]*`\n```text\n(.*?)^```", third, re.S):
        names = re.findall(r"(?m)^(?:class |def )?([A-Za-z]\w*)(?=\(| = )", match.group(2))
        found.setdefault(match.group(1), set()).update(names)
    return found


def write_page() -> None:
    """Put the section, as it is now, between its two lines."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, after = page[: page.index(START)], page[page.index(END) + len(END) :]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + import_map() + after)


def _rows(cell: str) -> list[tuple[str, list[str]]]:
    rows = []
    arrow = re.search(r"`(azureml[\w.]*)` → `([^`]*)`", cell)
    if arrow:
        rows.append((arrow.group(1), _split(arrow.group(2))))
        cell = cell.replace(arrow.group(0), "")
    for path, several in _PATH.findall(cell):
        module, _, name = path.rpartition(".")
        rows.append((path, _split(several)) if several else (module, [name]))
    return rows


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip() and "…" not in name]


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if len(names) <= 12 else f"{len(names)} names"


def _differs(module: object) -> str:
    match = _DIFFERS.search(inspect.cleandoc(getattr(module, "__doc__", "") or "") + "\n\n")
    return " ".join(match.group(1).split()).replace("|", "\\|") if match else ""


if __name__ == "__main__":
    write_page()
