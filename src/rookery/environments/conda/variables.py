"""The variables that an activated conda prefix has: some packages set them, and do not work without."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

from rookery.environments.building.folders import read_json, write_json

__all__ = ["conda_variables", "learn_variables"]

TIMEOUT_S = 60.0
_SHELLS_OWN = ("PATH", "PWD", "OLDPWD", "SHLVL", "_")
_SCRIPT = 'for one in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$one" >&2; done; exec env -0'


def learn_variables(prefix: str, log: Callable[[bytes], None]) -> dict[str, str]:
    """Activate a prefix once, as `conda activate` would, and keep the variables that this sets. Called when it is built.

    A script that fails is told in the log, and what the others set is kept: `conda activate` goes on too.
    """
    variables = {"CONDA_PREFIX": prefix, **_written(prefix)}
    bash = shutil.which("bash")
    if glob.glob(os.path.join(glob.escape(prefix), "etc", "conda", "activate.d", "*.sh")) and bash:
        before = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TMPDIR", "USER")}
        before.update(variables, PATH=os.path.join(prefix, "bin") + os.pathsep + os.environ.get("PATH", os.defpath))
        variables.update(_activated(bash, before, log))
    write_json(_kept(prefix), variables)
    return variables


def conda_variables(prefix: str) -> dict[str, str]:
    """What `learn_variables` kept. Starts nothing."""
    kept = read_json(_kept(prefix)) or {}
    return {"CONDA_PREFIX": prefix, **{str(k): str(v) for k, v in kept.items()}}


def _activated(bash: str, before: Mapping[str, str], log: Callable[[bytes], None]) -> dict[str, str]:
    try:
        done = subprocess.run(
            [bash, "--noprofile", "--norc", "-c", _SCRIPT],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            env=dict(before),
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log(f"The activation scripts of conda packages could not be run: {error}\n".encode("utf-8", "replace"))
        return {}
    if done.stderr.strip():
        log(b"The activation scripts of conda packages said: " + done.stderr.strip()[-2000:] + b"\n")
    after = dict(
        item.split("=", 1) for item in done.stdout.decode("utf-8", "surrogateescape").split("\0") if "=" in item
    )
    return {
        k: v for k, v in after.items() if before.get(k) != v and k not in _SHELLS_OWN and not k.startswith("BASH_FUNC")
    }


def _written(prefix: str) -> dict[str, str]:
    """Variables that packages give as data: etc/conda/env_vars.d/*.json."""
    found: dict[str, str] = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(prefix), "etc", "conda", "env_vars.d", "*.json"))):
        try:
            with open(path, encoding="utf-8") as f:
                found.update({str(k): str(v) for k, v in json.load(f).items()})
        except (OSError, ValueError, AttributeError):
            continue  # conda only warns
    return found


def _kept(prefix: str) -> str:
    return os.path.join(prefix, "conda-meta", "rookery-variables")
