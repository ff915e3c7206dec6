"""conda's failures in words for people: which package or channel, why, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rookery.environments.conda.channels import without_secret
from rookery.environments.specification.wanted import Wanted

__all__ = ["explain_conda"]

MAX_WORDS = 1500


def explain_conda(error: Mapping[str, Any], wanted: Wanted, channels: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """A message, and what programs may want to know.

    Args:
        error: what the child answered.
        channels: address → the name that the specification has for it.
    """
    name = f"Environment '{wanted.name or 'environment'}' could not be built"
    kind = str(error.get("kind", ""))
    said = without_secret(str(error.get("message", "")).strip())
    if kind == "unreachable":
        return _unreachable(name, said, _shown(str(error["channel"]), channels), wanted)
    if kind == "channel":
        return _bad_channel(name, said, _shown(str(error.get("channel", "")), channels))
    if kind == "solve":
        return _unsolved(name, said, error, channels)
    if kind == "spec":
        return f"{name}: conda cannot read '{error.get('spec')}': {said}. Write it like `numpy=1.19`.", {
            "package": str(error.get("spec", ""))
        }
    if kind == "install":
        return _not_installed(name, said, str(error.get("package", "")))
    return f"{name}: conda's packages could not be had ({kind}): {_short(said)}", {}


def _unreachable(name: str, said: str, channel: str, wanted: Wanted) -> tuple[str, dict[str, Any]]:
    asked = ", ".join(d.text for d in wanted.conda)
    for_what = f" It is needed for {asked}." if asked else ""
    return (
        f"{name}: conda channel {channel} cannot be reached: {said}.{for_what} Check the network and the proxy; or name a "
        "mirror with the setting conda_channel_alias (or channel_alias in ~/.condarc); or name a channel that can be "
        "reached, also a folder as file:///…; or ask for packages of the Python index under `pip:`.",
        {"channel": channel},
    )


def _bad_channel(name: str, said: str, channel: str) -> tuple[str, dict[str, Any]]:
    folded = _short(said)
    advice = "Check its address."
    if re.search(r"\b(401|403)\b|Unauthorized|Forbidden", said):
        advice = "It wants to know who you are: put the token into its address, or log in with `rattler auth login`."
    elif "could not find subdir" in said or re.search(r"\b404\b", said):
        advice = "There is no channel there: it has no noarch/repodata.json. Check its name and address."
    elif re.search(r"certificate|UnknownIssuer|tls", said, re.IGNORECASE):
        advice = "Name your certificates: ssl_verify in ~/.condarc, or the variable SSL_CERT_FILE."
    return f"{name}: conda channel {channel or '(which one is not said)'} cannot be read. {advice} It said: {folded}", {
        "channel": channel
    }


def _unsolved(
    name: str, said: str, error: Mapping[str, Any], channels: Mapping[str, str]
) -> tuple[str, dict[str, Any]]:
    candidates: Mapping[str, list[str]] = error.get("candidates") or {}
    where = ", ".join(_shown(u, channels) for u in channels)
    words = _solver_words(said)
    for package, versions in candidates.items():
        details = {"package": package, "candidates": list(versions), "asked": list(error.get("asked") or ())}
        condition = _condition(package, said)
        if package.startswith("__"):
            return (
                f"{name}: a package needs '{condition}', which this machine is not or has not. Ask for another version "
                f"of it. conda's solver said: {words}",
                details,
            )
        if not versions:
            similar = (error.get("similar") or {}).get(package) or []
            hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
            return (
                f"{name}: package '{package}': none of the channels has it ({where}).{hint} Add the channel that has it, "
                f"or ask for it under `pip:`. conda's solver said: {words}",
                details,
            )
        return (
            f"{name}: package '{package}': no version meets '{condition}'. The channels ({where}) have: "
            f"{', '.join(versions)}. Ask for one of these, or add the channel that has yours. conda's solver said: {words}",
            details,
        )
    culprit = _first_named(said, [str(a) for a in error.get("asked") or ()])
    named = f"package '{culprit}': " if culprit else ""
    return (
        f"{name}: {named}the packages asked for do not go together. Loosen one of the conditions named. conda's solver "
        f"said: {words}",
        {"package": culprit, "asked": list(error.get("asked") or ())},
    )


def _not_installed(name: str, said: str, package: str) -> tuple[str, dict[str, Any]]:
    named = f"package '{package}'" if package else "a conda package"
    reason, advice = "it could not be installed", "Try again; if it stays, ask for another version."
    if re.search(r"(hash|sha256|md5)[^.]*(mismatch|not match|differ)|mismatch", said, re.IGNORECASE):
        reason = "what the channel gave is not what the lock says"
        advice = "Make the lock again, or find out who changed the file."
    elif "No space left" in said:
        reason, advice = "the disk is full", "Free some space, for example with `rookery env prune`."
    elif "Permission denied" in said:
        reason, advice = "a folder may not be written", "Check who owns ROOKERY_HOME."
    elif re.search(r"No such file|404|error sending request|fetch|download", said):
        reason, advice = "it could not be downloaded", "Check the channel and the network, then try again."
    return f"{name}: {named}: {reason}. {advice} rattler said: {_short(said)}", {"package": package}


def _shown(url: str, channels: Mapping[str, str]) -> str:
    """'conda-forge (https://…/conda-forge)', or the address alone where that was given."""
    name = channels.get(url) or channels.get(url.rstrip("/")) or ""
    bare, name = without_secret(url.rstrip("/")), without_secret(name)
    return f"{name} ({bare})" if name and name.rstrip("/") != bare else bare


def _condition(package: str, said: str) -> str:
    found = re.search(rf"(?<![\w.-]){re.escape(package)} ([^,\n]*?)\.?(?:,(?! *[<>=!~])|\n|$)", said)
    condition = (found.group(1) if found else "").strip()
    return package if condition in ("", "*") else f"{package} {condition}"


def _first_named(said: str, asked: list[str]) -> str:
    places = {n: found.start() for n in asked if (found := re.search(rf"(?<![\w.-]){re.escape(n)}(?![\w.-])", said))}
    return min(places, key=lambda n: places[n], default="")


def _solver_words(said: str) -> str:
    text = re.sub(r"^Cannot solve the request because of:\s*", "", said)
    return _short(re.sub(r"[│├└─]+", " ", text))


def _short(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= MAX_WORDS else folded[: MAX_WORDS // 2] + " … " + folded[-MAX_WORDS // 2 :]
