"""What `ws.models`, `ws.compute_targets` and their like are: mappings by name that ask when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Callable, Optional

__all__ = ["NamedCollection"]


class NamedCollection(Mapping[str, Any]):
    """A read-only mapping from names to SDK objects.

    Promises: asks nothing until it is used, and then asks anew for every look, so it is never out of date;
    `len`, `in`, iteration, `items()`, `==` and `repr` behave as a dict's; a missing name raises KeyError that
    lists the known ones.
    """

    def __init__(
        self, what: str, names: Callable[[], dict[str, Any]], build: Optional[Callable[[Any], Any]] = None
    ) -> None:
        """`names` gives name → data, newest knowledge; `build` makes the object of one name's data."""
        self._what = what
        self._names = names
        self._build = build or (lambda data: data)

    def __getitem__(self, name: str) -> Any:
        known = self._names()
        if name not in known:
            raise KeyError(f"There is no {self._what} named {name!r}. Known: {', '.join(known) or 'none'}.")
        return self._build(known[name])

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._names()))

    def __len__(self) -> int:
        return len(self._names())

    def items(self) -> Any:
        return self._all().items()

    def values(self) -> Any:
        return self._all().values()

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, Any]:
        return {name: self._build(data) for name, data in self._names().items()}
