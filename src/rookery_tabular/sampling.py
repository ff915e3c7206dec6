"""A made-up table: houses and what they were sold for."""

from __future__ import annotations

import random
from typing import Any

from rookery_tabular.frames import Frame, write_frame

__all__ = ["make_houses"]

TOWNS = {"Ahrensburg": 1.25, "Bonn": 1.4, "Kiel": 1.0, "Ulm": 1.1}


def make_houses(folder: str, rows: int, seed: int) -> None:
    """The price follows from the rest, but for chance; every twentieth value or so is missing."""
    import pandas

    chance = random.Random(seed)
    houses: list[dict[str, Any]] = []
    for _ in range(rows):
        area = round(abs(chance.gauss(120, 35)) + 30, 1)
        year, town = chance.randint(1900, 2025), chance.choice(sorted(TOWNS))
        garden = chance.random() < 0.6
        price = (area * 2500 + (year - 1900) * 800 + garden * 30_000) * TOWNS[town] * chance.gauss(1, 0.05)
        house: dict[str, Any] = {
            "area": area,
            "rooms": max(1, round(area / 28)),
            "year": year,
            "town": town,
            "garden": garden,
        }
        for name in ("area", "year", "town"):
            if chance.random() < 0.05:
                house[name] = None
        houses.append({**house, "price": round(price, -2)})
    write_frame(folder, Frame(pandas.DataFrame(houses)))
