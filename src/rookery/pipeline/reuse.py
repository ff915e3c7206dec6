"""Whether a step has been done before: the key is its code, what it is given, and what its inputs hold. Differences are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Optional

from rookery.spec.plain import to_plain
from rookery.spec.run import RunSpec

__all__ = ["explain", "key_parts", "reuse_key"]

MAX_NAMED = 4
Entries = Callable[[str], list[dict[str, Any]]]


def key_parts(
    spec: RunSpec,
    code: dict[str, str],
    parameters: dict[str, Any],
    fingerprints: dict[str, str],
    files: Optional[list[str]] = None,
    entries: Optional[Entries] = None,
) -> dict[str, Any]:
    """What a step's result depends on, as plain data.

    Args:
        code: what does the work: the module and its code, or the kind of step.
        parameters: of a module, as they are given.
        fingerprints: of the content of each input.
        files: of the snapshot only these count (paths, or folders).
        entries: the files of a snapshot.
    """
    environment = to_plain(spec.environment)
    return {
        "code": code,
        "source": _source(spec.snapshot_id, files, entries),
        "script": spec.script or "",
        "command": spec.command or "",
        # Of a module they follow from its parameters, inputs and outputs, which are named below, unless it says them itself.
        "arguments": [] if "module" in code and "arguments" not in code else list(spec.arguments),
        "parameters": parameters,
        "inputs": dict(sorted(fingerprints.items())),
        "modes": {each.name: [each.mode, each.path_on_compute] for each in spec.inputs},
        "outputs": {each.name: [each.mode, each.datastore, each.path, each.register_as] for each in spec.outputs},
        "environment": {key: environment[key] for key in ("python", "conda", "docker", "user_managed", "variables")},
        "variables": dict(sorted(spec.variables.items())),
        "layout": {
            "nodes": spec.node_count,
            "processes per node": spec.processes_per_node,
            "launcher": spec.launcher,
            "options": to_plain(spec.launcher_options),
        },
        "plan": spec.plan,
    }


def reuse_key(parts: dict[str, Any]) -> str:
    """64 hex digits: equal for equal parts."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def explain(old: dict[str, Any], new: dict[str, Any], entries: Optional[Entries] = None) -> list[str]:
    """What differs between the parts of two steps, a phrase for each; empty: nothing does."""
    found: list[str] = []
    was, now = ({k: v for k, v in (each.get("code") or {}).items() if k != "arguments"} for each in (old, new))
    if was != now:
        found.append(_code(was, now))
    if old.get("source") != new.get("source"):
        found += _sources(old.get("source"), new.get("source"), entries)
    for what, noun in (("script", "the script"), ("command", "the command")):
        if old.get(what) != new.get(what):
            found.append(f"{noun} was {old.get(what)!r:.60}, is {new.get(what)!r:.60}")
    found += _arguments(old.get("arguments") or [], new.get("arguments") or [])
    found += _values("", old.get("parameters"), new.get("parameters"))
    for port in _keys(old.get("inputs"), new.get("inputs")):
        before, after = (old.get("inputs") or {}).get(port), (new.get("inputs") or {}).get(port)
        if before != after:
            verb = "holds something else" if before and after else "is new" if after else "is gone"
            found.append(f"input {port} {verb}")
    if old.get("modes") != new.get("modes") and old.get("inputs", {}).keys() == new.get("inputs", {}).keys():
        found.append("an input comes in another way")
    found += _values("output ", old.get("outputs"), new.get("outputs"), values=False)
    found += _values("environment ", old.get("environment"), new.get("environment"), values=False)
    # A parameter of the pipeline is a variable too; where it is an argument as well it is named once.
    before, after = (_named(part.get("variables"), bool(found)) for part in (old, new))
    found += _values("variable ", before, after)
    found += _values("", old.get("layout"), new.get("layout"))
    if old.get("plan") != new.get("plan"):
        found.append("what is searched for differs")
    return found


def _named(variables: Any, but_parameters: bool) -> dict[str, Any]:
    given = variables or {}
    return {k: v for k, v in given.items() if not (but_parameters and k.startswith("AZUREML_PARAMETER_"))}


def shorten(phrases: list[str]) -> str:
    """A few of them, and how many more there are."""
    more = len(phrases) - MAX_NAMED
    return "; ".join(phrases[:MAX_NAMED]) + (f"; {more} more" if more > 0 else "")


def _source(snapshot_id: Optional[str], files: Optional[list[str]], entries: Optional[Entries]) -> Any:
    if not snapshot_id or not files or entries is None:
        return snapshot_id
    chosen = [name.strip("/") for name in files]
    counted = {
        entry["path"]: entry["sha256"] or entry["link"]
        for entry in entries(snapshot_id)
        if any(entry["path"] == name or entry["path"].startswith(name + "/") for name in chosen)
    }
    return {"files": counted}


def _code(old: dict[str, str], new: dict[str, str]) -> str:
    if old.get("module") != new.get("module"):
        return f"the module was {old.get('module') or 'another'}, is {new.get('module') or 'another'}"
    return f"the code of {new.get('module')} changed" if new.get("module") else "the kind of step changed"


def _sources(old: Any, new: Any, entries: Optional[Entries]) -> list[str]:
    before, after = _files(old, entries), _files(new, entries)
    if before is None or after is None:
        return ["its source folder changed"]
    phrases = []
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            phrases.append(
                f"{path} {'changed' if path in before and path in after else 'is new' if path in after else 'is gone'}"
            )
    return phrases or ["its source folder changed"]


def _files(source: Any, entries: Optional[Entries]) -> Optional[dict[str, Any]]:
    if isinstance(source, dict):
        return dict(source.get("files") or {})
    if not source:
        return {}
    if entries is None:
        return None
    try:
        return {entry["path"]: entry["sha256"] or entry["link"] for entry in entries(source)}
    except Exception:  # collected meanwhile: that it differs is all that can be said
        return None


def _arguments(old: list[str], new: list[str]) -> list[str]:
    if old == new:
        return []
    before, after = _options(old), _options(new)
    if before is None or after is None:
        return ["its arguments differ"]
    return _values("argument ", before, after) or ["its arguments differ"]


def _options(arguments: list[str]) -> Optional[dict[str, Any]]:
    """`--name value` pairs by name; None where there are others."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if not word.startswith("-"):
            return None
        name, equals, value = word.partition("=")
        if equals:
            found[name.lstrip("-")] = value
        elif at + 1 < len(arguments) and not arguments[at + 1].startswith("--"):
            at += 1
            found[name.lstrip("-")] = arguments[at]
        else:
            found[name.lstrip("-")] = True
        at += 1
    return found


def _values(prefix: str, old: Any, new: Any, values: bool = True) -> list[str]:
    before, after = old or {}, new or {}
    phrases = []
    for name in _keys(before, after):
        if before.get(name) == after.get(name):
            continue
        if not values:
            phrases.append(f"{prefix}{name} differs")
        elif name not in after:
            phrases.append(f"{prefix}{name} is not given any more (was {before[name]!r:.40})")
        elif name not in before:
            phrases.append(f"{prefix}{name} is given now ({after[name]!r:.40})")
        else:
            phrases.append(f"{prefix}{name} was {before[name]!r:.40}, is {after[name]!r:.40}")
    return phrases


def _keys(old: Any, new: Any) -> list[str]:
    return sorted({*(old or {}), *(new or {})})
