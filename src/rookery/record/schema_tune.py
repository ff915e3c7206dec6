"""The tables of tunings."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Integer, String, Table, Text

from rookery.record.schema import JsonText, metadata

__all__ = ["trials"]

trials = Table(
    "trials",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),  # of the tuning
    Column("number", Integer, primary_key=True),
    Column("child_id", String(255), nullable=False),  # there only once its child was made
    Column("parameters", JsonText, nullable=False),
    Column("phase", String(16), nullable=False),
    Column("status", String(32), nullable=False),
    Column("stopped", Text, nullable=False),
    Column("judged", Integer, nullable=False),
    Column("resumed_from", String(255), nullable=False),
    # Of the primary metric, as far as it was read: for lists and tables.
    Column("total", Integer, nullable=False),
    Column("best", Double),
    Column("best_at", Integer),  # which value was it, from 1
    Column("last", Double),
)
