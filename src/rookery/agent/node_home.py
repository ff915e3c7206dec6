"""Keeping a node's folder small: what a run leaves there, and what nobody has used for long. See docs/inside/node.md."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from rookery.agent.content_cache import ContentCache
from rookery.agent.disk import read_json
from rookery.agent.node import NodeFacts, node_facts
from rookery.agent.proc import is_same_process

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["leave_node", "remove_unused"]

EVERY_S = 24 * 3600.0
PRUNE_S = 60.0
# Folders whose time is that of their last use: the boot program and the agents set it.
_USED = ("kit", "payload", "tools")


def leave_node(agent: Agent) -> None:
    """Called when nobody wants anything of this attempt any more: its files have been shipped, or it is over."""
    facts = node_facts(agent.job)
    if facts is None:
        return
    if not facts.shared and not agent.job.keep_work:
        remove_share(agent.paths.root)
    ContentCache(agent.keeper, facts.content, facts.cache_bytes).trim()
    with contextlib.suppress(OSError):
        if facts.unused_s and _is_time(facts.home):
            remove_unused(facts)


def remove_share(root: str) -> None:
    """runs/<run>/<attempt>/node-<n>, and its parents where they are empty then."""
    shutil.rmtree(root, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(root))
        os.rmdir(os.path.dirname(os.path.dirname(root)))


def remove_unused(facts: NodeFacts) -> None:
    """What was not used for `unused_s`: code, payloads, tools, what dead agents left, environments (nobody's that is held)."""
    before = time.time() - facts.unused_s
    for kind in _USED:
        for name in _names(os.path.join(facts.home, kind)):
            path = os.path.join(facts.home, kind, name)
            if not name.startswith(".lock-") and os.path.getmtime(path) < before and not _is_used(path):
                shutil.rmtree(path, ignore_errors=True)
    runs = os.path.join(facts.home, "runs")
    for run in _names(runs):
        for attempt in _names(os.path.join(runs, run)):
            for node in _names(os.path.join(runs, run, attempt)):
                root = os.path.join(runs, run, attempt, node)
                if os.path.getmtime(root) < before and not _has_agent(root):
                    remove_share(root)
    _prune_environments(facts)


def _prune_environments(facts: NodeFacts) -> None:
    if not os.path.isdir(os.path.join(facts.home, "environments")):
        return
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    words = f"import sys; sys.path.append({source!r}); from rookery.environments.building.node import main; "
    words += f"main(['node', 'prune', '{facts.unused_s}'])"
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", words],
            env={**os.environ, "ROOKERY_HOME": facts.home},
            stdin=subprocess.DEVNULL,
            timeout=PRUNE_S,
            check=False,
        )


def _is_used(path: str) -> bool:
    """Whether a process was started with it: a run may well last longer than what is unused is kept."""
    wanted = os.fsencode(path)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as f:
                if wanted in f.read():
                    return True
    return False


def _has_agent(root: str) -> bool:
    found = read_json(os.path.join(root, "agent.json")) or {}
    return bool(found.get("pid")) and is_same_process(int(found["pid"]), int(found.get("start_ticks") or 0))


def _is_time(home: str) -> bool:
    """Once a day per machine; says so by touching a file."""
    mark = os.path.join(home, ".looked")
    with contextlib.suppress(FileNotFoundError):
        if time.time() - os.path.getmtime(mark) < EVERY_S:
            return False
    with open(mark, "wb"):
        pass
    os.utime(mark)
    return True


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
