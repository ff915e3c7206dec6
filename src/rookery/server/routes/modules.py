"""The palette: cards of all modules, and those of one's own."""

from __future__ import annotations

import io

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.pipeline.catalog import Catalog, card_from_plain
from rookery.server.answers import JsonAnswer
from rookery.server.auth import Asking
from rookery.server.schemas_pipeline import ModuleNew
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["pipelines"])
MAIN = "rookery_module_main.py"
_MAIN = """import sys

from rookery_vision.declare.invoke import run

from {module} import {function}

sys.exit(run({function}, sys.argv[1:]))
"""


@router.get("/modules")
def list_modules(services: Served) -> JsonAnswer:
    return strict_answer({"modules": [card.plain for card in Catalog(services.record).cards().values()]})


@router.post("/modules", status_code=201)
def add_module(new: ModuleNew, services: Served, asking: Asking) -> JsonAnswer:
    """A card and the snapshot of its folder; the same again is the same version."""
    record = services.record
    entries = record.snapshots.entries(new.snapshot_id)
    paths = {entry["path"] for entry in entries}
    given, snapshot_id = dict(new.card), new.snapshot_id
    if new.function is not None:
        file, _, function = new.function.partition(":")
        if file not in paths or not file.endswith(".py") or not function.isidentifier():
            raise UserError(
                f"function={new.function!r:.80}. Give FILE.py:NAME, a file of the snapshot and a function in it."
            )
        text = _MAIN.format(module=file[:-3].replace("/", "."), function=function)
        sha, size = record.content.put(io.BytesIO(text.encode()))
        entries = [entry for entry in entries if entry["path"] != MAIN]
        entries.append({"path": MAIN, "sha256": sha, "size": size, "mode": 0o644, "link": None})
        snapshot_id, given["script"] = record.snapshots.create(entries)["id"], MAIN
        paths.add(MAIN)
    card = card_from_plain(given)
    if card.script not in paths:
        raise UserError(f"The card of '{card.name}' names the script '{card.script}', which is not in its folder.")
    kept = record.custom_modules.put(card.name, given, snapshot_id, str(asking))
    return strict_answer(card_from_plain(kept["card"], kept["version"], kept["snapshot_id"]).plain, 201)


@router.delete("/modules/{name}")
def delete_module(name: str, services: Served) -> JsonAnswer:
    services.record.custom_modules.delete(name)
    return strict_answer({})
