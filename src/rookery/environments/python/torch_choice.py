"""A wheel of torch in a find-links folder is taken before gigabytes of CUDA that this machine cannot use."""

from __future__ import annotations

import glob
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from rookery.environments.python.interpreters import Interpreter
from rookery.environments.python.versions import allows, release
from rookery.environments.specification.requirement import Requirement, normal_name

__all__ = ["TorchPins", "has_gpu", "pin_torch", "torchvision_of"]

# torch → torchvision. torchaudio has torch's own number from 0.7 on (torch 1.7: 0.7; torch 2.0: 2.0).
TORCHVISION: dict[tuple[int, ...], tuple[int, int]] = {
    (1, 6): (0, 7),
    (1, 7): (0, 8),
    (1, 8): (0, 9),
    (1, 9): (0, 10),
    (1, 10): (0, 11),
    (1, 11): (0, 12),
    (1, 12): (0, 13),
    (1, 13): (0, 14),
    (2, 0): (0, 15),
    (2, 1): (0, 16),
    (2, 2): (0, 17),
    (2, 3): (0, 18),
    (2, 4): (0, 19),
    (2, 5): (0, 20),
    (2, 6): (0, 21),
    (2, 7): (0, 22),
    (2, 8): (0, 23),
    (2, 9): (0, 24),
    (2, 10): (0, 25),
    (2, 11): (0, 26),
    (2, 12): (0, 27),
    (2, 13): (0, 28),
}
_WHEEL = re.compile(r"torch-(?P<version>[^-]+)-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


@dataclass(frozen=True)
class TorchPins:
    """Constraints to try first; without them where nothing fits."""

    constraints: tuple[str, ...] = ()
    note: str = ""


def has_gpu() -> bool:
    """Whether a CUDA device is here, without starting anything."""
    return bool(glob.glob("/dev/nvidia[0-9]*")) or os.path.exists("/proc/driver/nvidia/version")


def torchvision_of(torch_version: str) -> str:
    """The torchvision made for a torch: '2.13.0+cpu' → '0.28'. '' where the table ends."""
    pair = TORCHVISION.get(release(torch_version)[:2])
    return f"{pair[0]}.{pair[1]}" if pair else ""


def pin_torch(
    wanted: Sequence[Requirement], folders: Sequence[str], interpreter: Interpreter, gpu: bool | None = None
) -> TorchPins:
    """Pins for torch and torchvision where a local wheel fits the interpreter and every requirement that
    names one of them.

    Args:
        gpu: whether this machine has a CUDA device; a CPU wheel is not preferred then.
    """
    gpu = has_gpu() if gpu is None else gpu
    by_name: dict[str, list[str]] = {}
    for one in wanted:
        by_name.setdefault(normal_name(one.name), []).append("" if not one.url else "never")
        by_name[normal_name(one.name)].append(one.condition)
    fitting = []
    for version in _wheels(folders, interpreter):
        if gpu and version.partition("+")[2].startswith("cpu"):
            continue
        pair = torchvision_of(version)
        vision_fits = not pair or all(_overlaps(c, pair) for c in by_name.get("torchvision", []))
        if all(allows(c, version) for c in by_name.get("torch", [])) and vision_fits:
            fitting.append(version)
    if not fitting:
        return TorchPins()
    version = max(fitting, key=lambda v: (release(v), v))
    pins = [f"torch=={version}"]
    if torchvision_of(version):
        pins.append(f"torchvision=={torchvision_of(version)}.*")
    return TorchPins(
        tuple(pins),
        f"torch {version} is taken from a find-links folder instead of a larger build from the index.",
    )


def _overlaps(condition: str, pair: str) -> bool:
    """Whether some release of the pair's minor version meets the condition: its patches 0 to 9 are tried."""
    return any(allows(condition, f"{pair}.{patch}") for patch in range(10))


def _wheels(folders: Sequence[str], interpreter: Interpreter) -> list[str]:
    digits = "".join(map(str, interpreter.minor))
    found = []
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            wheel = _WHEEL.fullmatch(unquote(name))
            if wheel is None or not wheel["platform"].endswith(("_" + platform.machine(), "any")):
                continue
            if wheel["python"] in (f"cp{digits}", "py3") and (
                wheel["abi"] in ("none", "abi3") or wheel["abi"] in (f"cp{digits}", f"cp{digits}m")
            ):
                found.append(wheel["version"])
    return found
