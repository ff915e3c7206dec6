"""Endpoints as they are wanted and as they are, the histograms of their requests, and profiles of models."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select, update

from rookery.errors import ConflictError, EndpointNotFoundError, NotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.schema_serve import endpoint_latency, endpoint_versions, endpoints, model_profiles
from rookery.record.secrets import Secrets

__all__ = ["Endpoints", "served_snapshots"]

KEEP_S = 7 * 86400  # of numbers
_COLUMNS = (
    "name", "kind", "state", "error", "operation", "about", "settings", "requests", "errors", "created_utc", "updated_utc", "created_by",
)  # fmt: skip


class Endpoints:
    """Promises: a change and the event that tells of it are one transaction; keys are stored sealed."""

    def __init__(self, db: Database, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    def create(self, row: dict[str, Any], version: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
        """
        Raises:
            ConflictError: there is one of that name.
        """
        now = utc_now()
        with self._db.write() as tx:
            if tx.conn.execute(select(endpoints.c.name).where(endpoints.c.name == row["name"])).first():
                raise ConflictError(
                    f"There is an endpoint '{row['name']}' already. Deploy with overwrite=True, update it, or delete it: "
                    f"`rookery endpoints delete {row['name']}`."
                )
            made = {**row, "requests": 0, "errors": 0, "created_utc": now, "updated_utc": now}
            tx.conn.execute(insert(endpoints).values(**made))
            _insert_version(tx, row["name"], version, now)
            self._secrets.write(tx, _owner(row["name"]), keys)
            _tell(tx, row["name"])
            return _load(tx.conn, row["name"])

    def get(self, name: str) -> dict[str, Any]:
        """Its row, with `versions`.

        Raises:
            EndpointNotFoundError
        """
        with self._db.read() as conn:
            return _load(conn, name)

    def all(self) -> list[dict[str, Any]]:
        with self._db.read() as conn:
            names = [name for (name,) in conn.execute(select(endpoints.c.name).order_by(endpoints.c.name))]
            return [_load(conn, name) for name in names]

    def count(self) -> int:
        with self._db.read() as conn:
            return int(conn.execute(select(func.count()).select_from(endpoints)).scalar() or 0)

    def change(self, name: str, values: dict[str, Any], versions: Optional[dict[str, dict[str, Any]]] = None) -> None:
        """Sets columns of the endpoint, and of versions of it. Whoever changes what users see sets `updated_utc` too."""
        with self._db.write() as tx:
            _load(tx.conn, name)
            if values:
                tx.conn.execute(update(endpoints).where(endpoints.c.name == name).values(**values))
            for version, some in (versions or {}).items():
                of_it = (endpoint_versions.c.endpoint == name) & (endpoint_versions.c.name == version)
                tx.conn.execute(update(endpoint_versions).where(of_it).values(**some))
            _tell(tx, name)

    def add_version(self, name: str, version: dict[str, Any]) -> None:
        with self._db.write() as tx:
            _load(tx.conn, name)
            _insert_version(tx, name, version, utc_now())
            _tell(tx, name)

    def remove_version(self, name: str, version: str) -> None:
        with self._db.write() as tx:
            of_it = (endpoint_versions.c.endpoint == name) & (endpoint_versions.c.name == version)
            tx.conn.execute(delete(endpoint_versions).where(of_it))
            _tell(tx, name)

    def delete(self, name: str) -> None:
        with self._db.write() as tx:
            for table in (endpoint_latency, endpoint_versions):
                tx.conn.execute(delete(table).where(table.c.endpoint == name))
            tx.conn.execute(delete(endpoints).where(endpoints.c.name == name))
            self._secrets.write(tx, _owner(name), {})
            write_event(tx, None, "endpoint", {"name": name, "gone": True}, name)

    # -- keys

    def keys(self, name: str) -> dict[str, str]:
        with self._db.read() as conn:
            return self._secrets.read(conn, _owner(name))

    def set_key(self, name: str, which: str, value: str) -> None:
        self._secrets.put(_owner(name), which, value)

    # -- numbers

    def add_numbers(self, name: str, buckets: Iterable[dict[str, Any]], settings: dict[str, Any]) -> None:
        """Histograms of ten seconds, as a front gives them, stored together with the settings that say up to which."""
        with self._db.write() as tx:
            if not tx.conn.execute(select(endpoints.c.name).where(endpoints.c.name == name)).first():
                return
            tx.conn.execute(update(endpoints).where(endpoints.c.name == name).values(settings=settings))
            for bucket in buckets:
                _add_bucket(tx, name, bucket)
            old = int(time.time()) - KEEP_S
            of_it = (endpoint_latency.c.endpoint == name) & (endpoint_latency.c.start < old)
            tx.conn.execute(delete(endpoint_latency).where(of_it))

    def numbers(self, name: str, since: int) -> list[tuple[str, int, dict[str, Any]]]:
        """(version, start, data) from that time on, in order."""
        of_it = (endpoint_latency.c.endpoint == name) & (endpoint_latency.c.start >= since)
        query = select(endpoint_latency).where(of_it).order_by(endpoint_latency.c.version, endpoint_latency.c.start)
        with self._db.read() as conn:
            return [(row.version, row.start, row.data) for row in conn.execute(query)]

    # -- profiles

    def put_profile(self, name: str, values: dict[str, Any]) -> None:
        """Sets columns of a profile; makes it where it is not there."""
        with self._db.write() as tx:
            found = tx.conn.execute(select(model_profiles.c.name).where(model_profiles.c.name == name)).first()
            if found:
                tx.conn.execute(update(model_profiles).where(model_profiles.c.name == name).values(**values))
            else:
                tx.conn.execute(insert(model_profiles).values(name=name, created_utc=utc_now(), **values))

    def profile(self, name: str) -> dict[str, Any]:
        with self._db.read() as conn:
            row = conn.execute(select(model_profiles).where(model_profiles.c.name == name)).first()
        if row is None:
            raise NotFoundError(f"There is no profile '{name:.80}'. Model.profile makes one.")
        return dict(row._mapping)

    def profiles(self) -> list[dict[str, Any]]:
        with self._db.read() as conn:
            rows = conn.execute(select(model_profiles).order_by(model_profiles.c.created_utc.desc()))
            return [dict(row._mapping) for row in rows]


def served_snapshots(conn: Connection) -> set[str]:
    """Source folders that endpoints are made of."""
    query = select(endpoint_versions.c.wanted, endpoint_versions.c.serving)
    some = [one["what"]["inference"] for row in conn.execute(query) for one in row if one]
    return {inference["snapshot_id"] for inference in some if inference}


def _insert_version(tx: Tx, endpoint: str, version: dict[str, Any], now: str) -> None:
    tx.conn.execute(insert(endpoint_versions).values(endpoint=endpoint, **version, created_utc=now, updated_utc=now))


def _add_bucket(tx: Tx, name: str, bucket: dict[str, Any]) -> None:
    place = {"endpoint": name, "version": bucket["version"], "start": int(bucket["start"])}
    data = {key: bucket[key] for key in ("requests", "errors", "run_ms", "queue_ms", "batch", "bins")}
    here = select(endpoint_latency.c.data).where(*(endpoint_latency.c[key] == value for key, value in place.items()))
    found = tx.conn.execute(here).scalar()
    if found is None:
        tx.conn.execute(insert(endpoint_latency).values(**place, data=data))
    else:  # a front that was replaced within these ten seconds
        bins = dict(found["bins"])
        for edge, count in data["bins"].items():
            bins[edge] = bins.get(edge, 0) + count
        data = {key: found[key] + data[key] for key in data if key != "bins"} | {"bins": bins}
        these = (endpoint_latency.c[key] == value for key, value in place.items())
        tx.conn.execute(update(endpoint_latency).where(*these).values(data=data))
    counted = {key: endpoints.c[key] + int(bucket[key]) for key in ("requests", "errors")}
    tx.conn.execute(update(endpoints).where(endpoints.c.name == name).values(**counted))


def _load(conn: Connection, name: str) -> dict[str, Any]:
    row = conn.execute(select(endpoints).where(endpoints.c.name == name)).first()
    if row is None:
        known = [known for (known,) in conn.execute(select(endpoints.c.name).order_by(endpoints.c.name).limit(20))]
        raise EndpointNotFoundError(
            f"There is no endpoint '{name:.80}'. Known: {', '.join(known) or 'none'}. `rookery deploy MODEL` makes one."
        )
    query = select(endpoint_versions).where(endpoint_versions.c.endpoint == name)
    versions = conn.execute(query.order_by(endpoint_versions.c.created_utc, endpoint_versions.c.name))
    return {**{key: getattr(row, key) for key in _COLUMNS}, "versions": [dict(one._mapping) for one in versions]}


def _tell(tx: Tx, name: str) -> None:
    row = tx.conn.execute(select(endpoints.c.state, endpoints.c.operation).where(endpoints.c.name == name)).first()
    if row is not None:
        write_event(tx, None, "endpoint", {"name": name, "state": row.state, "operation": row.operation}, name)


def _owner(name: str) -> str:
    return f"endpoint/{name}"
