"""What git knows of a source folder, as properties of a run."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable
from typing import Optional
from urllib.parse import urlsplit, urlunsplit

__all__ = ["git_properties", "git_properties_in_background"]

TIMEOUT_S = 5.0
# How much longer than everything else a submit waits for git. It runs meanwhile and takes about 10 ms, so
# there is nearly always nothing to wait for; this is for a repository so large, or a machine so busy, that it
# is better left out.
GRACE_S = 0.25


def git_properties(folder: str, timeout_s: float = TIMEOUT_S) -> dict[str, str]:
    """v1's and MLflow's properties: repository, branch, commit, and whether there are changes that are not
    committed. {} without git.

    Two processes that run at the same time; never raises, never waits longer than `timeout_s`.
    """
    if not _is_in_repository(folder):
        return {}
    status = _git(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--", ".")
    remote = _git(folder, "ls-remote", "--get-url")
    if status is None or remote is None:
        return {}
    facts = _read_status(_output(status, timeout_s))
    url = (_output(remote, timeout_s) or "").strip()
    if facts and ("/" in url or ":" in url):  # git answers with the bare name of a remote that has no address
        facts["repository_uri"] = without_credentials(url)
    properties = {"azureml.git." + key: value for key, value in facts.items()}
    for ours, theirs in (("repository_uri", "repoURL"), ("branch", "branch"), ("commit", "commit")):
        if ours in facts:
            properties["mlflow.source.git." + theirs] = facts[ours]
    return properties


def git_properties_in_background(folder: str) -> Callable[[], dict[str, str]]:
    """Begins to ask git and returns at once. Calling what it returns gives the properties; if git is slower
    than all the rest, {}."""
    found: list[dict[str, str]] = []
    thread = threading.Thread(target=lambda: found.append(git_properties(folder)), name="rookery-git", daemon=True)
    thread.start()

    def result() -> dict[str, str]:
        thread.join(GRACE_S)
        return found[0] if found else {}

    return result


def without_credentials(url: str) -> str:
    """The address without a password; of http addresses also without user and query, where tokens hide."""
    if "://" not in url:
        return url  # a path, or user@host:path, which has no place for a password
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if parts.scheme in ("http", "https"):
        return urlunsplit((parts.scheme, host, parts.path, "", ""))
    return urlunsplit((parts.scheme, user.partition(":")[0] + at + host, parts.path, parts.query, parts.fragment))


def _is_in_repository(folder: str) -> bool:
    """Looked up by hand: outside a repository no process is started at all."""
    folder = os.path.realpath(folder)
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return True
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent


def _git(folder: str, *arguments: str) -> Optional[subprocess.Popen[str]]:
    # Without what a hook may have set: it is about another repository.
    env = {
        k: v for k, v in os.environ.items() if not re.match(r"GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR)\Z", k)
    }
    env.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", LC_ALL="C")
    try:
        return subprocess.Popen(
            ["git", "-C", folder, *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return None


def _output(process: subprocess.Popen[str], timeout_s: float) -> Optional[str]:
    try:
        text, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return text if process.returncode == 0 else None


def _read_status(text: Optional[str]) -> dict[str, str]:
    if text is None:
        return {}
    facts = {"dirty": "False"}
    for line in text.splitlines():
        if line.startswith("# branch.oid ") and "(" not in line:
            facts["commit"] = line[len("# branch.oid ") :]
        elif line.startswith("# branch.head ") and line != "# branch.head (detached)":
            facts["branch"] = line[len("# branch.head ") :]
        elif not line.startswith("#"):
            facts["dirty"] = "True"
    return facts
