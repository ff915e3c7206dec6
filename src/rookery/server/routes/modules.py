"""The palette: cards of all modules, and those of one's own."""

from __future__ import annotations

import io
from typing import Any

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.pipeline.catalog import Catalog, built_in_cards, card_from_plain, named
from rookery.server.answers import JsonAnswer
from rookery.server.auth import Asking
from rookery.server.schemas_pipeline import ModuleChange, ModuleName, ModuleNew
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["pipelines"])
MAIN = "rookery_module_main.py"
MAX_NAME = 100
_MAIN = """import sys

from rookery_vision.declare.invoke import run

from {module} import {function}

sys.exit(run({function}, sys.argv[1:]))
"""


@router.get("/modules")
def list_modules(services: Served, versions: bool = False) -> JsonAnswer:
    """A card for each module, of the version that a pipeline gets which names none; with `versions` the others in `others`."""
    cards = Catalog(services.record).cards()
    shown = named(cards)
    others = [
        c for key, c in cards.items() if key not in shown and c.name in shown and shown[c.name].version != c.version
    ]
    modules = [card.plain for card in shown.values()]
    return strict_answer({"modules": modules, "others": [card.plain for card in others] if versions else []})


@router.post("/modules", status_code=201)
def add_module(new: ModuleNew, services: Served, asking: Asking) -> JsonAnswer:
    """A card and the snapshot of its folder; the same again is the same version. Without `make_default: false` it is the one that
    pipelines get which name none."""
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
    kept = record.custom_modules.put(card.name, given, snapshot_id, str(asking), new.version, new.make_default)
    return strict_answer(card_from_plain(kept["card"], kept["version"], kept["snapshot_id"]).plain, 201)


@router.put("/modules/{name}")
def create_module(name: str, new: ModuleName, services: Served, asking: Asking) -> JsonAnswer:
    """A name that has no version yet; harmless where there is one."""
    if not name.isidentifier() or len(name) > MAX_NAME:
        raise UserError(f"A module cannot be called {name!r:.80}. It has letters, digits and '_', no digit first.")
    services.record.custom_modules.create(name, new.description, str(asking))
    return _shown(services, name)


@router.get("/modules/{name}/versions")
def list_versions(name: str, services: Served) -> JsonAnswer:
    """All versions, oldest first; of a built-in module the one that there is."""
    return _shown(services, name)


@router.patch("/modules/{name}")
def change_module(name: str, change: ModuleChange, services: Served, asking: Asking) -> JsonAnswer:
    """Of the module, or with `version` of that version: `default_version`, `status`, `description`."""
    services.record.custom_modules.change(name, by=str(asking), **change.model_dump())
    return _shown(services, name)


@router.delete("/modules/{name}")
def delete_module(name: str, services: Served) -> JsonAnswer:
    services.record.custom_modules.delete(name)
    return strict_answer({})


def _shown(services: Any, name: str) -> JsonAnswer:
    record = services.record
    card = built_in_cards().get(name)
    if card is not None and record.custom_modules.find(name) is None:
        one = {"version": card.version, "status": "Active", "description": card.plain["help"], "card": card.plain}
        one.update(created_utc=None, created_by="")
        about = {"status": "Active", "description": card.plain["help"], "default_version": card.version}
        return strict_answer({"name": name, **about, "current": card.version, "versions": [one]})
    known = record.custom_modules.versions(name)
    for each in known["versions"]:
        each["card"] = card_from_plain(each["card"], each["version"]).plain
        del each["number"], each["snapshot_id"]
    return strict_answer(known)
