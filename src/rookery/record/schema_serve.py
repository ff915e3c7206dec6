"""The tables of endpoints. `schema.py` has the rest; a change here needs a migration as one there does."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Integer, String, Table, Text

from rookery.record.schema import JsonText, metadata

__all__ = ["endpoint_latency", "endpoint_versions", "endpoints", "model_profiles"]

endpoints = Table(
    "endpoints",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),  # local, aci, aks
    Column("state", String(16), nullable=False),
    Column("error", JsonText),
    Column("operation", JsonText, nullable=False),  # what was asked for last, and what became of it
    Column("about", JsonText, nullable=False),  # description, tags, properties
    Column("settings", JsonText, nullable=False),  # address and who may ask; keys are in `secrets`
    Column("requests", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("updated_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

endpoint_versions = Table(
    "endpoint_versions",
    metadata,
    Column("endpoint", String(64), ForeignKey("endpoints.name"), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("traffic", Double, nullable=False),
    Column("is_default", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("error", JsonText),
    Column("last_revision", Integer, nullable=False),
    Column(
        "wanted", JsonText
    ),  # a revision that is to serve: what was asked for, and once it is prepared how it is started
    Column("serving", JsonText),  # the one that does
    Column("about", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("updated_utc", String(27), nullable=False),
)

endpoint_latency = Table(
    "endpoint_latency",
    metadata,
    Column("endpoint", String(64), ForeignKey("endpoints.name"), primary_key=True),
    Column("version", String(64), primary_key=True),
    Column("start", BigInteger, primary_key=True),  # unix seconds, of ten
    Column("data", JsonText, nullable=False),  # counts, sums and a histogram
)

model_profiles = Table(
    "model_profiles",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("error", JsonText),
    Column("asked", JsonText, nullable=False),
    Column("result", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("ended_utc", String(27)),
    Column("created_by", Text, nullable=False),
)
