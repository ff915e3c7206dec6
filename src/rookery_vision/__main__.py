"""`python -m rookery_vision MODULE …`: runs one module. `python -m rookery_vision` lists them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Optional

from rookery_vision.catalog import find, modules

__all__ = ["main"]


def main(words: Optional[Sequence[str]] = None) -> int:
    from rookery_vision.declare.invoke import run

    given = list(sys.argv[1:] if words is None else words)
    if not given or given[0] in ("-h", "--help"):
        for card in modules():
            print(f"{card.name:<28} {card.help.splitlines()[0]}")
        print("\npython -m rookery_vision MODULE --help")
        return 0
    try:
        card = find(given[0])
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    return run(card, given[1:])


if __name__ == "__main__":
    sys.exit(main())
