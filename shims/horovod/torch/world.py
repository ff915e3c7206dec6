"""Which rank this process is, and where rank 0 is: read from the variables that its launcher set."""

import os
import sys
import zlib

__all__ = ["World", "find_world", "use_loopback_where_master_is"]

# In this order: under mpirun, RANK may be left over from an outer launcher, never the other way round.
LAUNCHERS = (
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("horovod", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"),
    ("torch", "RANK", "WORLD_SIZE", "LOCAL_RANK"),
)
NODE_NAMES = {"mpirun": (), "horovod": (), "torch": ("NODE_RANK", "GROUP_RANK")}
LOOPBACKS = ("localhost", "::1")


class World(object):
    """rank, size, local_rank (None where nobody said), the node's name, the master's address and port."""

    def __init__(self, launcher="none", rank=0, size=1, local_rank=None, node="", master=None, port=None):
        self.launcher, self.rank, self.size, self.local_rank, self.node = launcher, rank, size, local_rank, node
        self.master, self.port = master, port


def find_world(environ=None):
    """The world that the environment describes; one process where it describes none.

    Raises:
        RuntimeError: a variable is missing or no number, or nothing says where rank 0 is.
    """
    environ = os.environ if environ is None else environ
    found = next((names for names in LAUNCHERS if names[1] in environ and names[2] in environ), None)
    if found is None:
        return World(local_rank=0)
    launcher, rank_name, size_name, local_name = found
    rank, size = _number(environ, rank_name), _number(environ, size_name)
    if not 0 <= rank < size:
        raise RuntimeError(
            "{}={} with {}={} cannot be: a rank is 0 to size - 1. Whoever started this process set them.".format(
                rank_name, rank, size_name, size
            )
        )
    local_rank = _number(environ, local_name) if environ.get(local_name) else None
    node = next((environ[name] for name in NODE_NAMES[launcher] if environ.get(name)), "")
    world = World(launcher, rank, size, local_rank, node)
    if size > 1:
        world.master, world.port = _master(environ, size)
    return world


def use_loopback_where_master_is(world, environ=None):
    """Let gloo listen on the loopback device where all ranks are on one machine: what the host's name resolves to
    need not be reachable."""
    environ = os.environ if environ is None else environ
    is_local = world.master in LOOPBACKS or str(world.master).startswith("127.")
    if is_local and sys.platform.startswith("linux") and os.path.isdir("/sys/class/net/lo"):
        environ.setdefault("GLOO_SOCKET_IFNAME", "lo")


def _number(environ, name):
    try:
        return int(environ[name])
    except ValueError:
        raise RuntimeError(
            "{}={!r} is no whole number. Whoever started this process set it.".format(name, environ[name])
        ) from None


def _master(environ, size):
    """(address, port). mpirun tells neither, so on one machine the port is made from the job's id, alike on all ranks."""
    host = environ.get("MASTER_ADDR")
    if not host and environ.get("AZ_BATCH_MASTER_NODE"):
        host = environ["AZ_BATCH_MASTER_NODE"].split(":")[0]
    if not host and environ.get("HOROVOD_GLOO_RENDEZVOUS_ADDR"):
        raise RuntimeError(
            "This process was started by horovodrun (HOROVOD_GLOO_RENDEZVOUS_ADDR is set), but its horovod is Rookery's. "
            "Start it with mpirun, torchrun or Rookery, or set MASTER_ADDR and MASTER_PORT."
        )
    if not host:
        local_size = environ.get("OMPI_COMM_WORLD_LOCAL_SIZE")
        if local_size and local_size != str(size):
            raise RuntimeError(
                "There are {} ranks, {} of them on this node, and nothing says where rank 0 is. Set MASTER_ADDR (and "
                "MASTER_PORT) for all ranks: `mpirun -x MASTER_ADDR=<address of rank 0> …`. Runs of Rookery have "
                "them.".format(size, local_size)
            )
        host = "127.0.0.1"
    if environ.get("MASTER_PORT"):
        return host, _number(environ, "MASTER_PORT")
    job = next((environ[name] for name in ("OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE") if environ.get(name)), None)
    if job is None:
        raise RuntimeError(
            "There are {} ranks, and MASTER_PORT is not set. Set MASTER_ADDR and MASTER_PORT to an address and a free "
            "port of rank 0's machine, the same for all ranks.".format(size)
        )
    return host, 10000 + zlib.crc32(job.encode()) % 20000  # below the ports that systems give out by themselves
