"""This checkout on the path of another interpreter."""

from __future__ import annotations

import contextlib
import os
import subprocess

__all__ = ["show_checkout"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def show_checkout(python: str, *more: str) -> None:
    """Lets an interpreter import what is below `src`, and in the folders `more`.

    Its processes may be starting at this moment, for other tests: the file that tells them is never empty, nor written without need.
    """
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    site = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    path, text = os.path.join(site, "rookery-checkout.pth"), "".join(f"{f}\n" for f in (f"{ROOT}/src", *more))
    with contextlib.suppress(OSError), open(path) as f:
        if f.read() == text:
            return
    partial = f"{path}.{os.getpid()}"  # no .pth: not read
    with open(partial, "w") as f:
        f.write(text)
    os.replace(partial, path)
