"""After the build: everything that was asked for is imported once. Wheels that do not fit are found here and
not in the tenth epoch.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rookery.environments.python.uv_program import Finished
from rookery.errors import EnvironmentBuildError

__all__ = ["ImportReport", "check_imports"]

_HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(_HERE, "import_probe.py")
HOOK = os.path.join(
    os.path.dirname(os.path.dirname(_HERE)), "worker", "torchvision_hook.py"
)  # run by path: it belongs to the run's process
TORCHVISION = (
    "torchvision's compiled operators do not fit this torch (a CUDA build beside a CPU one): models, "
    "transforms and roi_align work, "
    "ops.nms, detection models and io.decode_* do not."
)
# Words of a binary that is missing or made for something else. Anything else that goes wrong in an import is
# only worth a note: some
# packages want a display, a license or an optional friend.
_BINARY = re.compile(
    r"undefined symbol|cannot open shared object|DLL load failed|GLIBC|invalid ELF|wrong ELF|file too "
    r"short|failed to map segment|size changed, may indicate"
    r"|compiled using NumPy 1|_ARRAY_API|multiarray failed to import|operator torchvision::|Illegal "
    r"instruction|cannot allocate memory in static TLS"
)


@dataclass(frozen=True)
class ImportReport:
    """deviations: to show with the run. notes: what did not import for another reason."""

    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_imports(
    python: str, names: Sequence[str], run: Callable[[list[str]], Finished], say: Callable[[str], None]
) -> ImportReport:
    """Import the distributions `names` with `python`, all in one process; one that fails is tried once more
    alone.

    Args:
        run: runs a command in the environment, its stderr going to the build log.

    Raises:
        EnvironmentBuildError: one cannot be imported because a binary is missing or does not fit.
    """
    if not names:
        return ImportReport()
    results = _probe(python, names, run)
    for name in dict.fromkeys(r["name"] for r in results if r["state"] == "failed" and len(names) > 1):
        alone = _probe(python, [name], run)
        results = [r for r in results if r.get("name") != name] + alone
    notes: list[str] = []
    for one in results:
        text = _in_words(one)
        if text:
            say("  " + text)
        if one["state"] == "failed":
            if _is_binary(one):
                raise EnvironmentBuildError(
                    f"Package '{one['name']}' is installed but cannot be imported: {_cause(one)}. {_advice(one)}",
                    details={"step": "import", "package": one["name"]},
                )
            notes.append(text)
    hooked = any(one["state"] == "torchvision_hook" for one in results)
    return ImportReport((TORCHVISION,) if hooked else (), tuple(notes))


def _probe(python: str, names: Sequence[str], run: Callable[[list[str]], Finished]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="rookery-imports-") as folder:
        path = os.path.join(folder, "results")
        finished = run(
            [
                python,
                "-I",
                PROBE,
                path,
                HOOK,
                *names,
            ]
        )
        try:
            with open(path, encoding="utf-8") as f:
                told = [json.loads(line) for line in f if line.endswith("\n")]
        except FileNotFoundError:
            told = []
    results = [r for r in told if r["state"] != "trying"]
    if finished.code != 0:
        if told and told[-1]["state"] == "trying":
            ended = (
                f"the process was ended by signal {-finished.code}"
                if finished.code < 0
                else f"the process left with exit code {finished.code}"
            )
            results.append({**told[-1], "state": "failed", "kind": "crash", "text": ended})
        else:
            raise EnvironmentBuildError(
                f"The built interpreter {python} does not run: exit code {finished.code}, {finished.output[-300:]!r}."
            )
    return results


def _in_words(one: dict[str, Any]) -> str:
    state = one["state"]
    if state == "ok":
        return f"import {one['module']}: ok{', ' + one['version'] if one['version'] else ''} ({one['seconds']:.1f} s)"
    if state == "failed":
        return f"import {one['module']} ({one['name']}): {_cause(one)}"
    if state == "absent":
        return f"{one['name']}: not installed here (its marker excludes this Python, or another package provides it)"
    return f"{one['name']}: has nothing to import" if state == "nothing" else TORCHVISION


def _cause(one: dict[str, Any]) -> str:
    lines = [line for line in one["text"].strip().splitlines() if line.strip()] or [""]
    return lines[0] if one["kind"] == "crash" else f"{one['kind']}: {lines[0]}"


def _is_binary(one: dict[str, Any]) -> bool:
    own_part = str(one.get("missing") or "").startswith(one["module"] + ".")
    return one["kind"] == "crash" or own_part or bool(_BINARY.search(one["text"]))


def _advice(one: dict[str, Any]) -> str:
    library = re.search(r"(lib[\w+.-]+\.so[\w.]*): cannot open", one["text"])
    if library and one["name"] == "opencv-python":
        return (
            f"{library.group(1)} is a library of the system's desktop; ask for opencv-python-headless, or install it."
        )
    if library:
        return f"Install the system library {library.group(1)}, or ask for a build of '{one['name']}' that does not need it."
    if re.search(r"numpy", one["text"], re.IGNORECASE):
        return "It was made for another numpy: ask for numpy<2, or for a newer version of it."
    return f"Ask for another version of '{one['name']}', one that fits this Python and the packages beside it."
