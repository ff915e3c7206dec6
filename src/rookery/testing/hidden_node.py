"""A machine of its own, made of a mount namespace: it sees neither our code nor the folders that are hidden from it.

So what an agent finds there has come over the network. Needs root (`unshare -m`), as other tests of several machines do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Optional

import rookery

__all__ = ["HiddenNode", "marked", "wait_gone"]

# Everything hidden is an empty folder in there. Arguments: folders, "--", command.
_HIDE = """
while [ "$1" != "--" ]; do
    mount -t tmpfs -o size=64k,mode=755,ro none "$1" || exit 71
    shift
done
shift
exec "$@"
"""
_KEPT = ("PATH", "LANG", "LC_ALL", "PYENV_ROOT")


class HiddenNode:
    """One machine. `home` is its only folder, unless a test gives more.

    Args:
        hidden: folders that it does not see; our own package is always among them.
    """

    def __init__(self, home: str, hidden: Sequence[str]) -> None:
        os.makedirs(home, exist_ok=True)
        self.home = home
        self.hidden = [os.path.dirname(os.path.abspath(rookery.__file__)), *hidden]
        self.processes: list[subprocess.Popen[str]] = []

    def command(self, argv: Sequence[str]) -> list[str]:
        """The words that start a program in there; the program has the process id of what is started."""
        words = ["unshare", "-m", "--propagation", "private", "--", "/bin/sh", "-c", _HIDE, "hidden"]
        return [*words, *self.hidden, "--", *argv]

    def variables(self, **more: str) -> dict[str, str]:
        """A small environment, as an engine's: nothing of ours."""
        kept = {k: v for k, v in os.environ.items() if k.startswith(_KEPT)}
        return {**kept, "HOME": self.home, **more}

    def boot(self, text: str, node: int = 0, python: str = sys.executable, **variables: str) -> subprocess.Popen[str]:
        """Start a boot program as engines do: on standard input of `python -I -`."""
        process = subprocess.Popen(
            self.command([python, "-I", "-"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.variables(ROOKERY_NODE=str(node), **variables),
            start_new_session=True,
        )
        self.processes.append(process)
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
        process.stdin = None  # so that communicate() does not write
        return process

    def run(self, text: str, timeout_s: float = 180.0, **options: Any) -> tuple[int, str]:
        """Start and wait: the exit code, and what was said on standard error."""
        process = self.boot(text, **options)
        _, said = process.communicate(timeout=timeout_s)
        return process.returncode, said

    def path(self, *names: str) -> str:
        """Below the folder for nodes."""
        return os.path.join(self.home, ".rookery", "node", *names)

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


def wait_gone(key: str, node: Optional[int] = None, timeout_s: float = 60.0) -> None:
    """Until no process of an attempt is left."""
    until = time.monotonic() + timeout_s
    while marked(key, node):
        assert time.monotonic() < until, f"processes of {key} are left: {marked(key, node)}"
        time.sleep(0.02)


def marked(key: str, node: Optional[int] = None) -> list[int]:
    """Processes that carry ROOKERY_ATTEMPT_KEY."""
    wanted = [f"ROOKERY_ATTEMPT_KEY={key}".encode()]
    if node is not None:
        wanted.append(f"ROOKERY_NODE={node}".encode())
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    given = f.read().split(b"\0")
            except OSError:
                continue
            if all(one in given for one in wanted):
                found.append(int(name))
    return found
