"""A data set's definition: which files, and how they are read. Checked, and named by what it says. Pure data."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from typing import Any, Optional

from rookery.errors import UserError
from rookery.spec.names import check_artifact_name

__all__ = [
    "FILE",
    "TABULAR",
    "base_folder",
    "check_data_name",
    "check_datastore_name",
    "check_definition",
    "check_pattern",
    "definition_id",
    "has_wildcard",
    "needs_owner",
]

FILE, TABULAR = "file", "tabular"
FORMATS = ("delimited", "parquet", "json_lines")
FILE_STEPS = ("take", "skip", "sample", "split", "filter_files")
ROW_STEPS = ("take", "skip", "sample", "split", "keep_columns", "drop_columns", "time", "filter_rows")
OPEN_SCHEMES = ("http", "https")
OWNER_SCHEMES = ("file", "s3", "gs", "gcs", "az", "abfs", "abfss")
MAX_SOURCES = 10_000
_FIELDS = {"kind", "sources", "format", "steps", "partition_format", "is_file", "timestamps"}
_DATASTORE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,254}\Z")
_WILD = re.compile(r"[*?\[]")


def check_definition(definition: Any) -> dict[str, Any]:
    """The definition in its plain form: defaults left out, paths in their plain form.

    Raises:
        UserError: says which part of it is not allowed, and what is.
    """
    if not isinstance(definition, dict):
        raise UserError(f"A definition must be an object, not {type(definition).__name__}.")
    unknown = sorted(set(definition) - _FIELDS)
    if unknown:
        raise UserError(f"A definition has no field {', '.join(unknown)}. Known: {', '.join(sorted(_FIELDS))}.")
    kind = definition.get("kind")
    if kind not in (FILE, TABULAR):
        raise UserError(f"kind={kind!r:.40} of a definition. Known: {FILE}, {TABULAR}.")
    sources = definition.get("sources")
    if not isinstance(sources, list) or not 1 <= len(sources) <= MAX_SOURCES:
        raise UserError(f"A definition has a list of 1 to {MAX_SOURCES} sources.")
    plain: dict[str, Any] = {"kind": kind, "sources": [_check_source(source) for source in sources]}
    if kind == TABULAR:
        plain["format"] = _check_format(definition.get("format"))
    elif definition.get("format"):
        raise UserError("A definition of files has no format.")
    steps = definition.get("steps") or []
    if not isinstance(steps, list) or len(steps) > 1000:
        raise UserError("steps must be a list of at most 1000 objects.")
    if steps:
        plain["steps"] = [_check_step(step, kind) for step in steps]
    for name in ("partition_format",):
        if definition.get(name) is not None:
            if not isinstance(definition[name], str):
                raise UserError(f"{name} must be a text.")
            plain[name] = definition[name]
    if definition.get("is_file"):
        plain["is_file"] = True
    if definition.get("timestamps"):
        plain["timestamps"] = _texts(definition["timestamps"], "timestamps")
    return plain


def definition_id(definition: dict[str, Any]) -> str:
    """A GUID that follows from a checked definition."""
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return str(uuid.UUID(bytes=hashlib.sha256(text.encode("ascii")).digest()[:16], version=5))


def needs_owner(definition: dict[str, Any]) -> bool:
    """Whether it names places of the keeper's machine, or places that the keeper's own rights open."""
    return any(str(s.get("url", "")).partition(":")[0].lower() in OWNER_SCHEMES for s in definition["sources"])


def check_datastore_name(name: object) -> str:
    if not isinstance(name, str) or not _DATASTORE.match(name):
        raise UserError(
            f"{name!r:.80} is not a valid datastore name. It has 1 to 255 letters, digits, '_' and '-', and does not start "
            "with '-'."
        )
    return name


def check_data_name(name: object) -> str:
    """The name of a data set: what people call things, as far as paths bear it."""
    good = isinstance(name, str) and name.strip() == name and 1 <= len(name) <= 255 and name.isprintable()
    if not good or any(c in "/\\:" for c in str(name)) or str(name) in (".", ".."):
        raise UserError(
            f"{name!r:.80} is not a valid name of a data set. It has 1 to 255 printable characters without '/', '\\' and ':', "
            "and no spaces at its ends."
        )
    return str(name)


def has_wildcard(path: str) -> bool:
    return bool(_WILD.search(path))


def base_folder(pattern: str) -> str:
    """The longest folder of a pattern that has no wildcard; '' for the store's own."""
    parts = []
    for part in pattern.split("/")[:-1]:
        if has_wildcard(part):
            break
        parts.append(part)
    return "/".join(parts)


def check_pattern(path: Any) -> str:
    """A path or glob on a datastore in its plain form; '' is everything."""
    if path is None:
        return ""
    if not isinstance(path, str):
        raise UserError(f"A path on a datastore is a text, not {type(path).__name__}.")
    plain = path.replace("\\", "/").strip("/")
    if plain in ("", "."):
        return ""
    return check_artifact_name(plain)


def _check_source(source: Any) -> dict[str, Any]:
    if not isinstance(source, dict) or not source:
        raise UserError("A source is an object: {datastore, path} or {url}.")
    if set(source) == {"url"}:
        return {"url": _check_url(source["url"])}
    if set(source) <= {"datastore", "path"} and "datastore" in source:
        return {"datastore": check_datastore_name(source["datastore"]), "path": check_pattern(source.get("path"))}
    raise UserError(f"A source has datastore and path, or url; not {', '.join(sorted(map(str, source)))[:100]}.")


def _check_url(url: Any) -> str:
    scheme = str(url).partition("://")[0].lower() if isinstance(url, str) and "://" in url else ""
    if scheme not in OPEN_SCHEMES + OWNER_SCHEMES or any(ord(c) < 33 for c in str(url).replace(" ", "_")):
        raise UserError(
            f"{url!r:.100} is no address that data can be read from. Give one that begins with "
            f"{', '.join(s + '://' for s in OPEN_SCHEMES + OWNER_SCHEMES)}, or (datastore, path)."
        )
    return str(url)


def _check_format(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or given.get("type") not in FORMATS:
        raise UserError(f"A tabular definition has a format with a type. Known: {', '.join(FORMATS)}.")
    _texts(given, "format")
    return dict(given)


def _check_step(step: Any, kind: str) -> dict[str, Any]:
    known = FILE_STEPS if kind == FILE else ROW_STEPS
    if not isinstance(step, dict) or step.get("op") not in known:
        raise UserError(f"A step of a {kind} definition has an op. Known: {', '.join(known)}.")
    op = step["op"]
    if op in ("take", "skip"):
        _number(step, "count", 0, None, whole=True)
    if op == "sample":
        _number(step, "probability", 0, 1)
    if op == "split":
        _number(step, "low", 0, 1)
        _number(step, "high", 0, 1)
    if op in ("sample", "split"):
        _number(step, "seed", None, None, whole=True)
    _texts(step, "a step")
    return dict(step)


def _number(step: dict[str, Any], name: str, low: Optional[float], high: Optional[float], whole: bool = False) -> None:
    value = step.get(name)
    good = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not good or (low is not None and value < low) or (high is not None and value > high):  # type: ignore[operator]
        raise UserError(f"Step {step.get('op')}: {name}={value!r:.40} is not allowed.")


def _texts(value: Any, what: str) -> dict[str, Any]:
    """Whether it is plain JSON data of a sensible size."""
    if not isinstance(value, dict):
        raise UserError(f"{what} must be an object.")
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise UserError(f"{what} is not plain data: {error}.") from None
    if len(text) > 100_000:
        raise UserError(f"{what} is too large.")
    return dict(value)
