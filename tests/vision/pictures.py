"""Pictures and folders for tests, quickly made."""

from __future__ import annotations

import json
import os

from PIL import Image


def save(path, size=(12, 9), color=(200, 30, 30), **more):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Image.new("RGB", size, color).save(path, **more)
    return str(path)


def folder_of(base, counts, suffix=".png", size=(12, 9)):
    """<base>/<category>/<n>.png, as many as `counts` says."""
    for number, (category, count) in enumerate(counts.items()):
        os.makedirs(os.path.join(base, category), exist_ok=True)
        for i in range(count):
            save(os.path.join(base, category, f"{i}{suffix}"), size, (40 * number % 256, 7 * i % 256, 90))
    return str(base)


def read_json(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as f:
        return json.load(f)
