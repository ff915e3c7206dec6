"""This process among the others: init, shutdown, ranks and sizes, and the channels that operations go through."""

import atexit
import os
import pickle
import socket
import threading

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from horovod.torch.channel import Channel, Watcher
from horovod.torch.world import find_world, use_loopback_where_master_is

__all__ = [
    "channel_for",
    "cross_rank",
    "cross_size",
    "init",
    "is_homogeneous",
    "is_initialized",
    "local_rank",
    "local_size",
    "process",
    "rank",
    "shutdown",
    "size",
]

_lock = threading.RLock()
_process = None
_store = None  # kept when Horovod is shut down: its port would be in use still at the next init
_generation = 0


class _Process(object):
    """What is known after init. With one rank there are no channels and no process group."""

    def __init__(self, world):
        self.world = world
        self.rank, self.size = world.rank, world.size
        self.local_rank, self.local_size = world.local_rank or 0, 1
        self.cross_rank, self.cross_size = 0, 1
        self.is_homogeneous = True
        self.channels = {}
        self.store = None
        self.owns_group = False
        self.watcher = None


def init(comm=None, process_sets=None):
    """Find the other ranks and connect to them. A second call does nothing.

    Raises:
        RuntimeError: the environment contradicts itself, or rank 0 cannot be reached.
        NotImplementedError: a communicator or process sets are given.
    """
    global _process
    if comm is not None and (not isinstance(comm, (list, tuple)) or len(comm)):
        raise NotImplementedError(
            "hvd.init(comm=…) is not available in Rookery's horovod: the world is what the launcher started. Call "
            "hvd.init()."
        )
    if process_sets and process_sets != "dynamic":
        raise NotImplementedError("hvd.init(process_sets=…) is not available in Rookery's horovod. Call hvd.init().")
    with _lock:
        if _process is not None:
            return
        made = _Process(find_world())
        if made.size > 1:
            _connect(made)
        _process = made


def shutdown():
    """Leave. Operations that are under way on other ranks will fail there."""
    global _process
    with _lock:
        gone, _process = _process, None
    if gone is None:
        return
    if gone.watcher is not None:
        gone.watcher.stop()
    gone.channels.clear()
    if gone.owns_group and dist.is_initialized():
        dist.destroy_process_group()


atexit.register(shutdown)


def is_initialized():
    return _process is not None


def process():
    """ValueError before init, with Horovod's words."""
    if _process is None:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _process


def rank():
    return process().rank


def size():
    return process().size


def local_rank():
    return process().local_rank


def local_size():
    return process().local_size


def cross_rank():
    return process().cross_rank


def cross_size():
    return process().cross_size


def is_homogeneous():
    """Whether every node has the same number of ranks."""
    return process().is_homogeneous


def channel_for(tensor, kind="main"):
    """Where a tensor's operation goes: NCCL for CUDA tensors where all ranks have it, else gloo.

    Gradients have a gloo channel of their own: they are sent when they are ready, whatever the script sends meanwhile.
    """
    channels = process().channels
    if tensor.is_cuda and "nccl" in channels:
        return channels["nccl"]
    return channels[kind]


def _connect(made):
    world = made.world
    if dist.is_initialized():
        _adopt_group(made)
    else:
        _make_group(made)
    made.channels["main"] = Channel("main", dist.new_group(backend="gloo"), made)
    made.channels["gradients"] = Channel("gradients", dist.new_group(backend="gloo"), made)
    told = _gather(made, (world.node or socket.gethostname(), world.local_rank, _has_nccl()))
    _find_places(made, [(node, local) for node, local, _ in told])
    if all(has for _, _, has in told):
        made.channels["nccl"] = Channel("nccl", dist.new_group(backend="nccl"), made)
    if made.store is not None:
        made.watcher = Watcher(made)
        made.watcher.start()


def _make_group(made):
    global _store, _generation
    world = made.world
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = str(world.master), str(world.port)
    use_loopback_where_master_is(world)
    if _store is None:
        # `env://` and not `tcp://`: it knows that under torchrun the store is there already.
        _store = next(iter(rendezvous("env://", rank=world.rank, world_size=world.size)))[0]
    _generation += 1
    made.store = dist.PrefixStore("horovod/{}".format(_generation), _store)
    dist.init_process_group("gloo", store=dist.PrefixStore("group", made.store), rank=world.rank, world_size=world.size)
    made.owns_group = True


def _adopt_group(made):
    """The script has made torch's process group already."""
    made.rank, made.size = dist.get_rank(), dist.get_world_size()
    if made.size != made.world.size:
        raise RuntimeError(
            "torch.distributed was initialized with {} ranks, but the launcher started {}. Call hvd.init() first, or "
            "initialize torch.distributed for all ranks.".format(made.size, made.world.size)
        )
    get_store = getattr(dist.distributed_c10d, "_get_default_store", None)
    if get_store is not None:
        made.store = dist.PrefixStore("horovod", get_store())


def _has_nccl():
    return torch.cuda.is_available() and dist.is_nccl_available()


def _gather(made, value):
    """The values of all ranks, before there is anything but a gloo channel."""
    width = 512
    data = pickle.dumps(value, protocol=2)
    if len(data) > width:
        raise RuntimeError("The name of this node is too long: {!r}.".format(value))
    row = torch.zeros(width, dtype=torch.uint8)
    row[: len(data)] = torch.tensor(list(bytearray(data)), dtype=torch.uint8)
    rows = [torch.zeros_like(row) for _ in range(made.size)]
    made.channels["main"].all_gather(rows, row).wait()
    return [pickle.loads(bytes(bytearray(each.tolist()))) for each in rows]


def _find_places(made, places):
    """Local and cross ranks from everybody's (node, local rank). A node that gave no local ranks counts them itself."""
    nodes, locals_of = [], {}
    for each, (node, local) in enumerate(places):
        if node not in locals_of:
            nodes.append(node)
            locals_of[node] = []
        locals_of[node].append(len(locals_of[node]) if local is None else local)
        places[each] = (node, locals_of[node][-1])
    if any(len(set(found)) != len(found) for found in locals_of.values()):
        # Several nodes of one name (they share a machine): a new one begins where a local rank comes again.
        nodes, locals_of, places = _split_nodes(places)
    node, made.local_rank = places[made.rank]
    made.local_size = len(locals_of[node])
    having = [each for each in nodes if made.local_rank in locals_of[each]]
    made.cross_rank, made.cross_size = having.index(node), len(having)
    made.is_homogeneous = len(set(len(found) for found in locals_of.values())) == 1


def _split_nodes(places):
    nodes, locals_of, split, count = [], {}, [], {}
    for node, local in places:
        turn = count[node, local] = count.get((node, local), -1) + 1
        name = (node, turn)
        if name not in locals_of:
            nodes.append(name)
            locals_of[name] = []
        locals_of[name].append(local)
        split.append((name, local))
    return nodes, locals_of, split
