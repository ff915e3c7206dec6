"""Specification → exact conda packages."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rookery.environments.conda.channels import channel_urls, read_conda_config, without_secret
from rookery.environments.conda.lock import CondaLock
from rookery.environments.conda.program import Runner, call_child, find_conda_python, plain_runner
from rookery.environments.conda.reasons import explain_conda
from rookery.environments.specification.conda_names import without_conda
from rookery.environments.specification.conda_spec import CondaDependency
from rookery.environments.specification.wanted import Wanted
from rookery.errors import ConfigError, EnvironmentBuildError
from rookery.settings import get_setting

__all__ = ["conda_mode", "needs_conda", "require_conda", "solve_conda"]

MODES = ("native", "auto", "never")


def conda_mode(workspace_root: str | None = None) -> str:
    """The setting `conda`.

    Raises:
        ConfigError: it is none of native, auto, never.
    """
    mode = str(get_setting("conda", workspace_root)).strip().lower()
    if mode not in MODES:
        raise ConfigError(f"conda: {mode!r} is not known. Known: {', '.join(MODES)}.")
    return mode


def needs_conda(wanted: Wanted, mode: str) -> bool:
    """Whether conda has to install anything. If so it installs all that was asked of conda, for one solution of the whole.

    native: whatever the specification asks of conda, and Python, come from the channels. auto: only where a package is
    asked for that the Python index does not have. never: what only conda has is refused by the builder.
    """
    if mode == "native":
        return bool(wanted.conda or wanted.channels or wanted.python) and not wanted.locked
    return mode == "auto" and bool(without_conda(wanted).conda)


def require_conda(wanted: Wanted, workspace_root: str | None = None) -> None:
    """Say at once, and with the packages' names, that py-rattler is needed and not here.

    Raises:
        EnvironmentBuildError: that.
    """
    try:
        find_conda_python(workspace_root)
    except EnvironmentBuildError as error:
        only = ", ".join(d.text for d in without_conda(wanted).conda)
        why = f"only conda has {only}" if only else "conda=native takes Python from the channels"
        name = wanted.name or "environment"
        raise EnvironmentBuildError(f"Environment '{name}': {why}. {error.message}", details=error.details) from None


def solve_conda(
    wanted: Wanted, log: Callable[[bytes], None], run: Runner | None = None, workspace_root: str | None = None
) -> CondaLock:
    """Solve what a specification asks of conda, python included. Starts a child process; nothing of rattler is loaded here.

    Args:
        log: takes the child's lines, unless `run` is given, which has its own.
        run: starts the child (the builder's holds its locks and its time limit).

    Raises:
        UserError: a channel is none.
        EnvironmentBuildError: a channel cannot be reached, nothing fits, or py-rattler is not here; the message says
            which, and what to do.
    """
    config = read_conda_config(workspace_root)
    urls = channel_urls(wanted.channels, config)
    specs = [{"text": python_spec(wanted.python), "channel": ""}]
    for one in wanted.conda:
        own = list(channel_urls([one.channel], config)) if one.channel else []
        for url in own:
            urls.setdefault(url, one.channel)
        specs.append({"text": spec_text(one), "channel": own[0] if own else ""})
    request: dict[str, Any] = {
        "command": "solve",
        "channels": list(urls),
        "specs": specs,
        "priority": config.priority,
        "ssl_verify": config.ssl_verify,
    }
    environment = config.environment(os.environ)
    answer = call_child(request, environment, run or plain_runner(log), workspace_root)
    if "error" in answer:
        message, details = explain_conda(answer["error"], wanted, urls)
        raise EnvironmentBuildError(message, details={"step": "conda solve", **details})
    packages = tuple(_without_secrets(p) for p in answer["packages"])
    python = next((str(p["version"]) for p in packages if p["name"] == "python"), "")
    return CondaLock(packages, python, tuple(without_secret(u) for u in urls))


def python_spec(condition: str | None) -> str:
    """conda's words for the requested Python: '3.6.2' means 3.6.2 and what begins with it, as in `python=3.6.2`."""
    text = (condition or "").strip()
    if not text:
        return "python"
    return f"python {text}" if text[0] in "<>!~" else f"python={text}"


def spec_text(one: CondaDependency) -> str:
    """A dependency as conda's own syntax has it, without its channel."""
    return (
        one.text.rpartition("::")[2] if one.text else one.name + one.condition + (f"={one.build}" if one.build else "")
    )


def _without_secrets(package: dict[str, Any]) -> dict[str, Any]:
    return {**package, "url": without_secret(package["url"]), "channel": without_secret(package["channel"])}
