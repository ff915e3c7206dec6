"""Builds of environments that somebody asked for without a run: `env.build(ws)`, `rookery env build`."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from rookery import environments
from rookery.errors import RookeryError
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import EnvironmentSpec

__all__ = ["Builds", "plain_built"]

log = logging.getLogger(__name__)
WORKERS = 2


class Builds:
    """Promises: requests for the same specification share one build; a build that a dead keeper left is taken up by the
    next one; its log and its end are stored before anybody is told.
    """

    def __init__(self, record: Any) -> None:
        self._record = record
        self._lock = threading.Lock()
        self._open: set[str] = set()
        self._pool: Optional[ThreadPoolExecutor] = None

    def start(self) -> None:
        """Take up what an earlier keeper began."""
        for build in self._record.builds.running():
            self._submit(build)

    def stop(self) -> None:
        """Leave builds to the next keeper."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def count(self) -> int:
        """How many are under way or wait."""
        with self._lock:
            return len(self._open)

    def want(self, spec: EnvironmentSpec, by: str) -> dict[str, Any]:
        """The build of this specification: the one under way, or a new one.

        Raises:
            UserError, UnsupportedError, EnvironmentBuildError: it can never be built.
        """
        environments.check(spec)
        build, is_new = self._record.builds.begin(_key(spec), to_plain(spec), by)
        if is_new:
            self._submit(build)
        return build

    def _submit(self, build: dict[str, Any]) -> None:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="rookery-build")
            self._open.add(build["id"])
            self._pool.submit(self._run, build)

    def _run(self, build: dict[str, Any]) -> None:
        build_id = build["id"]
        try:
            self._record.builds.append_log(build_id, _head(build))
            spec = from_plain(EnvironmentSpec, build["spec"])
            # Asked for by a person: a failure that is remembered must not answer in place of a try.
            built = environments.prepare(
                spec, lambda data: self._record.builds.append_log(build_id, data), again=True, record=self._record
            )
            self._record.builds.append_log(build_id, f"Ready: {built.python}\n".encode())
            self._record.builds.end(build_id, built=plain_built(built))
        except RookeryError as error:
            self._fail(build_id, error.message)
        except Exception as error:
            log.exception("Environment build %s failed", build_id)
            self._fail(build_id, f"The environment could not be prepared: {error!r}.")
        finally:
            with self._lock:
                self._open.discard(build_id)

    def _fail(self, build_id: str, words: str) -> None:
        try:
            self._record.builds.append_log(build_id, f"Failed: {words}\n".encode())
            self._record.builds.end(build_id, error=words)
        except Exception:
            log.exception("The end of environment build %s could not be stored", build_id)


def plain_built(built: environments.BuiltEnvironment) -> dict[str, Any]:
    """What is told of a built environment; variables may hold what is nobody's business."""
    return {
        "python": built.python,
        "bin_dir": built.bin_dir,
        "deviations": list(built.deviations),
        "key": built.key,
    }


def _key(spec: EnvironmentSpec) -> str:
    """Equal for what needs the same build: variables and the registered version change nothing."""
    plain = to_plain(spec)
    content = {name: plain[name] for name in plain if name not in ("variables", "version")}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()


def _head(build: dict[str, Any]) -> bytes:
    return f"Environment '{build['spec'].get('name', '')}'\n".encode("utf-8", "replace")
