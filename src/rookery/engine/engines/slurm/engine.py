"""The engine of a Slurm target: one job per gang, one step per agent, found again by the job's name."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.slurm.asking import Asking
from rookery.engine.engines.slurm.commands import Commands, SlurmAway, SlurmRefused
from rookery.engine.engines.slurm.deaths import Deaths, find_deaths
from rookery.engine.engines.slurm.gangs import Gang, Notes, gang_name
from rookery.engine.engines.slurm.listing import GangName, SlurmJob
from rookery.engine.engines.slurm.submission import Submission
from rookery.engine.engines.slurm.words import never_starts, waiting_words
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SlurmOptions, read_options

__all__ = ["SlurmEngine"]

log = logging.getLogger(__name__)
POLL_S = 0.5  # while something is under way
POLL_MAX_S = 2.0  # while agents only run: they tell their keeper themselves how it went
ANSWER_S = 5.0  # how long `place` waits for sbatch's answer; then it goes on by itself
GRACE_SHARE = 0.7  # of the notice before a time limit is the ranks'; the rest is for shipping what they leave
LOST_AFTER = 3  # listings in a row without a job
HOPELESS_AFTER = 2
KILL_AGAIN_S = 1.0
CANCEL_AFTER_S = 10.0  # a job whose agents have all ended or were all killed, and that does not end, is canceled
ORPHAN_S = 120.0  # after a start, for jobs that nobody asks for: their runs are over
MAX_SCRIPT_BYTES = 3_500_000  # Slurm's own limit (max_script_size) is 4 MB


class SlurmEngine(Engine):
    """See Engine for the promises. Two threads: one submits and kills, one looks at Slurm's queue.

    `kill` of one agent ends its step; its gang's other agents go on. While the job waits there is nothing but the job:
    then all of it is canceled, and the death of each is told.
    """

    name = "slurm"
    is_here = False

    def __init__(self, name: str, spec: ClusterSpec, boot: Callable[[Sequence[Place]], str], state_folder: str) -> None:
        options = read_options("slurm", spec.options)
        assert isinstance(options, SlurmOptions)
        self.target = name
        self._spec, self._options, self._boot = spec, options, boot
        self._notes = Notes(state_folder)
        self._commands = Commands(options)
        self._asking = Asking(name, self._commands)
        self._submission = Submission(spec, options, self._commands, self._asking, self._notes)
        self._gangs: list[Gang] = []
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._away = ""  # why Slurm does not answer; empty when it does
        self._jobs: dict[int, SlurmJob] = {}
        self._began = 0.0
        self._on_death: Callable[[Death], None] = lambda death: None
        self._todo: queue.Queue[Optional[Callable[[], None]]] = queue.Queue()
        self._threads: list[threading.Thread] = []

    # -- life ------------------------------------------------------------------------------------------------

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        self._commands.check()
        try:
            self._jobs = self._asking.jobs()
            self._began = time.monotonic()
        except (SlurmAway, SlurmRefused) as problem:
            raise ComputeError(f"Slurm does not answer (compute target '{self.target}'): {problem}.") from problem
        for work in (self._watch, self._work):
            thread = threading.Thread(target=work, name=f"slurm-{self.target}-{work.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        self._todo.put(None)
        self._commands.stop()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(10.0)

    # -- what there is ---------------------------------------------------------------------------------------

    def capacity(self) -> Optional[Capacity]:
        return self._asking.capacity

    def when_counted(self, callback: Callable[[], None]) -> None:
        self._asking.when_counted(callback)

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        self._asking.check(node_count, spec, self._options_of(spec))

    def nodes(self) -> list[NodeInfo]:
        return self._asking.nodes(self._options.partition)

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        return self._asking.run_on_node(program, timeout_s, self._spec, self._options, self._notes.owner)

    def _options_of(self, spec: ClusterSpec) -> SlurmOptions:
        options = read_options("slurm", spec.options) if spec.engine == "slurm" else None
        return options if isinstance(options, SlurmOptions) else self._options

    # -- agents ----------------------------------------------------------------------------------------------

    def place(self, gang: Sequence[Place]) -> None:
        self._commands.check()
        boot = self._boot(gang)
        if len(boot.encode()) > MAX_SCRIPT_BYTES:
            raise ComputeError(
                f"The program that starts {len(gang)} agents has {len(boot.encode())} bytes; Slurm takes scripts of up "
                f"to {MAX_SCRIPT_BYTES}. Use fewer nodes."
            )
        new = Gang(gang_name(gang, self._notes.owner), {p.node: p for p in gang}, since=time.monotonic())
        with self._lock:
            self._gangs.append(new)
        answer: queue.Queue[str] = queue.Queue()
        self._todo.put(lambda: self._submit(new, boot, answer))
        refused = self._answer(new, answer)
        if refused:
            raise ComputeError(f"Slurm did not take the job: {refused}")

    def _answer(self, gang: Gang, answer: queue.Queue[str]) -> str:
        """Why it was refused; empty when it was not, or when there is no answer yet (then `waiting` says so)."""
        try:
            return answer.get(timeout=ANSWER_S)
        except queue.Empty:
            with self._lock:
                gang.is_awaited = False
                return "" if answer.empty() else answer.get()

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        return {place for place in places if self._adopt(place)}

    def is_alive(self, place: Place) -> bool:
        with self._lock:
            return self._gang_of(place) is not None

    def kill(self, place: Place) -> None:
        with self._lock:
            gang = self._gang_of(place)
            if gang is None:
                return
            gang.kills.add(place.node)
        self._todo.put(lambda: self._kill(gang))

    def sweep(self, place: Place) -> list[int]:
        """Nothing to do from here: Slurm ends a step with its processes, and the batch script clears up after each agent
        that died before its end is told."""
        return []

    def waiting(self, place: Place) -> str:
        with self._lock:
            gang = self._gang_of(place)
            if gang is None:
                return ""
            if gang.away or (self._away and (gang.seen is None or gang.seen.is_waiting)):
                return f"Slurm, which does not answer: {gang.away or self._away}"
            if gang.seen is None:
                return f"Slurm to start job {gang.job_id}" if gang.job_id else "Slurm to take its job"
            return waiting_words(gang.seen) if gang.seen.is_waiting else ""

    def machine(self, place: Place) -> str:
        with self._lock:
            found = [g for g in self._gangs if g.places.get(place.node) == place]
            return found[-1].host_of(place.node) if found else ""

    def _gang_of(self, place: Place) -> Optional[Gang]:
        for gang in reversed(self._gangs):
            if gang.places.get(place.node) == place and place.node not in gang.told:
                return gang
        return None

    # -- found again -----------------------------------------------------------------------------------------

    def _adopt(self, place: Place) -> bool:
        with self._lock:
            if self._gang_of(place) is not None:
                return True
            found = self._job_of(place)
            if found is None:
                return False
            name, job = found
            for gang in self._gangs:
                if gang.job_id == job.id:
                    gang.places[place.node] = place
                    return True
            gang = Gang(name, {place.node: place}, job.id, seen=job)
            self._notes.read(gang)
            self._gangs.append(gang)
        self._wake.set()
        return True

    def _job_of(self, place: Place) -> Optional[tuple[GangName, SlurmJob]]:
        """The newest job in Slurm's queue in which this agent waits or runs."""
        for job in sorted(self._jobs.values(), key=lambda j: j.id, reverse=True):
            name = GangName.read(job.name)
            if (
                name is not None
                and (name.owner, name.run_id, name.attempt) == (self._notes.owner, place.run_id, place.attempt)
                and place.node in name.nodes
                and not job.has_ended
                and place.node not in job.ends
            ):
                return name, job
        return None

    # -- the thread that submits and kills -------------------------------------------------------------------

    def _work(self) -> None:
        while (todo := self._todo.get()) is not None:  # what was asked for before `stop` is still done
            try:
                todo()
            except Exception:
                log.exception("Slurm target '%s'", self.target)

    def _submit(self, gang: Gang, boot: str, answer: queue.Queue[str]) -> None:
        pause_s = 0.5
        while True:
            problem = ""
            try:
                if set(gang.places) <= gang.kills:
                    problem = "it was taken back before Slurm had it"
                else:
                    number = self._submission.send(gang, boot)
                break
            except SlurmAway as away:
                gang.away = str(away)
                if self._stopped.wait(pause_s):
                    return  # the next engine finds that there is no job
                pause_s = min(10.0, pause_s * 2)
            except (SlurmRefused, ComputeError) as refused:
                problem = str(refused)
                break
        dead: list[Death] = []
        with self._lock:
            if not problem:
                gang.job_id, gang.away, gang.since = number, "", time.monotonic()
            elif gang.is_awaited:
                self._gangs.remove(gang)
            else:
                dead = self._end_all(gang, f"Slurm did not take the job: {problem}")
            answer.put(problem)
        self._wake.set()
        self._tell(dead)

    def _kill(self, gang: Gang) -> None:
        with self._lock:
            job_id, seen = gang.job_id, gang.seen
            nodes = [n for n in gang.kills if n not in gang.told]
            everyone = set(gang.open_nodes) <= gang.kills
            if not nodes or job_id is None:
                return  # `_submit` looks at it
            gang.killed_at = time.monotonic()
            if everyone:
                gang.doomed_at = gang.doomed_at or gang.killed_at
        try:
            waits = not gang.hosts and (seen is None or seen.is_waiting)
            steps = self._steps(job_id, nodes)
            for step in steps:
                self._call_scancel("--signal=KILL", step)
            if waits and not steps:
                # --state: it may have begun just now, and then only the agents that were meant are to end.
                self._call_scancel("--state=PENDING", str(job_id))
        except SlurmAway as problem:
            log.info("Slurm target '%s': a kill waits for Slurm: %s", self.target, problem)
        self._wake.set()

    def _steps(self, job_id: int, nodes: Sequence[int]) -> list[str]:
        names = {f"rk-{node}" for node in nodes}
        try:
            lines = self._commands.run("squeue", "-h", "-s", "-j", str(job_id), "-o", "%i|%j").splitlines()
        except SlurmRefused:
            return []  # it is gone
        return [step for step, _, name in (line.strip().partition("|") for line in lines) if name in names]

    def _call_scancel(self, *arguments: str) -> None:
        try:
            self._commands.run("scancel", *arguments)
        except SlurmRefused as problem:
            log.debug("scancel %s: %s", arguments, problem)  # gone already; the next listing shows it

    # -- the thread that looks -------------------------------------------------------------------------------

    def _watch(self) -> None:
        pause_s, before = POLL_S, ""
        self._asking.count()
        while not self._stopped.is_set():
            with self._lock:
                busy = list(self._gangs)
                hurried = any(g.kills or g.signaled or g.seen is None or g.seen.is_waiting for g in busy)
                now = repr([(g.job_id, g.seen) for g in busy])
            pause_s = POLL_S if hurried or now != before else min(POLL_MAX_S, pause_s * 1.2)
            before = now
            idle_s = None if time.monotonic() > self._began + 2 * ORPHAN_S else ORPHAN_S
            self._wake.wait(max(pause_s, 10 * self._asking.took_s) if busy or self._away else idle_s)
            self._wake.clear()
            if self._stopped.is_set():
                return
            try:
                self._look()
                if self.capacity() is None:
                    self._asking.count()
            except Exception:
                log.exception("Slurm target '%s'", self.target)

    def _look(self) -> None:
        begun = time.monotonic()
        try:
            jobs = self._asking.jobs()
        except (SlurmAway, SlurmRefused, ComputeError) as problem:
            with self._lock:
                self._away = str(problem)
            return
        with self._lock:
            self._away, self._jobs = "", jobs
            self._gangs = [g for g in self._gangs if g.open_nodes or not self._is_over(g)]
            gangs = [g for g in self._gangs if g.job_id is not None and g.open_nodes]
        self._clear_up(begun)
        dead: list[Death] = []
        for gang in gangs:
            dead += self._apply(gang, jobs, begun)
        self._tell(dead)

    def _apply(self, gang: Gang, jobs: dict[int, SlurmJob], begun: float) -> list[Death]:
        """What a listing says about a gang."""
        job = jobs.get(gang.job_id or -1)
        if job is None or job.name != str(gang.name):  # a head that lost its last seconds gives numbers anew
            if begun <= gang.since:
                return []
            gang.missing += 1
            if gang.missing < LOST_AFTER:
                self._wake.set()
                return []
            return self._end_all(gang, f"Slurm no longer knows job {gang.job_id}.")
        with self._lock:
            gang.missing, gang.seen = 0, job
        self._cancel_twins(gang, job, jobs)
        if job.nodelist and not job.is_waiting and not gang.hosts:
            gang.hosts, gang.hosts_text = self._asking.hosts(job.nodelist), job.nodelist
            self._notes.write(gang)
        self._insist(gang, job)
        if job.near_limit and not gang.noticed:
            gang.noticed = True
            self._give_notice(gang, job)
        words = never_starts(job)
        gang.hopeless = gang.hopeless + 1 if words else 0
        if words and gang.hopeless >= HOPELESS_AFTER:
            self._todo.put(lambda: self._call_scancel(str(job.id)))
            return self._end_all(gang, words)
        if job.is_waiting and gang.hosts:
            self._todo.put(lambda: self._call_scancel(str(job.id)))
            return self._end_all(gang, f"Slurm took job {job.id} off its nodes and queued it again ({job.reason}).")
        found_dead: Deaths = find_deaths(gang, job, self._asking, self._notes.output(gang.name))
        with self._lock:
            gang.told.update(d.place.node for d in found_dead)
        return found_dead

    def _is_over(self, gang: Gang) -> bool:
        job = self._jobs.get(gang.job_id or -1)
        return job is None or job.has_ended or job.name != str(gang.name)

    def _clear_up(self, now: float) -> None:
        """Cancel jobs that hold nodes for nobody: their agents have all ended (Slurm may wait for one on a dead machine),
        or nobody has asked for them since this engine began."""
        with self._lock:
            known = {g.job_id for g in self._gangs}
            idle = [g for g in self._gangs if g.job_id is not None and not g.open_nodes]
            late = now > self._began + ORPHAN_S and all(g.job_id is not None for g in self._gangs)
        for gang in idle:
            gang.doomed_at = gang.doomed_at or now
            if now > gang.doomed_at + CANCEL_AFTER_S:
                gang.doomed_at = now
                self._todo.put(lambda number=gang.job_id: self._call_scancel("--full", str(number)))  # type: ignore[misc]
        for job in self._jobs.values() if late else ():
            name = GangName.read(job.name)
            if name is not None and name.owner == self._notes.owner and not job.has_ended and job.id not in known:
                log.warning("Slurm job %d is nobody's; it is canceled", job.id)
                self._todo.put(lambda number=job.id: self._call_scancel("--full", str(number)))  # type: ignore[misc]

    def _insist(self, gang: Gang, job: SlurmJob) -> None:
        """A kill may have come too early, or while Slurm was away."""
        now = time.monotonic()
        if gang.kills & set(gang.open_nodes) and now > gang.killed_at + KILL_AGAIN_S:
            self._todo.put(lambda: self._kill(gang))
        if gang.doomed_at and now > gang.doomed_at + CANCEL_AFTER_S and not job.has_ended:
            gang.doomed_at = now
            self._todo.put(lambda: self._call_scancel("--full", str(job.id)))

    def _give_notice(self, gang: Gang, job: SlurmJob) -> None:
        """Its time limit is near: the run saves its work and is queued again."""
        grace_s = self._submission.notice_s() * GRACE_SHARE
        for node in gang.open_nodes[:1]:  # all agents of the run are told together
            self.on_notice(gang.places[node], grace_s, f"Slurm job {job.id} is about to reach its time limit.")

    def _cancel_twins(self, gang: Gang, job: SlurmJob, jobs: dict[int, SlurmJob]) -> None:
        """An sbatch whose answer was lost may have been heard after all."""
        for other in jobs.values():
            if other.name == job.name and other.id > job.id and not other.has_ended and not job.has_ended:
                log.warning("Slurm job %d is a twin of %d; it is canceled", other.id, job.id)
                self._todo.put(lambda number=other.id: self._call_scancel(str(number)))  # type: ignore[misc]

    def _end_all(self, gang: Gang, words: str) -> list[Death]:
        with self._lock:
            dead = [Death(gang.places[node], reason=words) for node in gang.open_nodes]
            gang.told.update(gang.places)
        return dead

    def _tell(self, dead: Iterable[Death]) -> None:
        for death in dead:
            if self._stopped.is_set():
                return
            self._on_death(death)
