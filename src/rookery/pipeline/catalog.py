"""The cards of all modules: those of the vision room, and those that people have added to the workspace."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import importlib
import os
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import UserError
from rookery.pipeline.arguments import check_arguments, written_arguments
from rookery.record import Record

__all__ = ["Card", "Catalog", "card_from_plain", "card_of", "named", "unknown_module"]

BUILT_IN, CUSTOM = "built-in", "custom"
KINDS = ("Integer", "Float", "Boolean", "Mode", "String")


@dataclass(frozen=True)
class Card:
    """A module as a pipeline sees it. `code` stands for what it does: the package of a built-in one, else its snapshot."""

    name: str
    title: str
    inputs: tuple[dict[str, Any], ...]
    outputs: tuple[dict[str, Any], ...]
    parameters: dict[str, Any]  # name → rookery_vision.declare.Parameter
    distributed: bool
    source: str
    version: str
    code: str
    plain: dict[str, Any]  # what GET /modules shows
    snapshot_id: str = ""  # of a custom one
    script: str = ""
    environment: Any = None
    ports: dict[str, dict[str, Any]] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()  # of its script, in v1's way; none: every port and parameter as --name=value
    status: str = "Active"

    def words(self, inputs: dict[str, str], outputs: dict[str, str], parameters: dict[str, Any]) -> list[str]:
        """The arguments of its script."""
        if self.arguments:
            return written_arguments(self.arguments, inputs, outputs, parameters)
        words = [self.name] if self.source == BUILT_IN else []
        for port in (*self.inputs, *self.outputs):
            path = inputs.get(port["name"]) or outputs.get(port["name"])
            if path:
                words.append(f"{_option(port['name'])}={path}")
        for name, parameter in self.parameters.items():
            if name in parameters:
                words.append(f"{_option(name)}={parameter.as_text(parameter.check(parameters[name]))}")
        return words


class Catalog:
    """Reads cards; those of the vision room once."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def cards(self) -> dict[str, Card]:
        """All of them by name; one of a person's own counts more than one of the room's. Versions of those, the one that is named
        by default among them, are there as `name@version`: `card_of` finds what a node means, `named` leaves them out."""
        found = dict(built_in_cards())
        own = self._record.custom_modules
        for name, versions in own.all_versions().items():
            for each in versions:
                card = card_from_plain(each["card"], each["version"], each["snapshot_id"])
                found[f"{name}@{each['version']}"] = dataclasses.replace(card, status=each["status"])
        for row in own.list():
            current = found.get(f"{row['name']}@{row['version']}")
            card = current or card_from_plain(row["card"], row["version"], row["snapshot_id"])
            found[row["name"]] = dataclasses.replace(card, status=row["status"]) if row["status"] != "Active" else card
        return found

    def find(self, name: str) -> Card:
        """One card.

        Raises:
            UserError: there is none; names near ones.
        """
        cards = self.cards()
        if name not in cards:
            raise UserError(unknown_module(name, cards))
        return cards[name]


def named(cards: dict[str, Card]) -> dict[str, Card]:
    """One card for each module, without the versions beside."""
    return {name: card for name, card in cards.items() if "@" not in name}


def card_of(node: dict[str, Any], cards: dict[str, Card]) -> Optional[Card]:
    """The card that a node means: of the version that it names, else the one that counts now; None: there is none."""
    name, version = str(node.get("module")), node.get("version")
    found = named_card(name, cards)
    if version in (None, "") or (found is not None and found.version == str(version)):
        return found
    return None if found is None else cards.get(f"{name}@{version}")


def named_card(name: str, cards: dict[str, Card]) -> Optional[Card]:
    return None if "@" in name else cards.get(name)


def unknown_module(name: Any, cards: dict[str, Card], version: Any = None) -> str:
    """The sentence for a module, or a version of one, that is not there."""
    there = named_card(str(name), cards)
    if there is not None and version is not None:
        others = [key.partition("@")[2] for key in cards if key.startswith(f"{name}@")]
        known = ", ".join(others or [there.version])
        return f"Module '{name!s:.80}' has no version '{version!s:.80}'. It has: {known}. Leave it out for the default."
    near = difflib.get_close_matches(str(name), list(named(cards)), 1, 0.5)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    return f"There is no module '{name!s:.80}' here. {hint}`rookery module list` names those that are; add one's own with `rookery module add`."


@functools.cache
def built_in_cards() -> dict[str, Card]:
    """Those of the vision room; none where it is not installed."""
    try:
        from rookery import __version__
        from rookery_vision.catalog import modules
    except ImportError:
        return {}
    found = {}
    for card in modules():
        plain = {**card.describe(), "source": BUILT_IN, "version": __version__}
        found[card.name] = Card(
            name=card.name,
            title=card.title,
            inputs=tuple(plain["inputs"]),
            outputs=tuple(plain["outputs"]),
            parameters={parameter.name: parameter for parameter in card.parameters},
            distributed=card.distributed,
            source=BUILT_IN,
            version=__version__,
            code=str(card.function.__module__).split(".", 1)[0],
            plain=plain,
            ports={port["name"]: port for port in (*plain["inputs"], *plain["outputs"])},
        )
    return found


@functools.cache
def built_in_code(package: str) -> str:
    """The SHA-256 of the source of a module's package, and of the room that runs modules: another one may give another
    result."""
    digest = hashlib.sha256()
    for name in sorted({package, "rookery_vision"}):
        digest.update(_source_of(name))
    return digest.hexdigest()


def _source_of(package: str) -> bytes:
    digest = hashlib.sha256()
    root = os.path.dirname(os.path.abspath(str(importlib.import_module(package).__file__)))
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                digest.update(os.path.relpath(path, root).encode() + b"\0")
                with open(path, "rb") as f:
                    digest.update(hashlib.sha256(f.read()).digest())
    return digest.digest()


def card_from_plain(given: Any, version: Any = 1, snapshot_id: str = "") -> Card:
    """A card of one's own, as its YAML file or POST /modules says it, checked.

    Raises:
        UserError: says what is wrong.
    """
    if not isinstance(given, dict):
        raise UserError(
            f"A card is an object with name, inputs, outputs, parameters and script, not {type(given).__name__}."
        )
    name = given.get("name")
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 100:
        raise UserError(
            f"The card's name is {name!r:.80}. It has letters, digits and '_', and does not start with a digit."
        )
    script = given.get("script")
    if not isinstance(script, str) or not script:
        raise UserError(f"The card of '{name}' names no script. Say `script: FILE.py`, a file of its folder.")
    inputs = tuple(_port(name, port, "input") for port in _list(name, given, "inputs"))
    outputs = tuple(_port(name, port, "output") for port in _list(name, given, "outputs"))
    parameters = {p.name: p for p in (_parameter(name, each) for each in _list(name, given, "parameters"))}
    names = [port["name"] for port in (*inputs, *outputs)] + list(parameters)
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise UserError(f"The card of '{name}' has two things called '{twice[0]}'. Give each a name of its own.")
    title = str(given.get("title") or name)
    plain = {
        "name": name,
        "title": title,
        "category": str(given.get("category") or "My modules"),
        "help": str(given.get("help") or ""),
        "distributed": bool(given.get("distributed")),
        "inputs": list(inputs),
        "outputs": list(outputs),
        "parameters": [parameter.describe() for parameter in parameters.values()],
        "source": CUSTOM,
        "version": str(version),
    }
    return Card(
        name=name,
        title=title,
        inputs=inputs,
        outputs=outputs,
        parameters=parameters,
        distributed=bool(given.get("distributed")),
        source=CUSTOM,
        version=str(version),
        code=snapshot_id,
        plain=plain,
        snapshot_id=snapshot_id,
        script=script,
        environment=given.get("environment"),
        ports={port["name"]: port for port in (*inputs, *outputs)},
        arguments=_arguments(name, given.get("arguments"), inputs, outputs, parameters),
    )


def _arguments(name: str, given: Any, inputs: Any, outputs: Any, parameters: Any) -> tuple[Any, ...]:
    ports = [[port["name"] for port in each] for each in (inputs, outputs)]
    return check_arguments(f"the card of '{name}'", given, ports[0], ports[1], parameters)


def _list(name: str, given: dict[str, Any], what: str) -> list[Any]:
    found = given.get(what) or []
    if isinstance(found, dict):  # {port: {…}} is easier to type
        found = [{"name": key, **(value or {})} for key, value in found.items()]
    if not isinstance(found, list):
        raise UserError(f"`{what}` of the card of '{name}' is {type(found).__name__}. Give a list.")
    return found


def _port(name: str, given: Any, what: str) -> dict[str, Any]:
    from rookery.spec.data import check_input_name
    from rookery_vision.declare.ports import DATA_TYPES

    if not isinstance(given, dict):
        raise UserError(f"An {what} of the card of '{name}' is {given!r:.60}. Give {{name, types}}.")
    port = check_input_name(given.get("name"), what)
    types = given.get("types") or given.get("type") or "AnyDirectory"
    types = [types] if isinstance(types, str) else list(types)
    unknown = [each for each in types if each not in DATA_TYPES]
    if unknown:
        raise UserError(
            f"Port '{port}' of the card of '{name}' is of type {unknown[0]!r:.60}. Known: {', '.join(DATA_TYPES)}."
        )
    return {
        "name": port,
        "label": str(given.get("label") or port.replace("_", " ").capitalize()),
        "types": types,
        "optional": bool(given.get("optional")),
        "help": str(given.get("help") or ""),
    }


def _parameter(name: str, given: Any) -> Any:
    from rookery_vision.declare.parameters import REQUIRED, Parameter
    from rookery_vision.errors import ModuleError

    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"].isidentifier():
        raise UserError(f"A parameter of the card of '{name}' is {given!r:.80}. Give {{name, kind, default}}.")
    kind = str(given.get("kind") or "String").capitalize()
    if kind not in KINDS:
        raise UserError(
            f"Parameter '{given['name']}' of the card of '{name}' is of kind {kind!r:.40}. Known: {', '.join(KINDS)}."
        )
    required = bool(given.get("required")) or "default" not in given
    when = given.get("when")
    parameter = Parameter(
        label=str(given.get("label") or given["name"].replace("_", " ").capitalize()),
        kind=kind,
        help=str(given.get("help") or ""),
        low=given.get("low"),
        high=given.get("high"),
        above=given.get("above"),
        choices=tuple(str(each) for each in given.get("choices") or ()),
        when=(when[0], when[1]) if isinstance(when, (list, tuple)) and len(when) == 2 else None,
        name=given["name"],
        default=REQUIRED if required else given.get("default"),
    )
    try:
        if not required and parameter.default not in (None, ""):
            parameter.check(parameter.default)
    except (ModuleError, TypeError) as error:
        raise UserError(f"The card of '{name}': {error}") from None
    return parameter


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
