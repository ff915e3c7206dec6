"""Names that v1 has and this version has not yet: they exist, and say so when they are used."""

from __future__ import annotations

from typing import Any, Callable

from rookery.errors import UnsupportedError

__all__ = ["later"]


def later(name: str, instead: str = "") -> Callable[..., Any]:
    """A callable that raises UnsupportedError for `name`."""

    def raise_unsupported(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"{name} does not exist in this version of Rookery yet. {instead}".rstrip())

    raise_unsupported.__name__ = name.rpartition(".")[2]
    raise_unsupported.__doc__ = f"Not in this version yet: raises UnsupportedError. {instead}".rstrip()
    return raise_unsupported
