"""uv's messages in a sentence: which package is at fault, why, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rookery.environments.specification.requirement import normal_name

__all__ = ["explain"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_ALL = r"(?:all versions of |any of |only |the requested )?"
# Pattern over the output with its line breaks folded → what to do. The first group is the package (or the
# address).
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        rf"Because {_ALL}({_NAME})[^ ]* was not found in the (?:package registry|provided package locations)",
        "no index has a package of this name",
        "Check the spelling, or add the index that has it to pip's configuration.",
    ),
    (
        rf"Because there (?:is|are) no versions? of ({_NAME})",
        "no index has this version",
        "Ask for a version that exists.",
    ),
    (
        rf"Because {_ALL}({_NAME})(?:[<>=!~][^ ]+)? (?:has|have) no wheels with a matching Python",
        "it has no build for this Python version",
        "Ask for a newer version of it, or for another Python.",
    ),
    (
        rf"Because {_ALL}({_NAME})(?:[<>=!~][^ ]+)? (?:has|have) no wheels with a matching platform",
        "it has no build for this kind of machine",
        "Ask for another version of it.",
    ),
    (
        rf"Because only ({_NAME})[^ ]* (?:is|are) available",
        "no index has a version that meets the condition",
        "Loosen the condition.",
    ),
    (
        rf"Because only the following versions of ({_NAME})",
        "no index has a version that meets the condition",
        "Loosen the condition.",
    ),
    (
        rf"Failed to (?:build|download and build) `?({_NAME})",
        "its source does not build here",
        "Ask for a version that has a wheel for this Python, or install what its build needs.",
    ),
    (
        rf"Hash mismatch for `?({_NAME})",
        "what the index gave is not what the lock says",
        "Make the lock again, or find out who changed the file.",
    ),
    (
        rf"Failed to (?:download|fetch|unzip|read)(?: wheel)? `?({_NAME})[=@ `]",
        "it could not be downloaded",
        "Check the network and pip's configuration, then try again.",
    ),
    (
        r"(?:Failed to fetch: `?|for url \()([^\s`)]+)",
        "the index cannot be reached",
        "Check the network and the index in pip's configuration (`pip config list`).",
    ),
    (rf"Couldn't parse requirement.*?\s({_NAME})", "it is not a requirement", "Mend the line."),
    (rf"Because {_ALL}({_NAME})", "its conditions contradict the others", "Loosen one of the conditions named."),
)
_SYSTEM = (
    ("No space left on device", "the disk is full", "Free some space, for example with `rookery env prune`."),
    ("Permission denied", "a folder may not be written", "Check who owns ROOKERY_HOME."),
)


def explain(output: str, environment: str, asked: Sequence[str]) -> str:
    """One message: environment, package, reason, the resolver's own words, what to do.

    Args:
        asked: the requirements' names; a culprit among them is named as asked for, another with the one that
            needs it.
    """
    said = _own_words(output)
    folded = " ".join(output.split())
    for mark, reason, advice in _SYSTEM:
        if mark in folded:
            return f"Environment '{environment}' could not be built: {reason}. {advice} uv said: {said}"
    for pattern, reason, advice in _KNOWN:
        found = re.search(pattern, folded)
        if found:
            culprit = found.group(1).strip("`.,")
            return f"Environment '{environment}' could not be built: {_named(culprit, folded, asked)}: {reason}. {advice} uv said: {said}"
    return f"Environment '{environment}' could not be built. uv said: {said}"


def _named(culprit: str, folded: str, asked: Sequence[str]) -> str:
    if "://" in culprit:
        return culprit
    name = re.split(r"[<>=!~\[]", culprit)[0]
    names = {normal_name(a): a for a in asked}
    if normal_name(name) in names:
        return f"package '{names[normal_name(name)]}'"
    for needing in re.findall(rf"({_NAME})(?:[<>=!~][^ ]*)? depends on {re.escape(name)}", folded):
        if normal_name(needing) in names:
            return f"package '{name}', which '{names[normal_name(needing)]}' needs"
    return f"package '{name}'"


def _own_words(output: str) -> str:
    """The error and its causes without uv's running commentary, at most 1500 characters."""
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*(error|×|  × )", line)), 0)
    kept = [re.sub(r"^\s*(?:error:|cause:|×|├─▶|╰─▶|│)\s*", "", line).strip() for line in lines[start:]]
    kept = [re.sub(r"/\S*/resolve-\w+/", "", line) for line in kept if line]
    text = " ".join(kept)
    return text if len(text) <= 1500 else text[:700] + " … " + text[-750:]
