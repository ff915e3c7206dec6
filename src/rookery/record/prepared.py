"""Statements that run thousands of times a second: compiled once per database, then given to the driver as they are.

They are SQLAlchemy's, so they are the same on both databases; what is left out is the work of looking a statement up and of
converting every parameter, which costs several times what SQLite needs to run one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

__all__ = ["Prepared"]


class Prepared:
    """A statement whose parameters are given as tuples, in the order of `names`.

    Values are handed to the driver unchanged: numbers, texts, bytes and None. JSON is text here; the caller has written it.
    """

    def __init__(self, statement: Any, names: Sequence[str]) -> None:
        self._statement, self._names = statement, tuple(names)
        self._compiled: dict[
            str, tuple[str, Any]
        ] = {}  # by the name of the database: the SQL, and the order of its marks

    def run(self, conn: Connection, row: tuple[Any, ...]) -> Any:
        """Once; the result."""
        text, order = self._for(conn)
        return conn.exec_driver_sql(text, self._arranged(order, row))

    def run_many(self, conn: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Once per row, in order."""
        if not rows:
            return
        text, order = self._for(conn)
        conn.exec_driver_sql(text, [self._arranged(order, row) for row in rows])

    def _arranged(self, order: Any, row: tuple[Any, ...]) -> Any:
        if order is None:
            return dict(zip(self._names, row))
        return row if order == () else tuple([row[i] for i in order])

    def _for(self, conn: Connection) -> tuple[str, Any]:
        found = self._compiled.get(conn.dialect.name)
        if found is None:
            compiled = self._statement.compile(dialect=conn.dialect)
            marks = compiled.positiontup
            if sorted(marks if marks is not None else compiled.params) != sorted(self._names):
                raise AssertionError(f"{compiled} has the parameters {compiled.params}, not {self._names}")
            order = None if marks is None else tuple(self._names.index(mark) for mark in marks)
            if order is not None and order == tuple(range(len(order))):
                order = ()
            found = self._compiled[conn.dialect.name] = (str(compiled), order)
        return found
