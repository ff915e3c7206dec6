"""`python -m rookery_tabular MODULE …`: runs one module, as `python -m rookery_vision` does; both know all of them."""

from __future__ import annotations

import sys

from rookery_vision.__main__ import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
