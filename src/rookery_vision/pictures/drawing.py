"""Pictures of two kinds of birds, drawn on the spot: a data set for samples that needs no network. The same seed, the same pictures."""

from __future__ import annotations

import math
import os
import random
from typing import Any

__all__ = ["KINDS", "draw_pictures"]

KINDS = ("chickens", "turkeys")
Colour = tuple[int, int, int]
PLUMAGE: tuple[Colour, ...] = ((245, 240, 228), (196, 132, 66), (120, 72, 40), (66, 48, 40), (168, 90, 52))
SKIES: tuple[Colour, ...] = ((150, 200, 240), (235, 225, 200), (205, 215, 220), (120, 150, 180))
GROUNDS: tuple[Colour, ...] = ((104, 146, 70), (168, 142, 96), (136, 120, 100), (84, 104, 60))


def draw_pictures(folder: str, count: int, size: int, seed: int) -> int:
    """Writes `folder/{chickens,turkeys}/NNN.jpg`, `count` of each; returns how many there are."""
    for label, kind in enumerate(KINDS):
        os.makedirs(os.path.join(folder, kind))
        for i in range(count):
            picture = _bird(random.Random(f"{seed}-{kind}-{i}"), label, size)
            picture.save(os.path.join(folder, kind, f"{i:03d}.jpg"), quality=88)
    return count * len(KINDS)


def _bird(rng: random.Random, label: int, size: int) -> Any:
    """Colours, places and light tell nothing: a turkey has a fan, a chicken a comb and a short tail."""
    from PIL import Image, ImageDraw

    big = size * 2  # drawn large and scaled down, which smooths the edges
    picture = Image.new("RGB", (big, big), _shade(rng.choice(SKIES), rng))
    draw = ImageDraw.Draw(picture)
    draw.rectangle([0, big * rng.uniform(0.4, 0.7), big, big], fill=_shade(rng.choice(GROUNDS), rng))
    scale = big * rng.uniform(0.22, 0.3)
    x, y = big * rng.uniform(0.4, 0.6), big * rng.uniform(0.5, 0.62)
    body = _shade(rng.choice(PLUMAGE), rng)
    dark: Colour = (int(body[0] * 0.6), int(body[1] * 0.6), int(body[2] * 0.6))
    if label:
        feathers, span, reach = rng.randint(9, 13), rng.uniform(150, 200), rng.uniform(1.25, 1.6)
        angles = [250 - span / 2 + span * i / (feathers - 1) for i in range(feathers)]
    else:
        reach = rng.uniform(0.55, 0.8)
        angles = [200 + i * 13 for i in range(rng.randint(3, 5))]
    for angle in angles:
        _feather(draw, x - scale * 0.4, y - scale * 0.1, math.radians(angle), scale * reach, scale * 0.16, dark)
    for side in (-0.2, 0.2):
        draw.line(
            [(x + side * scale, y), (x + side * scale, y + scale * 1.15)],
            fill=(222, 160, 60),
            width=max(2, int(scale * 0.07)),
        )
    _ellipse(draw, x, y, scale, scale * 0.75, body)
    head_x, head_y = x + scale * 0.85, y - scale * rng.uniform(0.7, 1.0)
    draw.line([(x + scale * 0.5, y - scale * 0.2), (head_x, head_y)], fill=body, width=int(scale * 0.3))
    if not label:
        for i in range(3):
            _ellipse(
                draw,
                head_x - scale * 0.14 + i * scale * 0.13,
                head_y - scale * 0.26,
                scale * 0.09,
                scale * 0.13,
                (206, 38, 34),
            )
    _ellipse(draw, head_x, head_y, scale * 0.24, scale * 0.23, body)
    _ellipse(draw, head_x + scale * 0.07, head_y - scale * 0.05, scale * 0.05, scale * 0.05, (15, 12, 10))
    if rng.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    light = rng.uniform(0.75, 1.2)
    picture = picture.resize((size, size), Image.Resampling.LANCZOS)
    return picture.point([min(255, int(v * light)) for v in range(256)] * 3)


def _feather(draw: Any, x: float, y: float, angle: float, length: float, width: float, colour: Colour) -> None:
    tip = (x + math.cos(angle) * length, y + math.sin(angle) * length)
    side = (math.cos(angle + math.pi / 2) * width, math.sin(angle + math.pi / 2) * width)
    draw.polygon([(x, y), (tip[0] - side[0], tip[1] - side[1]), (tip[0] + side[0], tip[1] + side[1])], fill=colour)
    _ellipse(draw, tip[0], tip[1], width, width, colour)


def _ellipse(draw: Any, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
    draw.ellipse([x - rx, y - ry, x + rx, y + ry], fill=colour)


def _shade(colour: Colour, rng: random.Random) -> Colour:
    r, g, b = (max(0, min(255, int(c * rng.uniform(0.86, 1.14)))) for c in colour)
    return r, g, b
