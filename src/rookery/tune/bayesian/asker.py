"""Asks Optuna: finds an interpreter that has it, keeps one process of it, and starts another when that dies."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import subprocess
import sys
import threading
from typing import Any, Optional

from rookery.errors import ServiceError
from rookery.spec.run import EnvironmentSpec

__all__ = ["PACKAGES", "Asker", "find_interpreter"]

PACKAGES = ("optuna>=4,<5",)
ANSWER_S = 120.0
_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
_DROPPED = ("ROOKERY_", "AZUREML_", "PYTHON")


def find_interpreter(holder: str) -> str:
    """The keeper's own where Optuna is installed beside us, else one of an environment that is made for it, once per machine.

    Raises:
        RookeryError: it cannot be had; says why.
    """
    if importlib.util.find_spec("optuna") is not None:
        return sys.executable
    from rookery.environments import prepare
    from rookery.environments.building import leases

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    spec = EnvironmentSpec(name="tune-bayesian", conda={"dependencies": [f"python={version}", {"pip": list(PACKAGES)}]})
    built = prepare(spec, lambda text: None, again=True)
    if built.key:
        leases.hold(built.key, holder, os.getpid())
    return built.python


class Asker:
    """One process, one question at a time. It ends with the keeper: its pipe does."""

    def __init__(self, holder: str) -> None:
        self._holder = holder
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._is_closed = False

    def ask(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Values for `question["count"]` children.

        Raises:
            RookeryError: Optuna cannot be had, or has died twice over this question.
        """
        with self._lock:
            for is_last in (False, True):
                answer = self._try(question)
                if answer is not None and "values" in answer:
                    return list(answer["values"])
                if is_last or self._is_closed:
                    words = answer["error"] if answer else "its process ended without an answer"
                    raise ServiceError(f"Bayesian sampling: Optuna could not propose values ({words}).")
                self._end()
        raise AssertionError("the second try returns or raises")

    def close(self) -> None:
        """A question under way fails."""
        self._is_closed = True
        self._end()

    def _try(self, question: dict[str, Any]) -> Optional[dict[str, Any]]:
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            if not select.select([process.stdout], [], [], ANSWER_S)[0]:
                return {"error": f"no answer within {ANSWER_S:.0f} s"}
            line = process.stdout.readline()
            return json.loads(line) if line else None
        except (OSError, ValueError):
            return None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            variables = {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED)}
            self._process = subprocess.Popen(
                [find_interpreter(self._holder), _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=variables,
                cwd="/",
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
