"""How much a data set from outside may ask for. Each limit can be set by a variable of the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from rookery_vision.errors import ParameterParsingError

__all__ = ["Limits"]

PREFIX = "ROOKERY_VISION_MAX_"


@dataclass(frozen=True)
class Limits:
    """What is refused beyond."""

    entries: int = 5_000_000  # files in an archive
    unpacked_bytes: int = 2 * 1024**4  # what comes out of an archive
    ratio: int = 200  # what comes out, as a multiple of the archive's size; counts beyond 100 MB
    pixels: int = 89_478_485  # width × height of a picture: Pillow's own limit

    RATIO_FREE_BYTES = 100 * 1024**2

    @classmethod
    def from_environment(cls) -> Limits:
        """The defaults, or what `ROOKERY_VISION_MAX_ENTRIES`, `…_UNPACKED_BYTES`, `…_RATIO`, `…_PIXELS` say."""
        found = {}
        for field in fields(cls):
            given = os.environ.get(PREFIX + field.name.upper(), "").strip()
            if not given:
                continue
            if not given.isdigit() or int(given) == 0:
                raise ParameterParsingError(
                    f"{PREFIX}{field.name.upper()} is {given!r}. Allowed: a whole number above 0."
                )
            found[field.name] = int(given)
        return cls(**found)

    def unpacked_for(self, archive_bytes: int) -> int:
        """How many bytes may come out of an archive of this size."""
        return min(self.unpacked_bytes, max(self.RATIO_FREE_BYTES, archive_bytes * self.ratio))
