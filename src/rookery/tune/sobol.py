"""Sobol's sequence: points that fill a cube evenly, each computed from its number alone.

The direction numbers are those of Joe and Kuo (new-joe-kuo-6.21201) for the first 21 dimensions: for each dimension after the first
the coefficients of a primitive polynomial and the first numbers. The seed shifts all points (XOR), which keeps them evenly spread.
"""

from __future__ import annotations

import hashlib
from functools import cache

__all__ = ["BITS", "DIMENSIONS", "sobol_point"]

BITS = 32
# (degree, inner coefficients of the polynomial, first direction numbers)
_NUMBERS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
    (5, 11, (1, 1, 5, 1, 1)),
    (5, 13, (1, 1, 1, 3, 11)),
    (5, 14, (1, 3, 5, 5, 31)),
    (6, 1, (1, 3, 3, 9, 7, 49)),
    (6, 13, (1, 1, 1, 15, 21, 21)),
    (6, 16, (1, 3, 1, 13, 27, 49)),
    (6, 19, (1, 1, 1, 15, 7, 5)),
    (6, 22, (1, 3, 1, 15, 13, 25)),
    (6, 25, (1, 1, 5, 5, 19, 61)),
    (7, 1, (1, 3, 7, 11, 23, 15, 103)),
    (7, 4, (1, 3, 7, 13, 13, 15, 69)),
)
DIMENSIONS = len(_NUMBERS) + 1


def sobol_point(number: int, dimensions: int, seed: int) -> list[float]:
    """The point with this number (from 0), each coordinate in [0, 1).

    Raises:
        ValueError: more dimensions than there are direction numbers.
    """
    if not 1 <= dimensions <= DIMENSIONS:
        raise ValueError(f"{dimensions} dimensions: 1 to {DIMENSIONS} are allowed.")
    gray = number ^ (number >> 1)
    return [_coordinate(gray, dimension, seed) for dimension in range(dimensions)]


def _coordinate(gray: int, dimension: int, seed: int) -> float:
    value = _shift(seed, dimension)
    for bit, direction in enumerate(_directions(dimension)):
        if gray >> bit & 1:
            value ^= direction
    return value / 2.0**BITS


def _shift(seed: int, dimension: int) -> int:
    return int.from_bytes(hashlib.sha256(f"sobol/{seed}/{dimension}".encode()).digest()[:4], "big")


@cache
def _directions(dimension: int) -> tuple[int, ...]:
    if dimension == 0:
        return tuple(1 << (BITS - 1 - i) for i in range(BITS))
    degree, inner, first = _NUMBERS[dimension - 1]
    numbers = [first[i] << (BITS - 1 - i) for i in range(degree)]
    for i in range(degree, BITS):
        value = numbers[i - degree] ^ (numbers[i - degree] >> degree)
        for k in range(1, degree):
            if inner >> (degree - 1 - k) & 1:
                value ^= numbers[i - k]
        numbers.append(value)
    return tuple(numbers)
