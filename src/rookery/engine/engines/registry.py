"""The engines of all compute targets, behind one door: what is asked of an agent goes to the engine of its target."""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Callable, Sequence
from typing import Optional

from rookery.engine.engines.attached import Attached
from rookery.engine.engines.base import Death, Engine, NodeInfo, Place
from rookery.engine.engines.visitors import VISITORS, VisitorsEngine
from rookery.errors import ComputeError, RookeryError
from rookery.settings import get_setting
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import EMBEDDED, KUBERNETES, RAY, SLURM, SSH
from rookery.spec.paths import WorkspacePaths

__all__ = ["Boot", "Engines", "MakeEngine", "make_engine"]

log = logging.getLogger(__name__)
INSIST_S = 120.0  # for so long an engine that is away is asked again to end an agent
Boot = Callable[[Sequence[Place]], str]
Notice = Callable[[Place, float, str], None]
MakeEngine = Callable[[str, ClusterSpec, Boot, str], Engine]
_CLASSES = {
    RAY: ("rookery.engine.engines.ray", "RayEngine"),
    SLURM: ("rookery.engine.engines.slurm", "SlurmEngine"),
    SSH: ("rookery.engine.engines.ssh", "SshEngine"),
    KUBERNETES: ("rookery.engine.engines.kubernetes", "KubernetesEngine"),
}


def make_engine(name: str, spec: ClusterSpec, boot: Boot, state_folder: str) -> Engine:
    """The engine of a target; its code is imported only now.

    Raises:
        ComputeError: there is none of that name, or what it needs is not installed.
    """
    if spec.engine not in _CLASSES:
        raise ComputeError(f"engine={spec.engine!r} does not exist. Known: {EMBEDDED}, {', '.join(_CLASSES)}.")
    module, class_name = _CLASSES[spec.engine]
    try:
        found = getattr(importlib.import_module(module), class_name)
    except ImportError as error:
        raise ComputeError(
            f"The engine '{spec.engine}' cannot be loaded: {error}. Install it with `pip install 'rookery[{spec.engine}]'`."
        ) from error
    made: Engine = found(name, spec, boot, state_folder)
    return made


class Engines:
    """Embedded is one for all embedded targets; every target on other machines has an engine of its own.

    Promises: no call here waits for an engine on other machines: placing, adopting, killing and sweeping are handed to its
    threads, and what comes of them is told. One that cannot be started keeps nobody else from anything; `problem` says why.

    Args:
        here: the embedded engine.
        boot: makes the program that starts the agents of a gang.
        make: makes engines; tests give their own.
    """

    def __init__(
        self, here: Engine, paths: WorkspacePaths, boot: Boot = lambda gang: "", make: MakeEngine = make_engine
    ) -> None:
        self.here = here
        self.visitors = VisitorsEngine(get_setting("visitor_lost_s", paths.root))
        self._paths, self._boot, self._make = paths, boot, make
        self._lock = threading.Lock()
        self._attached: dict[str, Attached] = {}
        self._on_death: Callable[[Death], None] = lambda death: None
        self._on_change: Callable[[str], None] = lambda name: None
        self._on_notice: Notice = lambda place, grace_s, words: None
        self._started = False

    def start(
        self,
        on_death: Callable[[Death], None],
        on_change: Callable[[str], None] = lambda name: None,
        on_notice: Notice = lambda place, grace_s, words: None,
    ) -> None:
        """Begin to watch. `on_change` is told, from any thread, of a target whose engine or machines have changed; `on_notice`
        as in Engine."""
        self._on_death, self._on_change, self._on_notice, self._started = on_death, on_change, on_notice, True
        self.here.start(on_death)
        self.visitors.start(on_death)
        with self._lock:
            attached = list(self._attached.values())
        for one in attached:
            one.start()

    def stop(self) -> None:
        self.here.stop()
        self.visitors.stop()
        with self._lock:
            attached, self._attached = list(self._attached.values()), {}
        stopping = [threading.Thread(target=one.stop, name="rookery-engine-stop") for one in attached]
        for thread in stopping:  # together: several that are slow to stop are slow once
            thread.start()
        for thread in stopping:
            thread.join()

    def attach(self, name: str, spec: ClusterSpec, held: str = "") -> None:
        """Take the engine of a target up; nothing for an embedded one. Returns at once. `held`: why no run may use it yet."""
        if spec.engine == EMBEDDED:
            return
        folder = self._paths.engine_state(name)
        attached = Attached(
            name,
            lambda: self._make(name, spec, self._boot, _made(folder)),
            lambda death: self._died(name, death),
            lambda name: self._on_change(name),
            lambda place, grace_s, words: self._on_notice(place, grace_s, words),
        )
        attached.held = held
        with self._lock:
            self._attached[name] = attached
        if self._started:
            attached.start()

    def hold(self, name: str, words: str) -> None:
        """Say why no run may use a target; with empty words let them."""
        attached = self._attached.get(name)
        if attached is not None:
            attached.held = words
            self._on_change(name)

    def detach(self, name: str) -> None:
        """Let the engine of a target go. What it noted stays until the target's name is used again."""
        with self._lock:
            attached = self._attached.pop(name, None)
        if attached is not None:
            attached.stop()

    def attached(self, target: str) -> Optional[Attached]:
        """The engine's keeper of a target on other machines; None for embedded ones."""
        return self._attached.get(target)

    @property
    def has_attached(self) -> bool:
        return bool(self._attached)

    def is_here(self, target: str) -> bool:
        return target not in self._attached

    def problem(self, target: str) -> str:
        """Why a target's engine cannot be used now; empty when it can."""
        attached = self._attached.get(target)
        return attached.problem if attached else ""

    def census(self, target: str) -> tuple[NodeInfo, ...]:
        """The machines of a target as last seen; empty for embedded ones, and until they have been counted."""
        attached = self._attached.get(target)
        return attached.census if attached else ()

    def num_addable(self, target: str) -> int:
        """How many agents more a target's engine could make room for by itself."""
        attached = self._attached.get(target)
        return attached.num_addable if attached else 0

    def _died(self, name: str, death: Death) -> None:
        attached = self._attached.get(name)
        if death.reason and attached is not None:
            attached.refresh()  # a machine may be gone: what is known of them should not lag behind for long
        self._on_death(death)

    # -- by place --------------------------------------------------------------------------------------------

    def place(self, gang: Sequence[Place], prepare: Callable[[], None], then: Callable[[str], None]) -> None:
        """Start a gang: first `prepare` (which writes its jobs), then the engine. `then` is told in words what went wrong, or
        "" when nothing did; from another thread for a target on other machines."""
        gang = list(gang)

        def start(engine: Engine) -> None:
            try:
                prepare()
                engine.place(gang)
            except Exception as error:
                log.exception("Run %s: its agents could not be started", gang[0].run_id)
                then(f"Its agents could not be started: {error.message if isinstance(error, RookeryError) else error}")
            else:
                then("")

        self._with_engine(gang[0].target, start)

    def ask(self, target: str, job: Callable[[Engine], None], failed: Callable[[Exception], None]) -> None:
        """Have something done with a target's engine, in its thread where it is on other machines."""

        def work(engine: Engine) -> None:
            try:
                job(engine)
            except Exception as error:
                log.warning("'%s' could not do what was asked of it: %s", target, error)
                failed(error)

        self._with_engine(target, work)

    def adopt(self, places: Sequence[Place], then: Callable[[set[Place]], None]) -> None:
        """Find agents that were placed before; `then` is told which live. At once on this machine, else once the engine can
        be asked."""
        if not places:
            then(set())
            return
        self._with_engine(places[0].target, lambda engine: then(engine.adopt(places)), insist_s=float("inf"))

    def is_alive(self, place: Place) -> bool:
        """Of an engine that cannot be asked: yes, because nobody has said otherwise."""
        attached = self._attached.get(place.target)
        engine = attached.engine if attached else self._near(place.target)
        return engine.is_alive(place) if engine else True

    def kill(self, place: Place) -> None:
        self._with_engine(place.target, lambda engine: engine.kill(place), INSIST_S)

    def sweep(self, place: Place) -> None:
        self._with_engine(place.target, lambda engine: _swept(engine, place), INSIST_S)

    def machine(self, place: Place) -> str:
        attached = self._attached.get(place.target)
        return attached.engine.machine(place) if attached and attached.engine else ""

    def lost_after_s(self, target: str) -> float:
        """After how much silence an agent is lost whose engine cannot see it; 0: the engine will tell."""
        if target == VISITORS:
            return self.visitors.lost_after_s
        attached = self._attached.get(target)
        return attached.engine.lost_after_s if attached and attached.engine else 0.0

    def waiting(self, place: Place) -> str:
        """What the placement of an agent waits for in the queue of its engine, or why that cannot be asked."""
        attached = self._attached.get(place.target)
        if attached is None:
            return ""
        if attached.problem or attached.engine is None:
            return attached.problem
        return attached.engine.waiting(place)

    def _with_engine(self, target: str, job: Callable[[Engine], None], insist_s: float = 0.0) -> None:
        attached = self._attached.get(target)
        if attached is None:
            job(self._near(target))
        else:
            attached.do(job, insist_s)

    def _near(self, target: str) -> Engine:
        """The engine of what is no attached target: it never makes anybody wait."""
        return self.visitors if target == VISITORS else self.here


def _swept(engine: Engine, place: Place) -> None:
    killed = engine.sweep(place)
    if killed:
        log.info("Run %s: killed %d processes that its dead agent had left", place.run_id, len(killed))


def _made(folder: str) -> str:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder
