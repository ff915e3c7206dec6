"""Train PyTorch Model beside torchvision's reference script, a plain loop and Lightning: same network, pictures, batch, threads and epochs.

They take turns; of each the best speed counts, because what else the machine does can only make one slower. The accuracy is that of the best
epoch's model, as all keep it, on pictures that nobody was trained on or chosen by, in the mean of all rounds, each with a seed of its own;
"the same" means within what so few rounds and pictures can tell apart (`tolerated`), and that is printed. Then the loader alone, two
processes beside one, and ONNX Runtime beside PyTorch. `python -m benchmarks vision`, about ten minutes; VISION_PICTURES, VISION_TEST,
VISION_EPOCHS and VISION_SEEDS make it smaller.
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
from benchmarks.result import Result, print_table
from benchmarks.vision_two import two_processes

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = ((500, 375), (1600, 1200))
PICTURES = int(os.environ.get("VISION_PICTURES") or 120)  # of each category, a quarter of them to validate
TEST = int(os.environ.get("VISION_TEST") or 192)  # of each category, beside those
EPOCHS = int(os.environ.get("VISION_EPOCHS") or 8)
SEEDS = int(os.environ.get("VISION_SEEDS") or 2)
MOST_TOLERATED = 0.05  # however much the rounds differ: five points less is less
BATCH, EDGE, RATE = 16, 112, 0.02
PARTS = ("train", "validation", "test")
GOAL, LOADER_GOAL = 1.5, 3.0
REFERENCE, LOADER = "torchvision's reference script", "ImageFolder + DataLoader"


def measure(ws: Any) -> list[Result]:
    missing = [n for n in ("simplejpeg", "onnxruntime", "onnxscript") if importlib.util.find_spec(n) is None]
    if missing:
        print(
            f"{', '.join(missing)} not installed (make bench installs them): slower decoding, or no scoring, is measured"
        )
    results: list[Result] = []
    scores: list[float] = []
    peer_scores: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            rows, ours, theirs = _one_size(os.path.join(folder, str(size[0])), size)
            results += _told(rows)
            scores += ours
            peer_scores += theirs
        results += _told([_same_accuracy(scores, peer_scores)])
        small = os.path.join(folder, str(SIZES[0][0]))
        results += _told(two_processes(small, EDGE, RATE))
        if not {"onnxruntime", "onnxscript"} & set(missing):
            results += _told(_onnx(small))
    return results


def _told(rows: list[Result]) -> list[Result]:
    """Each part as soon as it is known: the whole takes minutes."""
    print_table(rows)
    sys.stdout.flush()
    return rows


def _one_size(folder: str, size: tuple[int, int]) -> tuple[list[Result], list[float], list[float]]:
    """(rows of the table, our top-1 for each seed, the reference's)"""
    _draw(folder, size)
    what = f"{size[0]} × {size[1]} JPEG"
    theirs, ours = [], []
    for seed in range(1, SEEDS + 1):
        theirs.append(_run("vision_reference.py", folder, seed=seed))
        ours.append(_run("vision_ours.py", folder, seed=seed))
    speed, peer = (max(m["images_per_s"] for m in runs) for runs in (ours, theirs))
    scores, peer_scores = ([m["top1"] for m in runs] for runs in (ours, theirs))
    print(f"{what}: top-1 of ours {_shown(scores)}, of the reference {_shown(peer_scores)}", flush=True)
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
    results += [
        _more("  loader alone, first epoch", loader["first_images_per_s"], "images/s", None, peer_later, LOADER),
        _more("  loader alone, later epochs", later, "images/s", peer_later * LOADER_GOAL, peer_later, LOADER),
    ]
    return results, scores, peer_scores


def _same_accuracy(scores: list[float], others: list[float]) -> Result:
    top1, peer, apart = statistics.mean(scores), statistics.mean(others), tolerated(scores, others, 2 * TEST)
    what = f"top-1 on {2 * TEST} other pictures, {len(scores)} rounds, ± {100 * apart:.1f}"
    return _more(what, 100 * top1, "%", 100 * (peer - apart), 100 * peer, REFERENCE)


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


def tolerated(scores: list[float], others: list[float], num_pictures: int) -> float:
    """By how much the means of two that are equally good may differ: two standard errors of the difference, `MOST_TOLERATED` at most.

    Rounds differ by chance, as is seen in the scores themselves; where there are too few to see it in, or they are alike by luck, there is
    still the chance of which pictures were drawn to test on.
    """
    mean, count = statistics.mean([*scores, *others]), len(scores)
    by_picture = math.sqrt(2 * mean * (1 - mean) / (num_pictures * count))
    gains = [one - other for one, other in zip(scores, others)]
    by_round = statistics.stdev(gains) / math.sqrt(count) if count > 2 else 0.0
    return min(MOST_TOLERATED, 2 * max(by_round, by_picture))


def _shown(scores: list[float]) -> str:
    return ", ".join(f"{100 * score:.1f}" for score in scores) + " %"


def _more(what: str, ours: float, unit: str, goal: float | None, peer: float, peer_name: str) -> Result:
    return Result(what, ours, unit, goal, peer, peer_name, more_is_better=True)


def _draw(folder: str, size: tuple[int, int]) -> None:
    """Birds in folders for the reference, and as image directories for us; of each category those to validate, to train and to test."""
    sys.path.insert(0, os.path.join(ROOT, "examples", "birds"))
    from draw_birds import CLASSES, draw_bird

    from rookery_vision import convert_to_image_directory

    for label, name in enumerate(CLASSES):
        for i in range(PICTURES + TEST):
            part = "validation" if i < PICTURES // 4 else "train" if i < PICTURES else "test"
            target = os.path.join(folder, part, name)
            os.makedirs(target, exist_ok=True)
            drawn = draw_bird(random.Random(f"bench-{label}-{i}"), label, 192)
            drawn.resize(size).save(os.path.join(target, f"{i:04d}.jpg"), quality=90)
    for part in PARTS:
        convert_to_image_directory(os.path.join(folder, part), os.path.join(folder, part + "-directory"))


def _run(script: str, folder: str, *more: str, seed: int = 1, python: str = sys.executable) -> dict[str, Any]:
    suffix = "-directory" if "ours" in script else ""
    data = [os.path.join(folder, part + suffix) for part in PARTS]
    path = os.path.join(ROOT, "benchmarks", script)
    return _answer([python, path, *data, *map(str, (EPOCHS, BATCH, EDGE, RATE)), *more], {"VISION_SEED": str(seed)})


def _answer(words: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """The JSON of a program's last line."""
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(words[1])} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]
