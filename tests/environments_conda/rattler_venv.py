"""An interpreter that has py-rattler, made once per version and kept beside the repository's own .venv.

`python tests/environments_conda/rattler_venv.py` makes it and prints its path: a target for the Makefile.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONSTRAINTS = os.path.join(ROOT, "constraints.txt")


def rattler_python() -> str:
    """Make it if need be.

    Raises:
        RuntimeError: it cannot be made; the message has pip's last words.
    """
    with open(CONSTRAINTS, encoding="utf-8") as f:
        found = re.search(r"^py-rattler==(\S+)$", f.read(), re.MULTILINE)
    assert found, "constraints.txt pins no py-rattler"
    tag = f"py-rattler-{found[1]}-{sys.implementation.cache_tag}"
    folder = os.path.join(ROOT, ".venv-conda", tag)
    python, marker = os.path.join(folder, "bin", "python"), os.path.join(folder, ".ready")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(marker) or not os.path.exists(python):
            _run([sys.executable, "-m", "venv", "--clear", folder])
            _run([python, "-m", "pip", "install", "-q", f"py-rattler=={found[1]}"])
            _run([python, "-c", "import rattler"])
            with open(marker, "w") as f:
                f.write(found[1])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout[-1000:]}")


if __name__ == "__main__":
    print(rattler_python())
