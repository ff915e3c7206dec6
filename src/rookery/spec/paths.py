"""Where things lie. Every file of a workspace and of a run has a named property here; no other code joins such paths."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["AttemptPaths", "NodePaths", "RankPaths", "ServedPaths", "WorkspacePaths"]


@dataclass(frozen=True)
class WorkspacePaths:
    """The folder of a workspace (`.rookery/` beside a project, or one under ROOKERY_HOME)."""

    root: str

    @property
    def identity(self) -> str:
        """workspace.json: id, name, subscription_id, resource_group, location, created_utc, format."""
        return os.path.join(self.root, "workspace.json")

    @property
    def gitignore(self) -> str:
        """Keeps git out of the whole folder."""
        return os.path.join(self.root, ".gitignore")

    @property
    def database(self) -> str:
        return os.path.join(self.root, "record.db")

    @property
    def backups(self) -> str:
        """Whole records as SQLite files: one from before every change of the schema, and those that were asked for."""
        return os.path.join(self.root, "backups")

    @property
    def settings(self) -> str:
        """settings.json: what is set for this workspace (mode 600 once it names a database)."""
        return os.path.join(self.root, "settings.json")

    @property
    def content(self) -> str:
        """Blobs by SHA-256: content/ab/abcdef…"""
        return os.path.join(self.root, "content")

    @property
    def logs(self) -> str:
        """What ranks printed, as acknowledged: logs/<run id>/<log name>."""
        return os.path.join(self.root, "logs")

    def log(self, run_id: str, name: str) -> str:
        return os.path.join(self.logs, run_id, name)

    @property
    def build_logs(self) -> str:
        """What builds without a run said: build-logs/<build id>.txt."""
        return os.path.join(self.root, "build-logs")

    def build_log(self, build_id: str) -> str:
        return os.path.join(self.build_logs, build_id + ".txt")

    @property
    def runs(self) -> str:
        return os.path.join(self.root, "runs")

    @property
    def payloads(self) -> str:
        """What is put on the path of user processes, by hash."""
        return os.path.join(self.root, "payload")

    @property
    def keeper(self) -> str:
        return os.path.join(self.root, "keeper")

    @property
    def lease(self) -> str:
        """Held with flock for as long as a keeper lives; its text says which one (host, pid, start)."""
        return os.path.join(self.keeper, "lease")

    @property
    def start_lock(self) -> str:
        """Held with flock by the client that starts a keeper, so that racing clients start one."""
        return os.path.join(self.keeper, "start.lock")

    @property
    def endpoint(self) -> str:
        """keeper.json, written once the keeper listens: socket, port, pid, start_ticks, host, version, protocol."""
        return os.path.join(self.keeper, "keeper.json")

    @property
    def keeper_log(self) -> str:
        return os.path.join(self.keeper, "keeper.log")

    @property
    def port(self) -> str:
        return os.path.join(self.keeper, "port")

    @property
    def agent_ports(self) -> str:
        """agents-port.json: address → port of the listener for agents, kept from start to start."""
        return os.path.join(self.keeper, "agents-port.json")

    @property
    def spool(self) -> str:
        """Requests and answers as files, for nodes that share these files and cannot reach the keeper (mode 700)."""
        return os.path.join(self.root, "spool")

    def spool_of(self, run_id: str, attempt: int, node: int) -> str:
        """The folder through which one node's agent of one attempt talks to its keeper."""
        return os.path.join(self.spool, f"{run_id}.{attempt}.{node}")

    @property
    def secret(self) -> str:
        """32 random bytes (mode 600) that sign run tokens."""
        return os.path.join(self.keeper, "secret")

    @property
    def token(self) -> str:
        """The owner's bearer token for TCP (mode 600)."""
        return os.path.join(self.keeper, "token")

    @property
    def data(self) -> str:
        """What belongs to data sets on the keeper's machine: the memory of hashes, uploads under way, the cache of trees."""
        return os.path.join(self.root, "data")

    @property
    def data_hashes(self) -> str:
        """SHA-256 of files on folders, remembered by what stat says of them."""
        return os.path.join(self.data, "hashes.db")

    @property
    def data_uploads(self) -> str:
        """Uploads from a browser, until they become a data set: data/uploads/<id>/."""
        return os.path.join(self.data, "uploads")

    @property
    def data_cache(self) -> str:
        """Trees of manifests and fetched contents, for runs on this machine."""
        return os.path.join(self.data, "cache")

    def datastore(self, name: str) -> str:
        """The folder of one of the two datastores that every workspace has."""
        return os.path.join(self.root, "datastores", name)

    @property
    def serve(self) -> str:
        """Endpoints: serve/<name>/ (mode 700)."""
        return os.path.join(self.root, "serve")

    def served(self, name: str) -> ServedPaths:
        return ServedPaths(os.path.join(self.serve, name))

    def engine_state(self, target: str) -> str:
        """What the engine of a compute target must find again after a restart (mode 700)."""
        return os.path.join(self.keeper, "engines", target)

    def checkpoints(self, run_id: str) -> str:
        """What a run keeps from attempt to attempt (ROOKERY_RESUME_DIR)."""
        return os.path.join(self.runs, run_id, "checkpoints")

    def attempt(self, run_id: str, attempt: int) -> AttemptPaths:
        return AttemptPaths(os.path.join(self.runs, run_id, str(attempt)))


@dataclass(frozen=True)
class ServedPaths:
    """One endpoint: what its front and its scoring processes read and write."""

    root: str

    @property
    def desired(self) -> str:
        """desired.json: what the keeper wants; the front reads it (mode 600: it holds hashes of keys)."""
        return os.path.join(self.root, "desired.json")

    @property
    def front(self) -> str:
        """front.json: pid, start ticks and control socket of the front, written when it answers."""
        return os.path.join(self.root, "front.json")

    @property
    def front_log(self) -> str:
        return os.path.join(self.root, "front.log")

    @property
    def replicas(self) -> str:
        """replicas.json: the scoring processes, for the front that follows on one that was killed."""
        return os.path.join(self.root, "replicas.json")

    @property
    def apps(self) -> str:
        return os.path.join(self.root, "app")

    def app(self, version: str, revision: int) -> str:
        """The app root of one revision: source, models, and the working folder of its processes."""
        return os.path.join(self.apps, f"{version}-{revision}")

    @property
    def logs(self) -> str:
        return os.path.join(self.root, "logs")

    def log(self, version: str) -> str:
        """What the scoring processes of a version wrote."""
        return os.path.join(self.logs, version + ".log")

    def build_log(self, version: str) -> str:
        """What preparing its environment said."""
        return os.path.join(self.logs, version + ".build.log")


@dataclass(frozen=True)
class AttemptPaths:
    """One try at a run: runs/<run id>/<attempt>/."""

    root: str

    def node(self, node: int) -> NodePaths:
        return NodePaths(os.path.join(self.root, f"node-{node}"))


@dataclass(frozen=True)
class NodePaths:
    """One node's share of an attempt: everything its agent reads and writes."""

    root: str

    @property
    def job(self) -> str:
        """job.json: what the agent is to do (spec.job.Job)."""
        return os.path.join(self.root, "job.json")

    @property
    def agent(self) -> str:
        """agent.json: pid, start_ticks, socket; written when the agent is up."""
        return os.path.join(self.root, "agent.json")

    @property
    def agent_log(self) -> str:
        return os.path.join(self.root, "agent.log")

    @property
    def outcome(self) -> str:
        """outcome.json: how the ranks ended, written when the last one is reaped and before anything is shipped."""
        return os.path.join(self.root, "outcome.json")

    @property
    def work_parent(self) -> str:
        """Private and writable: scripts write to ../data."""
        return os.path.join(self.root, "wd")

    @property
    def elastic(self) -> str:
        """Folder of torchrun's own files, which it would leave in the machine's temporary folder; goes with the work."""
        return os.path.join(self.work_parent, ".torchelastic")

    def work(self, run_id: str) -> str:
        """The working folder: the snapshot's files, `outputs` and `logs`."""
        return os.path.join(self.work_parent, run_id)

    @property
    def mpi(self) -> str:
        """mpi.json: what the rank wrapper starts for each rank that mpirun asks for; holds variables, so it is private."""
        return os.path.join(self.root, "mpi.json")

    @property
    def mpi_hosts(self) -> str:
        """hosts.json: how the agents of the other nodes are asked to start mpirun's daemons; node 0 only."""
        return os.path.join(self.root, "hosts.json")

    @property
    def mpi_log(self) -> str:
        """What mpirun itself says."""
        return os.path.join(self.root, "mpi.txt")

    @property
    def mpi_ends(self) -> str:
        """A pipe on which rank wrappers tell the agent who has started and how it ended."""
        return os.path.join(self.root, "ends")

    def rank(self, rank: int) -> RankPaths:
        return RankPaths(os.path.join(self.root, f"rank-{rank}"))


@dataclass(frozen=True)
class RankPaths:
    """One user process and what it leaves behind."""

    root: str

    @property
    def log(self) -> str:
        """stdout and stderr together, exactly as written."""
        return os.path.join(self.root, "log.txt")

    @property
    def journal(self) -> str:
        """Folder of journals, one file per process id: <pid>-<random>.jnl."""
        return os.path.join(self.root, "journal")

    @property
    def uploads(self) -> str:
        """Files handed over by run.upload_file and log_image, waiting to be shipped."""
        return os.path.join(self.root, "uploads")

    @property
    def errors(self) -> str:
        """Folder of the error recorder: <pid>.json for exceptions, <pid>.stack for faulthandler."""
        return os.path.join(self.root, "errors")

    def stacks(self, rank: int) -> str:
        """stacks_<rank>.txt: what a rank that stood still was doing; a launcher's folder has those of its ranks."""
        return os.path.join(self.root, f"stacks_{rank}.txt")

    @property
    def launched(self) -> str:
        """Folder of the logs of ranks that a launcher started here (torchrun): <rank>.txt, or only.txt for one that is alone."""
        return os.path.join(self.root, "launched")

    @property
    def process(self) -> str:
        """process.json: pid and start_ticks of the rank."""
        return os.path.join(self.root, "process.json")

    @property
    def stop(self) -> str:
        """There once the rank is asked to stop (ROOKERY_STOP_FILE); says why."""
        return os.path.join(self.root, "stop.json")

    @property
    def start(self) -> str:
        """start.sh: what a container runs; sets the rank's variables, so it is readable by its owner only."""
        return os.path.join(self.root, "start.sh")

    @property
    def inside(self) -> str:
        """inside.pid: process id of the rank inside its container; there once it has begun."""
        return os.path.join(self.root, "inside.pid")
