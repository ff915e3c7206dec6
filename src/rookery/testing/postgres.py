"""A real PostgreSQL for tests: a cluster of its own in a temporary folder, on a unix socket and a loopback port."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator

from rookery.testing.debian import ensure_programs

__all__ = ["PostgresServer", "postgres_server"]

START_S = 120
_OPTIONS = (
    "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200 "
    "-c shared_buffers=32MB -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c port={port}"
)

# Rows of all tables but the one that says which schema this is, and counters. Whoever is still connected has lost, and is gone before
# anybody looks. Only what has rows is emptied: PostgreSQL makes new files for a table, empty or not.
_EMPTY = """
DO $$ DECLARE one record; is_full boolean; names text[] := '{}'; BEGIN
  LOOP
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
    EXIT WHEN NOT FOUND;
    PERFORM pg_sleep(0.002), pg_stat_clear_snapshot();
  END LOOP;
  FOR one IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I)', one.name) INTO is_full;
    IF is_full THEN names := names || format('%I', one.name); END IF;
  END LOOP;
  IF cardinality(names) > 0 THEN EXECUTE 'TRUNCATE ' || array_to_string(names, ', ') || ' CASCADE'; END IF;
  FOR one IN SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', one.name);
  END LOOP;
END $$
"""
STARTS = 5  # a port that was free may be taken by somebody else until PostgreSQL has come up


class PostgresServer:
    """Promises: `database()` is empty and nobody else's; what it holds is gone when the server stops."""

    def __init__(self, port: int, programs: str, folder: str) -> None:
        self._port, self._programs, self._folder = port, programs, folder
        self._shared = ""

    def emptied(self) -> str:
        """The URL of one database that is always the same and has no rows: much quicker than a new one."""
        if not self._shared:
            self._shared = self.database()
        self._tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", _EMPTY, self._shared.rpartition("/")[2])
        return self._shared

    def database(self, *options: str) -> str:
        """The URL of a new database."""
        name = "t" + secrets.token_hex(6)
        self._tool("createdb", *options, name)
        return f"postgresql://rookery@127.0.0.1:{self._port}/{name}"

    def drop(self, url: str) -> None:
        self._tool("dropdb", "--force", "--if-exists", url.rpartition("/")[2])

    def _tool(self, program: str, *arguments: str) -> None:
        command = [os.path.join(self._programs, program), "-h", "127.0.0.1", "-p", str(self._port), "-U", "rookery"]
        subprocess.run([*command, *arguments], check=True, capture_output=True, timeout=60, cwd=self._folder)


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Starts one, installing the programs where they are missing.

    Raises:
        RuntimeError: it cannot be installed here, or does not start; the message has its log.
    """
    programs = _programs()
    folder = tempfile.mkdtemp(prefix="rkpg-", dir="/tmp")
    run = _as_other_user(folder)
    data, log = os.path.join(folder, "data"), os.path.join(folder, "log.txt")
    control = [*run, os.path.join(programs, "pg_ctl"), "-D", data, "-s"]
    try:
        _checked([*run, os.path.join(programs, "initdb"), "-D", data, "-U", "rookery", "-A", "trust", "-E", "UTF8",
                  "--locale=C.UTF-8", "--no-sync"], log, folder)  # fmt: skip
        port = _start([*control, "-l", log, "-w", "-t", str(START_S)], log, folder)
        try:
            yield PostgresServer(port, programs, folder)
        finally:
            subprocess.run(
                [*control, "-m", "immediate", "stop"], capture_output=True, timeout=60, check=False, cwd=folder
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(control: list[str], log: str, folder: str) -> int:
    """The port that it listens on."""
    for left in reversed(range(STARTS)):
        port = _free_port()
        try:
            _checked([*control, "-o", _OPTIONS.format(folder=folder, port=port), "start"], log, folder)
            return port
        except RuntimeError as error:
            if left == 0 or "in use" not in str(error):
                raise
            with contextlib.suppress(OSError):
                os.unlink(log)  # what it says next time is about the next port
    raise AssertionError("unreachable")


def _programs() -> str:
    """The folder of initdb and pg_ctl; Debian keeps them off the PATH, one folder per version."""
    for attempt in range(2):
        found = shutil.which("pg_ctl") or shutil.which("initdb")
        folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda f: int(f.split("/")[-2]))
        if found:
            return os.path.dirname(os.path.realpath(found))
        if folders:
            return folders[-1]
        if attempt == 0:
            ensure_programs({"initdb": "postgresql"})
    raise RuntimeError("PostgreSQL was installed, but initdb is not in /usr/lib/postgresql.")


def _as_other_user(folder: str) -> list[str]:
    """What to put before a command: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return []
    name = next(n for n in ("postgres", "nobody") if any(p.pw_name == n for p in pwd.getpwall()))
    user = pwd.getpwnam(name)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _checked(command: list[str], log: str, folder: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        timeout=START_S + 30, check=False, cwd=folder, env=environment,
    )  # fmt: skip
    if done.returncode:
        said = ""
        with contextlib.suppress(OSError), open(log, encoding="utf-8", errors="replace") as f:
            said = f.read()[-2000:]
        raise RuntimeError(f"{os.path.basename(command[-1])}: {done.stderr[-1000:]}{said}")


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
