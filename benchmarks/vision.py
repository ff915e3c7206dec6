"""Train PyTorch Model beside torchvision's reference script, a plain loop and Lightning: same network, pictures, batch, threads and epochs.

They take turns; of each the best speed counts, because what else the machine does can only make one slower. The accuracy is that of the best
epoch, as all keep it, in the mean of the rounds, each with a seed of its own. Then the loader alone, two processes beside one, and ONNX
Runtime beside PyTorch. `python -m benchmarks vision`, about ten minutes; VISION_PICTURES and VISION_EPOCHS make it smaller.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.lightning_env import ensure_lightning
from benchmarks.result import Result
from benchmarks.vision_two import two_processes

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = ((500, 375), (1600, 1200))
PICTURES = int(os.environ.get("VISION_PICTURES") or 120)  # of each category, a quarter of them to validate
EPOCHS = int(os.environ.get("VISION_EPOCHS") or 8)
ROUNDS = 2
BATCH, EDGE, RATE = 16, 112, 0.02
GOAL, LOADER_GOAL = 1.5, 3.0
REFERENCE, LOADER = "torchvision's reference script", "ImageFolder + DataLoader"


def measure(ws: Any) -> list[Result]:
    missing = [n for n in ("simplejpeg", "onnxruntime", "onnxscript") if importlib.util.find_spec(n) is None]
    if missing:
        print(
            f"{', '.join(missing)} not installed (make bench installs them): slower decoding, or no scoring, is measured"
        )
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            results += _one_size(os.path.join(folder, str(size[0])), size)
        small = os.path.join(folder, str(SIZES[0][0]))
        results += two_processes(small, BATCH, EDGE, RATE)
        if not {"onnxruntime", "onnxscript"} & set(missing):
            results += _onnx(small)
    return results


def _one_size(folder: str, size: tuple[int, int]) -> list[Result]:
    _draw(folder, size)
    what = f"{size[0]} × {size[1]} JPEG"
    theirs, ours = [], []
    for seed in range(1, ROUNDS + 1):
        theirs.append(_run("vision_reference.py", folder, seed=seed))
        ours.append(_run("vision_ours.py", folder, seed=seed))
    speed, peer = (max(m["images_per_s"] for m in runs) for runs in (ours, theirs))
    top1, peer_top1 = (statistics.mean(m["top1"] for m in runs) for runs in (ours, theirs))
    loader, peer_loader = _run("vision_ours.py", folder, "loader"), _run("vision_reference.py", folder, "loader")
    later, peer_later = loader["images_per_s"], peer_loader["images_per_s"]
    results = [_more(f"training, {what}", speed, "images/s", peer * GOAL, peer, REFERENCE)]
    if size == SIZES[0]:
        plain = _run("vision_plain.py", folder)["images_per_s"]
        lightning = _run("vision_lightning.py", folder, python=ensure_lightning())["images_per_s"]
        results += [
            _more("  the same, beside a plain loop", speed, "images/s", plain * GOAL, plain, "a plain PyTorch loop"),
            _more(
                "  the same, beside Lightning", speed, "images/s", lightning * GOAL, lightning, "Lightning's Trainer"
            ),
        ]
    lowest = peer_top1 - _chance(peer_top1)
    return [
        *results,
        _more("  its best top-1, mean of the seeds", 100 * top1, "%", 100 * lowest, 100 * peer_top1, REFERENCE),
        _more("  loader alone, first epoch", loader["first_images_per_s"], "images/s", None, peer_later, LOADER),
        _more("  loader alone, later epochs", later, "images/s", peer_later * LOADER_GOAL, peer_later, LOADER),
    ]


def _onnx(folder: str) -> list[Result]:
    words = [sys.executable, os.path.join(ROOT, "benchmarks", "vision_onnx.py"), folder + "/validation-directory"]
    found = _answer(words, {})
    return [
        _more(
            f"scoring, ResNet-18, {size} at once",
            found[f"onnx_{size}"],
            "images/s",
            found[f"eager_{size}"],
            found[f"eager_{size}"],
            "PyTorch, eager",
        )
        for size in (1, 8)
    ]


def _chance(top1: float) -> float:
    """What two that are equally good may differ by: two standard errors of the difference of two such means."""
    return 2 * math.sqrt(2 * max(top1 * (1 - top1), 0.01) / (PICTURES // 4 * 2 * ROUNDS))


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


def _run(script: str, folder: str, *more: str, seed: int = 1, python: str = sys.executable) -> dict[str, Any]:
    suffix = "-directory" if "ours" in script else ""
    data = [os.path.join(folder, part + suffix) for part in ("train", "validation")]
    path = os.path.join(ROOT, "benchmarks", script)
    return _answer([python, path, *data, *map(str, (EPOCHS, BATCH, EDGE, RATE)), *more], {"VISION_SEED": str(seed)})


def _answer(words: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """The JSON of a program's last line."""
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(words[1])} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]
