"""Rules for names and for paths that come from outside."""

from __future__ import annotations

import re
import secrets
import time
import uuid
from collections.abc import Collection

from rookery.errors import PathError, UserError

__all__ = [
    "check_artifact_name",
    "check_compute_name",
    "check_environment_name",
    "check_experiment_name",
    "check_free_name",
    "check_model_name",
    "check_run_id",
    "check_workspace_name",
    "copy_name",
    "is_reserved_environment",
    "name_of_original",
    "new_guid",
    "new_run_id",
]

_EXPERIMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}\Z")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}\Z")
_COMPUTE = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}[A-Za-z0-9]\Z")
_WORKSPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,31}\Z")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}\Z")
# Nearly every path there is; one look instead of a walk over its characters (a snapshot has ten thousand).
_PLAIN_PATH = re.compile(r"(?:(?!\.\.?/)[^/\\:\x00-\x1f\x7f]+/)*(?!\.\.?\Z)[^/\\:\x00-\x1f\x7f]+\Z")
RESERVED_COMPUTE = ("amlcompute", "local", "containerinstance")
MAX_ARTIFACT_NAME = 4096
RESERVED_ENVIRONMENTS = ("azureml", "microsoft")
_COPY = re.compile(r"(?<=\S)\s+\(copy(?: ([0-9]{1,6}))?\)\Z")


def new_run_id(experiment: str) -> str:
    """`<experiment>_<unix seconds>_<8 hex>`, as script runs are called."""
    return f"{experiment[:230]}_{int(time.time())}_{secrets.token_hex(4)}"


def new_guid() -> str:
    return str(uuid.uuid4())


def copy_name(name: str, taken: Collection[str] = ()) -> str:
    """What a copy is called: 'birds (copy)' of 'birds', 'birds (copy 2)' of that or where that is taken; never '(copy) (copy)'."""
    base, number = _without_copy(name)
    while True:
        number += 1
        ending = " (copy)" if number == 1 else f" (copy {number})"
        made = base[: 255 - len(ending)] + ending
        if made not in taken:
            return made


def name_of_original(name: str) -> str:
    """The name without what `copy_name` has put behind it: a copy is still the same pipeline."""
    return _without_copy(name)[0]


def _without_copy(name: str) -> tuple[str, int]:
    base, number = name.strip(), 0
    while found := _COPY.search(base):
        number = max(number, int(found[1] or 1))
        base = base[: found.start()]
    return base, number


def check_experiment_name(name: object) -> str:
    return _check(
        name,
        _EXPERIMENT,
        "experiment",
        "It starts with a letter or digit; letters, digits, '_' and '-' follow; 255 characters at most.",
    )


def check_free_name(name: object, what: str) -> str:
    """A name that somebody outside of Rookery gave: looser than ours, as far as paths and databases bear it."""
    good = isinstance(name, str) and name.strip() and len(name) <= 255 and name.isprintable()
    if not good or (what == "model" and any(c in "/:" for c in str(name))):
        shown = repr(name) if len(repr(name)) <= 80 else repr(name)[:77] + "..."
        rest = ", without '/' and ':'" if what == "model" else ""
        raise UserError(f"{shown} is not a valid {what} name. It has 1 to 255 printable characters{rest}.")
    return str(name)


def check_model_name(name: object) -> str:
    return _check(
        name,
        _MODEL,
        "model",
        "It starts with a letter or digit; letters, digits, '-', '.' and '_' follow; 255 characters at most.",
    )


def check_workspace_name(name: object) -> str:
    return _check(
        name, _WORKSPACE, "workspace", "It has 2 to 32 letters, digits, '_' and '-', and starts with a letter or digit."
    )


def check_run_id(name: object) -> str:
    return _check(
        name, _RUN, "run id", "It has 1 to 255 letters, digits, '.', '_' and '-', and starts with a letter or digit."
    )


def check_compute_name(name: object) -> str:
    checked = _check(
        name,
        _COMPUTE,
        "compute target",
        "It has 2 to 64 letters, digits and '-', starts with a letter and does not end with '-'.",
    )
    if checked.lower() in RESERVED_COMPUTE:
        raise UserError(
            f"Compute target name '{checked}' is reserved. Reserved: {', '.join(RESERVED_COMPUTE)}. Choose another."
        )
    return checked


def check_environment_name(name: object, own: bool = False) -> str:
    """The name, or UserError. `own`: one of the user's own, so names of curated environments are refused."""
    good = isinstance(name, str) and name.strip() and len(name) <= 255 and name.isprintable()
    if not good or any(c in "/\\" for c in str(name)) or str(name).startswith("."):
        shown = repr(name) if len(repr(name)) <= 80 else repr(name)[:77] + "..."
        raise UserError(
            f"{shown} is not a valid environment name. It has 1 to 255 characters, without slashes and "
            "control characters, and does not start with a dot."
        )
    if own and is_reserved_environment(str(name)):
        raise UserError(
            f"Environment name {name!r} is reserved: names that start with AzureML or Microsoft belong to "
            "curated environments. To change one, take a copy with env.clone('my-name')."
        )
    return str(name)


def is_reserved_environment(name: str) -> bool:
    """Whether the name starts as those of curated environments do."""
    return name.lower().startswith(RESERVED_ENVIRONMENTS)


def _check(name: object, pattern: re.Pattern[str], what: str, rule: str) -> str:
    if not isinstance(name, str) or not pattern.match(name):
        shown = repr(name) if len(repr(name)) <= 80 else repr(name)[:77] + "..."
        raise UserError(f"{shown} is not a valid {what} name. {rule}")
    return name


def check_artifact_name(name: object) -> str:
    """The name in its plain form (`a/b/c`), or PathError for one that is no path inside a folder."""
    if isinstance(name, str) and len(name) <= 255 and name.isascii() and _PLAIN_PATH.match(name):
        return name
    if not isinstance(name, str) or not name:
        raise PathError(f"{name!r} is not a valid artifact name. Give a relative path such as 'outputs/model.pt'.")
    shown = repr(name) if len(name) <= 80 else repr(name[:77] + "...")
    if len(name) > MAX_ARTIFACT_NAME:
        raise PathError(f"Artifact name {shown} has {len(name)} characters; {MAX_ARTIFACT_NAME} are allowed.")
    if any(ord(c) < 32 or ord(c) == 127 for c in name):
        raise PathError(f"Artifact name {shown} holds a control character.")
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise PathError(f"Artifact name {shown} is not valid Unicode.") from None
    plain = name.replace("\\", "/")
    parts = [p for p in plain.split("/") if p not in ("", ".")]
    if plain.startswith("/") or re.match(r"[A-Za-z]:/", plain):
        raise PathError(
            f"Artifact name {shown} is an absolute path. Give one relative to the run, such as 'outputs/model.pt'."
        )
    if ".." in parts or not parts:
        raise PathError(f"Artifact name {shown} leaves the run's folder. Give a path without '..'.")
    if any(len(p.encode("utf-8")) > 255 for p in parts):
        raise PathError(f"Artifact name {shown} has a part of more than 255 bytes.")
    return "/".join(parts)
