"""How much memory a scoring process and those it has started hold, as far as the system could not take it back."""

from __future__ import annotations

import os

__all__ = ["GB", "tree_bytes"]

GB = 1024**3


def tree_bytes(pid: int, allowed: float) -> int:
    """Anonymous and shared memory of the process and all below it; files that are mapped do not count. 0: it is gone.

    Args:
        allowed: up to this many bytes a rough answer will do: what forked processes share is counted for each of them.
    """
    tree = _tree(pid)
    rough = sum(_sum(one, "status", ("RssAnon:", "RssShmem:")) for one in tree)
    if rough <= allowed or len(tree) == 1:
        return rough
    fair = sum(_sum(one, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) for one in tree)
    return fair or rough  # 0: a system that does not tell


def _tree(pid: int) -> list[int]:
    """The process, its children, theirs, and so on."""
    found = [pid]
    for one in found:  # which grows meanwhile
        try:
            tasks = os.listdir(f"/proc/{one}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{one}/task/{task}/children", "rb") as f:
                    found += [int(child) for child in f.read().split()]
            except OSError:
                continue
    return found


def _sum(pid: int, file: str, keys: tuple[str, ...]) -> int:
    """Bytes of these lines of a file in /proc, which has them in kB."""
    try:
        with open(f"/proc/{pid}/{file}", encoding="ascii", errors="replace") as f:
            return 1024 * sum(int(line.split()[1]) for line in f if line.startswith(keys))
    except OSError:
        return 0
