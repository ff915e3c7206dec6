"""Webhooks: who wants to be told of what, and every delivery with what became of it. Sending is the server's."""

from __future__ import annotations

import secrets
from typing import Any, Optional
from urllib.parse import urlsplit

from sqlalchemy import delete, func, insert, select, update

from rookery.errors import NotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.schema import events, runs
from rookery.record.schema_people import webhook_deliveries, webhooks
from rookery.record.sealing import Sealer
from rookery.record.text import clean_text

__all__ = ["EVENTS", "Webhooks"]

# What can be asked for, and the row of the table `events` that it comes from.
_OF_STATUS = {
    "Queued": "run.queued",
    "Running": "run.running",
    "Completed": "run.completed",
    "Failed": "run.failed",
    "Canceled": "run.canceled",
    "NotResponding": "run.not_responding",
}
EVENTS = (*_OF_STATUS.values(), "model.registered")
PING = "ping"
KINDS = ("status", "model")
KEEP_ENDED = 1000
PAGE = 1000
_RUN = ("id", "number", "display_name", "kind", "parent_id", "submitted_by", "started_utc", "ended_utc")


Rows = list[dict[str, Any]]


class Webhooks:
    """Promises: an event becomes a delivery of every webhook that asks for it exactly once, whatever is killed when; a secret
    is stored encrypted and shown once."""

    def __init__(self, db: Database, secret: bytes) -> None:
        self._db = db
        self._sealer = Sealer(secret)

    def add(self, url: str, wanted: list[str], created_by: str) -> dict[str, Any]:
        """{…, "secret"}: the only time that it is seen. Events from now on."""
        _check_url(url)
        unknown = [event for event in wanted if event not in EVENTS]
        if unknown or not wanted:
            given = f"Event {unknown[0]!r:.60} does not exist" if unknown else "No events were given"
            raise UserError(f"{given}. Known: {', '.join(EVENTS)}.")
        hook, secret = secrets.token_hex(6), "whs_" + secrets.token_urlsafe(32)
        with self._db.write() as tx:
            row = {
                "id": hook,
                "url": clean_text(url, "The address", 2000),
                "events": list(dict.fromkeys(wanted)),
                "sealed": self._sealer.seal(_place(hook), secret),
                "seen_seq": tx.conn.execute(select(func.max(events.c.seq))).scalar() or 0,
                "created_utc": utc_now(),
                "created_by": clean_text(created_by),
            }
            tx.conn.execute(insert(webhooks).values(**row))
            tx.ring("webhooks")
        return {**self.get(hook), "secret": secret}

    def list(self) -> Rows:
        with self._db.read() as conn:
            rows = conn.execute(select(webhooks).order_by(webhooks.c.created_utc)).all()
            states = webhook_deliveries.c.webhook_id, webhook_deliveries.c.state
            counted = {
                (hook, state): n for hook, state, n in conn.execute(select(*states, func.count()).group_by(*states))
            }
        return [_plain(row, counted) for row in rows]

    def get(self, hook: str) -> dict[str, Any]:
        found = [one for one in self.list() if one["id"] == hook]
        if not found:
            raise NotFoundError(f"Webhook '{hook:.40}' does not exist. `rookery webhook list` shows all.")
        return found[0]

    def remove(self, hook: str) -> None:
        self.get(hook)
        with self._db.write() as tx:
            tx.conn.execute(delete(webhook_deliveries).where(webhook_deliveries.c.webhook_id == hook))
            tx.conn.execute(delete(webhooks).where(webhooks.c.id == hook))

    def ping(self, hook: str) -> dict[str, Any]:
        """A delivery that tells of nothing, to try the way."""
        self.get(hook)
        with self._db.write() as tx:
            _enqueue(tx, hook, PING, {"words": "Rookery reaches you."}, utc_now())
            tx.ring("webhooks")
        return self.deliveries(hook, 1)[0]

    def again(self, hook: str, delivery: int) -> dict[str, Any]:
        """Sends one again, whatever became of it."""
        with self._db.write() as tx:
            mine = (webhook_deliveries.c.id == delivery) & (webhook_deliveries.c.webhook_id == hook)
            changed = (
                update(webhook_deliveries)
                .where(mine)
                .values(state="waiting", tries=0, next_utc=utc_now(), ended_utc=None)
            )
            if tx.conn.execute(changed).rowcount == 0:
                raise NotFoundError(f"Webhook '{hook:.40}' has no delivery {delivery}.")
            tx.ring("webhooks")
        return next(one for one in self.deliveries(hook, KEEP_ENDED) if one["id"] == delivery)

    def deliveries(self, hook: str, limit: int = 100) -> Rows:
        """Newest first."""
        self.get(hook)
        mine = webhook_deliveries.c.webhook_id == hook
        query = (
            select(webhook_deliveries)
            .where(mine)
            .order_by(webhook_deliveries.c.id.desc())
            .limit(max(1, min(limit, 1000)))
        )
        with self._db.read() as conn:
            return [dict(row._mapping) for row in conn.execute(query)]

    # -- for the sender

    def count(self) -> int:
        with self._db.read() as conn:
            return conn.execute(select(func.count()).select_from(webhooks)).scalar() or 0

    def collect(self) -> int:
        """Makes deliveries of the events that are new; how many."""
        made = 0
        with self._db.write() as tx:
            hooks = tx.conn.execute(select(webhooks)).all()
            if not hooks:
                return 0
            last = tx.conn.execute(select(func.max(events.c.seq))).scalar() or 0
            first = min(hook.seen_seq for hook in hooks)
            new = (events.c.seq > first) & (events.c.seq <= last) & events.c.kind.in_(KINDS)
            rows = tx.conn.execute(select(events).where(new).order_by(events.c.seq).limit(PAGE)).all()
            if len(rows) == PAGE:
                last = rows[-1].seq
                tx.ring("webhooks")
            now = utc_now()
            for row in rows:
                event, data = _told(tx, row)
                for hook in hooks:
                    if event is not None and event in hook.events and row.seq > hook.seen_seq:
                        _enqueue(tx, hook.id, event, data, now)
                        made += 1
            if last > first:
                tx.conn.execute(update(webhooks).where(webhooks.c.seen_seq < last).values(seen_seq=last))
            if made:
                _prune(tx)
        return made

    def due(self, limit: int) -> Rows:
        """Deliveries to send now, the oldest first, each with `url` and `secret`."""
        query = (
            select(webhook_deliveries, webhooks.c.url, webhooks.c.sealed)
            .join(webhooks, webhooks.c.id == webhook_deliveries.c.webhook_id)
            .where(webhook_deliveries.c.state == "waiting", webhook_deliveries.c.next_utc <= utc_now())
            .order_by(webhook_deliveries.c.id)
            .limit(limit)
        )
        with self._db.read() as conn:
            rows = [dict(row._mapping) for row in conn.execute(query)]
        for row in rows:
            row["secret"] = self._sealer.open(_place(row["webhook_id"]), row.pop("sealed"))
        return rows

    def next_utc(self) -> Optional[str]:
        """When the next delivery is to be sent; None: none is waiting."""
        with self._db.read() as conn:
            waiting = webhook_deliveries.c.state == "waiting"
            return conn.execute(select(func.min(webhook_deliveries.c.next_utc)).where(waiting)).scalar()

    def tried(self, delivery: int, answer: Optional[int], error: str, next_utc: Optional[str]) -> None:
        """One try is over. No error: delivered. Else it waits until `next_utc`; None: it is given up."""
        state = "delivered" if not error else "waiting" if next_utc else "failed"
        values: dict[str, Any] = {"state": state, "answer": answer, "error": clean_text(error)[:1000]}
        values["ended_utc"] = None if state == "waiting" else utc_now()
        if next_utc:
            values["next_utc"] = next_utc
        with self._db.write() as tx:
            tx.conn.execute(
                update(webhook_deliveries)
                .where(webhook_deliveries.c.id == delivery)
                .values(tries=webhook_deliveries.c.tries + 1, **values)
            )


def _told(tx: Tx, row: Any) -> tuple[Optional[str], dict[str, Any]]:
    """(the event's name, what is sent of it)."""
    if row.kind == "model":
        return (None if "change" in row.data else "model.registered"), row.data
    event = _OF_STATUS.get(row.data.get("status"))
    found = tx.conn.execute(select(runs).where(runs.c.id == row.run_id)).first() if event else None
    about = {key: getattr(found, key) for key in _RUN} if found else {"id": row.run_id}
    cause = row.data.get("error") or {}
    return event, {
        "run": {
            **about,
            "status": row.data.get("status"),
            "reason": row.data.get("reason"),
            "attempt": row.data.get("attempt"),
        },
        "error": {key: cause.get(key) for key in ("kind", "summary", "node", "rank", "exit_code")} if cause else None,
        "time": row.data.get("time"),
    }


def _enqueue(tx: Tx, hook: str, event: str, data: dict[str, Any], now: str) -> None:
    tx.conn.execute(
        insert(webhook_deliveries).values(
            webhook_id=hook,
            event=event,
            payload=data,
            state="waiting",
            tries=0,
            next_utc=now,
            error="",
            created_utc=now,
        )
    )


def _prune(tx: Tx) -> None:
    """Of those that are over, the newest stay."""
    last = tx.conn.execute(select(func.max(webhook_deliveries.c.id))).scalar() or 0
    old = (webhook_deliveries.c.id <= last - KEEP_ENDED) & (webhook_deliveries.c.state != "waiting")
    tx.conn.execute(delete(webhook_deliveries).where(old))


def _plain(row: Any, counted: dict[tuple[str, str], int]) -> dict[str, Any]:
    numbers = {state: counted.get((row.id, state), 0) for state in ("waiting", "delivered", "failed")}
    keys = ("id", "url", "events", "created_utc", "created_by")
    return {**{key: getattr(row, key) for key in keys}, "deliveries": numbers}


def _check_url(url: object) -> None:
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        is_fine = (
            parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        )
    except ValueError:
        is_fine = False
    if not is_fine or not str(url).isprintable() or " " in str(url):
        raise UserError(f"{url!r:.200} cannot be told anything: an address has the form https://host/path.")


def _place(hook: str) -> str:
    return f"webhook/{hook}"
