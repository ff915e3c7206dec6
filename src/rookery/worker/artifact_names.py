"""Names of artifacts as the worker checks them: the same rules as `rookery.spec.names`, which needs a newer
Python."""

import os

from rookery.errors import PathError

__all__ = ["check_artifact_name", "name_for_path"]

MAX_LENGTH = 4096


def check_artifact_name(name):
    """The name in its plain form (`a/b/c`), or PathError for one that is no path inside a folder."""
    if not isinstance(name, str) or not name:
        raise PathError(
            "{!r} is not a valid artifact name. Give a relative path such as 'outputs/model.pt'.".format(name)
        )
    shown = repr(name) if len(name) <= 80 else repr(name[:77] + "...")
    if len(name) > MAX_LENGTH:
        raise PathError("Artifact name {} has {} characters; {} are allowed.".format(shown, len(name), MAX_LENGTH))
    if any(ord(c) < 32 or ord(c) == 127 for c in name):
        raise PathError("Artifact name {} holds a control character.".format(shown))
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise PathError("Artifact name {} is not valid Unicode.".format(shown)) from None
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if plain.startswith("/") or (len(plain) > 2 and plain[1:3] == ":/"):
        raise PathError(
            "Artifact name {} is an absolute path. Give one relative to the run, such as 'outputs/model.pt'.".format(
                shown
            )
        )
    if ".." in parts or not parts:
        raise PathError("Artifact name {} leaves the run's folder. Give a path without '..'.".format(shown))
    if any(len(part.encode("utf-8")) > 255 for part in parts):
        raise PathError("Artifact name {} has a part of more than 255 bytes.".format(shown))
    return "/".join(parts)


def name_for_path(path):
    """The artifact name of a local file: its path relative to the current folder, or its base name outside
    of it."""
    relative = os.path.relpath(path)
    inside = relative != os.curdir and not relative.startswith(os.pardir)
    return check_artifact_name(relative if inside else os.path.basename(os.path.abspath(path)))
