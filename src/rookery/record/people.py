"""Users and their tokens. What a token is allowed is its user's role; what roles may is the server's to say."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any, Optional

from sqlalchemy import delete, func, insert, select, update

from rookery.errors import AuthenticationError, ConflictError, NotFoundError, UserError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database
from rookery.record.passwords import check_password, hash_password, is_password
from rookery.record.schema_people import user_tokens, users
from rookery.record.text import clean_text

__all__ = ["ROLES", "Pass", "People"]

ROLES = ("reader", "contributor", "owner")  # each may what those before it may
TOKEN_PREFIX = "rku_"
SESSION_PREFIX = "rks_"
LONGEST_S = 10 * 366 * 24 * 3600.0
TOUCH_S = 60.0  # how exact the time of last use is
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}\Z")
_RESERVED = ("owner", "nobody", "run", "agent", "tracker")


@dataclass(frozen=True)
class Pass:
    """What a token stands for."""

    id: str
    user: str
    role: str
    kind: str  # token, session
    expires_utc: str


Rows = list[dict[str, Any]]


class People:
    """Promises: passwords and tokens are stored as hashes only; a token is known without asking the database, and is unknown
    the moment it, or its user, is removed (this object is the only writer); names are the same in upper and lower case."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._passes: Optional[dict[str, Pass]] = None  # by hash, and by id
        self._used: dict[str, str] = {}  # id → time, not stored yet
        self._stored = 0.0

    # -- users

    def list(self) -> Rows:
        """{name, role, has_password, created_utc, created_by, tokens} by name."""
        tokens = (
            select(user_tokens.c.user_name, func.count().label("n"))
            .where(user_tokens.c.kind == "token", user_tokens.c.expires_utc > utc_now())
            .group_by(user_tokens.c.user_name)
        )
        with self._db.read() as conn:
            counts = {row.user_name: row.n for row in conn.execute(tokens)}
            rows = conn.execute(select(users).order_by(users.c.name)).all()
        return [_plain_user(row, counts.get(row.name, 0)) for row in rows]

    def get(self, name: str) -> dict[str, Any]:
        found = [user for user in self.list() if user["name"].lower() == name.lower()]
        if not found:
            raise NotFoundError(f"User '{name:.80}' does not exist. `rookery user list` shows all.")
        return found[0]

    def count(self) -> int:
        with self._db.read() as conn:
            return conn.execute(select(func.count()).select_from(users)).scalar() or 0

    def add(self, name: str, role: str, password: Optional[str], created_by: str) -> dict[str, Any]:
        _check_name(name)
        _check_role(role)
        stored = None if password is None else hash_password(check_password(password))
        with self._db.write() as tx:
            if tx.conn.execute(select(users.c.name).where(func.lower(users.c.name) == name.lower())).first():
                raise ConflictError(f"User '{name}' exists already. `rookery user role {name} ROLE` changes the role.")
            tx.conn.execute(
                insert(users).values(
                    name=name, role=role, password=stored, created_utc=utc_now(), created_by=clean_text(created_by)
                )
            )
        return self.get(name)

    def change(self, name: str, role: Optional[str] = None, password: Optional[str] = None) -> dict[str, Any]:
        """A new password ends the user's sessions; tokens stay."""
        user = self.get(name)
        values: dict[str, Any] = {}
        if role is not None:
            values["role"] = _check_role(role)
        if password is not None:
            values["password"] = hash_password(check_password(password))
        with self._db.write() as tx:
            if values:
                tx.conn.execute(update(users).where(users.c.name == user["name"]).values(**values))
            if password is not None:
                mine = user_tokens.c.user_name == user["name"]
                tx.conn.execute(delete(user_tokens).where(mine, user_tokens.c.kind == "session"))
        self._forget()
        return self.get(name)

    def remove(self, name: str) -> None:
        """With all tokens and sessions. What the user did stays under the name."""
        user = self.get(name)
        with self._db.write() as tx:
            tx.conn.execute(delete(user_tokens).where(user_tokens.c.user_name == user["name"]))
            tx.conn.execute(delete(users).where(users.c.name == user["name"]))
        self._forget()

    def check_login(self, name: str, password: str) -> dict[str, Any]:
        """The user, or AuthenticationError that does not say which of the two is wrong."""
        with self._db.read() as conn:
            row = conn.execute(select(users).where(func.lower(users.c.name) == name.lower())).first()
        if not is_password(password, row.password if row else None):
            raise AuthenticationError("The name or the password is wrong.")
        assert row is not None
        return _plain_user(row, 0)

    # -- tokens and sessions

    def make_token(self, user: str, name: str, seconds: float, kind: str = "token") -> dict[str, Any]:
        """{…, "token"}: the only time that it is seen."""
        found = self.get(user)
        if not 0 < seconds <= LONGEST_S:
            raise UserError(f"A token is valid for more than nothing and at most {LONGEST_S / 86400:g} days.")
        text = (TOKEN_PREFIX if kind == "token" else SESSION_PREFIX) + secrets.token_urlsafe(32)
        now = time.time()
        row = {
            "id": secrets.token_hex(6),
            "user_name": found["name"],
            "kind": kind,
            "name": clean_text(name)[:255] or kind,
            "hash": _hash(text),
            "created_utc": from_unix(now),
            "expires_utc": from_unix(now + seconds),
            "last_used_utc": None,
        }
        with self._db.write() as tx:
            tx.conn.execute(delete(user_tokens).where(user_tokens.c.expires_utc < from_unix(now - 30 * 86400)))
            tx.conn.execute(
                delete(user_tokens).where(
                    user_tokens.c.kind == "session", user_tokens.c.expires_utc < row["created_utc"]
                )
            )
            tx.conn.execute(insert(user_tokens).values(**row))
        self._forget()
        return {**_plain_token(row), "token": text}

    def tokens(self, user: Optional[str] = None) -> Rows:
        """Tokens, newest first; sessions are not among them."""
        self.store_uses(0)
        query = select(user_tokens).where(user_tokens.c.kind == "token").order_by(user_tokens.c.created_utc.desc())
        if user is not None:
            query = query.where(user_tokens.c.user_name == self.get(user)["name"])
        with self._db.read() as conn:
            return [_plain_token(dict(row._mapping)) for row in conn.execute(query)]

    def revoke(self, token_id: str, user: Optional[str] = None) -> dict[str, Any]:
        """Ends a token or a session, by its id; with `user` only one of theirs."""
        with self._db.write() as tx:
            row = tx.conn.execute(select(user_tokens).where(user_tokens.c.id == token_id)).first()
            if row is None or (user is not None and row.user_name != user):
                raise NotFoundError(f"Token '{token_id:.40}' does not exist. `rookery token list` shows yours.")
            tx.conn.execute(delete(user_tokens).where(user_tokens.c.id == token_id))
        self._forget()
        return _plain_token(dict(row._mapping))

    def find(self, token: str) -> Pass:
        """
        Raises:
            AuthenticationError: no such token, or its time is over.
        """
        return self._valid(self._all().get(_hash(token)))

    def find_pass(self, pass_id: str) -> Pass:
        """The same, by the id of the token or session: for what was given out on the strength of it, and ends with it."""
        return self._valid(self._all().get(pass_id))

    def _valid(self, found: Optional[Pass]) -> Pass:
        now = utc_now()
        if found is None:
            raise AuthenticationError(
                "The token is not known: it was revoked, or belongs to another workspace. `rookery login URL` gets a new one."
            )
        if found.expires_utc <= now:
            raise AuthenticationError(
                f"The token has expired at {found.expires_utc}. `rookery login URL` gets a new one."
                if found.kind == "token"
                else "The session has expired. Log in again."
            )
        self._used[found.id] = now
        return found

    def is_use_waiting(self) -> bool:
        """Whether `store_uses` has something to do; costs nothing."""
        return bool(self._used) and time.monotonic() - self._stored > TOUCH_S

    def store_uses(self, every_s: float = TOUCH_S) -> None:
        """Writes down when tokens were last used, not more often than asked."""
        with self._lock:
            if not self._used or (every_s and time.monotonic() - self._stored < every_s):
                return
            used, self._used = self._used, {}
            self._stored = time.monotonic()
        with self._db.write() as tx:
            for token_id, moment in list(used.items()):
                tx.conn.execute(update(user_tokens).where(user_tokens.c.id == token_id).values(last_used_utc=moment))

    def _all(self) -> dict[str, Pass]:
        known = self._passes
        if known is None:
            query = select(user_tokens, users.c.role).join(users, users.c.name == user_tokens.c.user_name)
            with self._lock, self._db.read() as conn:
                rows = conn.execute(query).all()
                known = {row.hash: Pass(row.id, row.user_name, row.role, row.kind, row.expires_utc) for row in rows}
                known.update({one.id: one for one in list(known.values())})
                self._passes = known
        return known

    def _forget(self) -> None:
        with self._lock:
            self._passes = None
        self._db.bell.ring("people")  # long answers ask again whether their reader is still let in


def _plain_user(row: Any, tokens: int) -> dict[str, Any]:
    return {
        "name": row.name,
        "role": row.role,
        "has_password": row.password is not None,
        "created_utc": row.created_utc,
        "created_by": row.created_by,
        "tokens": tokens,
    }


def _plain_token(row: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "name", "created_utc", "expires_utc", "last_used_utc")
    return {"user": row["user_name"], **{key: row[key] for key in keys}}


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.match(name) or name.lower() in _RESERVED:
        raise UserError(
            f"{name!r:.80} cannot be a user's name: up to 64 letters, digits and . _ - + @, beginning with a letter or digit, "
            f"and none of {', '.join(_RESERVED)}."
        )
    return name


def _check_role(role: object) -> str:
    if role not in ROLES:
        raise UserError(f"Role {role!r:.40} does not exist. Known: {', '.join(ROLES)}.")
    return str(role)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
