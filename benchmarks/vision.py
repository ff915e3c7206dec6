"""Train PyTorch Model beside torchvision's reference script: same network, pictures, batch, threads and epochs, on JPEGs of two sizes.

The two take turns; of each the best speed counts, because what else the machine does can only make one slower. The accuracy is that of
the best epoch, as both keep it. `python -m benchmarks vision`; VISION_PICTURES and VISION_EPOCHS make it smaller.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.result import Result

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = ((500, 375), (1600, 1200))
PICTURES = int(os.environ.get("VISION_PICTURES") or 120)  # of each category, a quarter of them to validate
EPOCHS = int(os.environ.get("VISION_EPOCHS") or 8)
ROUNDS = 2
BATCH, EDGE, RATE = 16, 112, 0.02
GOAL, LOADER_GOAL = 1.5, 3.0


def measure(ws: Any) -> list[Result]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            results += _one_size(os.path.join(folder, str(size[0])), size)
    return results


def _one_size(folder: str, size: tuple[int, int]) -> list[Result]:
    _draw(folder, size)
    what = f"{size[0]} × {size[1]} JPEG"
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(_run("vision_reference.py", folder))
        ours.append(_run("vision_ours.py", folder))
    speed, peer = (max(m["images_per_s"] for m in runs) for runs in (ours, theirs))
    top1, peer_top1 = (max(m["top1"] for m in runs) for runs in (ours, theirs))
    loader, peer_loader = _run("vision_ours.py", folder, "loader"), _run("vision_reference.py", folder, "loader")
    reference = "torchvision's reference script"
    return [
        _more(f"training, {what}", speed, "images/s", peer * GOAL, peer, reference),
        _more("  its best top-1", 100 * top1, "%", 100 * (peer_top1 - _chance(peer_top1)), 100 * peer_top1, reference),
        _more(
            "  loader alone, first epoch",
            loader["first_images_per_s"],
            "images/s",
            None,
            peer_loader["images_per_s"],
            "ImageFolder + DataLoader",
        ),
        _more(
            "  loader alone, later epochs",
            loader["images_per_s"],
            "images/s",
            peer_loader["images_per_s"] * LOADER_GOAL,
            peer_loader["images_per_s"],
            "ImageFolder + DataLoader",
        ),
    ]


def _chance(top1: float) -> float:
    """What two trainings that are equally good may differ by: two standard errors of an accuracy on so many pictures."""
    return 2 * math.sqrt(max(top1 * (1 - top1), 0.01) / (PICTURES // 4 * 2))


def _more(what: str, ours: float, unit: str, goal: float | None, peer: float, peer_name: str) -> Result:
    return Result(what, ours, unit, goal, peer, peer_name, more_is_better=True)


def _draw(folder: str, size: tuple[int, int]) -> None:
    """Birds in folders for the reference, and as image directories for us."""
    sys.path.insert(0, os.path.join(ROOT, "examples", "birds"))
    from draw_birds import CLASSES, draw_bird

    from rookery_vision import convert_to_image_directory

    for label, name in enumerate(CLASSES):
        for i in range(PICTURES):
            part = "validation" if i < PICTURES // 4 else "train"
            target = os.path.join(folder, part, name)
            os.makedirs(target, exist_ok=True)
            drawn = draw_bird(random.Random(f"bench-{label}-{i}"), label, 192)
            drawn.resize(size).save(os.path.join(target, f"{i:04d}.jpg"), quality=90)
    for part in ("train", "validation"):
        convert_to_image_directory(os.path.join(folder, part), os.path.join(folder, part + "-directory"))


def _run(script: str, folder: str, *more: str) -> dict[str, Any]:
    suffix = "-directory" if "ours" in script else ""
    data = [os.path.join(folder, part + suffix) for part in ("train", "validation")]
    words = [
        sys.executable,
        os.path.join(ROOT, "benchmarks", script),
        *data,
        *map(str, (EPOCHS, BATCH, EDGE, RATE)),
        *more,
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]
