"""Pictures of many categories, drawn: shapes in textures, each in its inks, of many sizes, turns and places, on noise of any colour; two sets without a shape in common."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy
from PIL import Image, ImageDraw

__all__ = ["CATEGORIES", "OTHERS", "draw", "write_folders"]

TURN, PLACE = (
    0.3,
    0.1,
)  # how far from upright and from the middle: as much as a small network can learn from a few hundred pictures
INKS = {
    "plain": ((220, 60, 50), (220, 60, 50)),
    "stripes": ((40, 90, 220), (235, 235, 235)),
    "checks": ((30, 160, 70), (240, 220, 60)),
    "dots": ((150, 50, 180), (250, 170, 60)),
}
SHADE = 40  # every picture has its own shade of them
TEXTURES = tuple(INKS)
CORNERS = {"triangle": 3, "square": 4, "hexagon": 6, "pentagon": 5, "octagon": 8}
POINTS = {"star": 5, "spark": 4, "wheel": 9}
CATEGORIES = tuple(f"{s}-{t}" for s in ("triangle", "square", "hexagon", "star", "cross", "ring") for t in TEXTURES)
OTHERS = tuple(f"{s}-{t}" for s in ("pentagon", "octagon", "spark", "wheel", "bar", "disc") for t in TEXTURES)


def write_folders(folder: str, each: int, edge: int, seed: int, categories: tuple[str, ...] = CATEGORIES) -> str:
    """<folder>/<category>/<n>.jpg, `each` of every category."""
    for place, category in enumerate(categories):
        os.makedirs(os.path.join(folder, category))
        for number in range(each):
            chance = numpy.random.default_rng((seed, place, number))
            draw(category, edge, chance).save(os.path.join(folder, category, f"{number:03d}.jpg"), quality=90)
    return folder


def draw(category: str, edge: int, chance: numpy.random.Generator) -> Any:
    shape, texture = category.split("-")
    mask = _mask(shape, edge, chance)
    ink, second = (numpy.array(color) + chance.integers(-SHADE, SHADE + 1, 3) for color in INKS[texture])
    ground = chance.integers(0, 256, 3)
    while numpy.abs(ground - ink).sum() < 200:  # or nobody could see it
        ground = chance.integers(0, 256, 3)
    pattern = _pattern(texture, edge, chance)[..., None]
    inside = numpy.where(pattern, ink, second)
    picture = numpy.where(mask[..., None], inside, ground) + chance.normal(0, 15, (edge, edge, 3))
    return Image.fromarray(picture.clip(0, 255).astype(numpy.uint8))


def _mask(shape: str, edge: int, chance: numpy.random.Generator) -> Any:
    size = edge * chance.uniform(0.28, 0.45)
    x, y = edge / 2 + chance.uniform(-PLACE, PLACE, 2) * edge
    turn = chance.uniform(-TURN, TURN)
    picture = Image.new("1", (edge, edge))
    pen = ImageDraw.Draw(picture)
    if shape in ("ring", "disc"):
        pen.ellipse((x - size, y - size, x + size, y + size), fill=1)
        hole = size * chance.uniform(0.35, 0.55) if shape == "ring" else 0
        pen.ellipse((x - hole, y - hole, x + hole, y + hole), fill=int(shape == "disc"))
        return numpy.asarray(picture)
    if shape in ("cross", "bar"):
        return _beams(picture, pen, x, y, size, [turn] if shape == "bar" else [turn, turn + math.pi / 2])
    points = POINTS.get(shape, 0)
    radii = [size, size * 0.42] * points if points else [size] * CORNERS[shape]
    angles = [turn + 2 * math.pi * i / len(radii) for i in range(len(radii))]
    pen.polygon([(x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(radii, angles)], fill=1)
    return numpy.asarray(picture)


def _beams(picture: Any, pen: Any, x: float, y: float, size: float, turns: list[float]) -> Any:
    for turn in turns:
        c, s, thick = math.cos(turn), math.sin(turn), 0.28 * size
        ends = ((size, thick), (size, -thick), (-size, -thick), (-size, thick))
        pen.polygon([(x + a * c - b * s, y + a * s + b * c) for a, b in ends], fill=1)
    return numpy.asarray(picture)


def _pattern(texture: str, edge: int, chance: numpy.random.Generator) -> Any:
    """True where the first ink is."""
    rows, columns = numpy.mgrid[0:edge, 0:edge].astype(float)
    turn, period = math.pi / 6 + chance.uniform(-TURN, TURN), edge * chance.uniform(0.11, 0.15)
    u = (columns * math.cos(turn) + rows * math.sin(turn)) / period
    v = (rows * math.cos(turn) - columns * math.sin(turn)) / period
    if texture == "plain":
        return numpy.ones((edge, edge), dtype=bool)
    if texture == "stripes":
        return u % 1 < 0.5
    if texture == "checks":
        return (u % 1 < 0.5) ^ (v % 1 < 0.5)
    return ((u % 1 - 0.5) ** 2 + (v % 1 - 0.5) ** 2) < 0.09
