"""Exact conda packages → a prefix, with hard links to the package cache that all environments share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rookery.environments.conda.channels import channel_urls, read_conda_config, without_secret
from rookery.environments.conda.lock import CondaLock
from rookery.environments.conda.program import Runner, call_child, plain_runner
from rookery.environments.conda.reasons import explain_conda
from rookery.environments.conda.variables import learn_variables
from rookery.environments.specification.wanted import Wanted
from rookery.errors import EnvironmentBuildError
from rookery.settings import get_setting

__all__ = ["install_conda"]


def install_conda(
    lock: CondaLock,
    prefix: str,
    log: Callable[[bytes], None],
    run: Runner | None = None,
    wanted: Wanted | None = None,
    workspace_root: str | None = None,
) -> tuple[str, ...]:
    """Install what a lock says into a prefix, which is made. Every package's hash is compared with the lock's. What its
    activation sets is kept for `conda_variables`.

    Args:
        log: takes the child's lines, unless `run` is given, which has its own, and what activation scripts say.
        wanted: the specification; a password or token in its channels' addresses is used, and it names the environment.

    Returns:
        Sentences worth knowing, for the lock's notes.

    Raises:
        EnvironmentBuildError: a package cannot be had or written, or py-rattler is not here. What is in the prefix then
            is not an environment; the caller removes it.
    """
    config = read_conda_config(workspace_root)
    given = wanted or Wanted(channels=lock.channels)
    names = [*given.channels, *(d.channel for d in given.conda if d.channel)]
    urls = channel_urls(names, config)
    with_secret = {without_secret(u): u for u in urls if without_secret(u) != u}
    request: dict[str, Any] = {
        "command": "install",
        "packages": [_with_secrets(p, with_secret) for p in lock.packages],
        "prefix": prefix,
        "specs": [d.text.rpartition("::")[2] for d in given.conda],
        "scripts": bool(get_setting("conda_link_scripts", workspace_root)),
        "ssl_verify": config.ssl_verify,
    }
    os.makedirs(prefix, exist_ok=True)
    answer = call_child(request, config.environment(os.environ), run or plain_runner(log), workspace_root)
    if "error" in answer:
        message, details = explain_conda(answer["error"], given, urls)
        raise EnvironmentBuildError(message, details={"step": "conda install", **details})
    learn_variables(prefix, log)
    return _notes(answer.get("scripts") or ())


def _with_secrets(package: Mapping[str, Any], with_secret: Mapping[str, str]) -> dict[str, Any]:
    for bare, whole in with_secret.items():
        if str(package["url"]).startswith(bare + "/"):
            rest = str(package["url"])[len(bare) :]
            return {**package, "url": whole + rest, "channel": whole}
    return dict(package)


def _notes(scripts: Sequence[str]) -> tuple[str, ...]:
    if not scripts:
        return ()
    return (
        f"conda: {', '.join(scripts)} would run a script of their own after installing; it was not run. Set "
        "conda_link_scripts (ROOKERY_CONDA_LINK_SCRIPTS=1) to run such scripts.",
    )
