"""A channel: one process group, whose operations every rank must start in the same order.

Each operation is numbered and its description kept for a while, so that a rank that has joined (ran out of data) can be
told what the others do and take part with a value that changes nothing. Telling costs nothing until somebody joins.
"""

import collections
import threading
import time

import torch
import torch.distributed as dist

from horovod.common.exceptions import HorovodInternalError

__all__ = ["Channel", "Pending", "Watcher", "join_all"]

KEPT = 4096  # descriptions; more operations than this are never under way at once
STUCK_S = 0.2  # after this long in one operation, look whether somebody has joined
POLL_S = 0.002


class Channel(object):
    """Starts operations on contiguous tensors; each returns a Pending."""

    def __init__(self, name, group, process):
        self.name, self._group, self._process = name, group, process
        self.index = 0
        self.lock = threading.RLock()
        self.log = collections.deque(maxlen=KEPT)
        self.is_told = False

    def all_reduce(self, tensor, op="SUM"):
        self._number("all_reduce", tensor, op)
        work = dist.all_reduce(tensor, op=getattr(dist.ReduceOp, op), group=self._group, async_op=True)
        return Pending(work, self._process)

    def all_gather(self, tensors, tensor):
        self._number("all_gather", tensor, "-")
        return Pending(dist.all_gather(tensors, tensor, group=self._group, async_op=True), self._process)

    def broadcast(self, tensor, root):
        self._number("broadcast", tensor, root)
        return Pending(dist.broadcast(tensor, src=root, group=self._group, async_op=True), self._process)

    def _number(self, kind, tensor, extra):
        with self.lock:
            self.index += 1
            said = "{} {} {} {}".format(kind, str(tensor.dtype).split(".")[-1], tensor.numel(), extra)
            self.log.append((self.index, said))
            if self.is_told:
                self._process.watcher.tell(self, self.index, said)

    def tell_from(self, index):
        """Somebody has joined after operation `index`: describe what came since, and from now on everything."""
        with self.lock:
            for number, said in self.log:
                if number > index:
                    self._process.watcher.tell(self, number, said)
            self.is_told = True

    def forget(self):
        with self.lock:
            self.is_told = False
            self.log.clear()

    def take_part(self, said):
        """Start the operation that is described, with a value that changes nothing."""
        kind, dtype, numel, extra = said.split(" ")
        device = torch.device("cuda", torch.cuda.current_device()) if self.name == "nccl" else torch.device("cpu")
        value = _neutral(getattr(torch, dtype), extra if kind == "all_reduce" else "SUM")
        tensor = torch.full((int(numel),), value, dtype=getattr(torch, dtype), device=device)
        if kind == "all_reduce":
            return self.all_reduce(tensor, extra)
        if kind == "broadcast":
            return self.broadcast(tensor, int(extra))
        return self.all_gather([torch.empty_like(tensor) for _ in range(self._process.size)], tensor)


class Pending(object):
    """An operation under way."""

    def __init__(self, work, process):
        self._work, self._process = work, process

    def is_completed(self):
        return self._work.is_completed()

    def wait(self):
        """HorovodInternalError where it failed."""
        self._process.waiting_since = time.time()
        try:
            self._work.wait()
        except RuntimeError as error:
            raise HorovodInternalError(
                "A collective operation failed on rank {}: {}. Mostly another rank has ended or failed; its log has "
                "the cause.".format(self._process.rank, error)
            ) from error
        finally:
            self._process.waiting_since = None


class Watcher(threading.Thread):
    """Looks for ranks that have joined, only while an operation takes long. Also the one user of the store."""

    def __init__(self, process):
        super(Watcher, self).__init__(name="horovod-watcher", daemon=True)
        self._process = process
        self._lock = threading.RLock()  # torch 1.6: a store must not be used by two threads
        self._stopped = threading.Event()
        self.epoch = 0
        self._heard = 0
        process.waiting_since = None

    def run(self):
        try:
            while not self._stopped.wait(STUCK_S):
                since = self._process.waiting_since
                if since is not None and time.time() - since > STUCK_S:
                    self.listen()
        except Exception:  # the store has gone with rank 0: the operation itself will say so
            pass

    def stop(self):
        self._stopped.set()

    def tell(self, channel, number, said):
        self._say("op/{}/{}".format(channel.name, number), said)

    def listen(self):
        """Hear who has joined since, and let the channels tell them what to take part in."""
        with self._lock:
            while self._heard < self.arrived():
                self._heard += 1
                _, indices = self.arrival(self._heard)
                for name, index in indices.items():
                    self._process.channels[name].tell_from(index)

    def announce(self):
        """This rank has joined: with how many operations of each channel behind it."""
        with self._lock:
            turn = self._process.store.add(self._key("turn"), 1)
            text = ",".join("{}={}".format(name, c.index) for name, c in sorted(self._process.channels.items()))
            self._process.store.set(self._key("arrival/{}".format(turn)), "{} {}".format(self._process.rank, text))
            self._process.store.add(self._key("arrived"), 1)

    def arrived(self):
        return self._count("arrived")

    def arrival(self, turn):
        """(rank, {channel: operations}) of the one who joined as number `turn`."""
        with self._lock:
            rank, text = self._process.store.get(self._key("arrival/{}".format(turn))).decode().split(" ")
        return int(rank), {name: int(index) for name, index in (pair.split("=") for pair in text.split(","))}

    def described(self, channel, number):
        """What operation `number` is, None where nobody has said."""
        key = "op/{}/{}".format(channel.name, number)
        with self._lock:
            return self._process.store.get(self._key(key)).decode() if self._count(key + "/there") else None

    def next_epoch(self):
        with self._lock:
            self.epoch += 1
            self._heard = 0
            for channel in self._process.channels.values():
                channel.forget()

    def _say(self, key, text):
        with self._lock:
            self._process.store.set(self._key(key), text)
            self._process.store.add(self._key(key + "/there"), 1)

    def _count(self, key):
        with self._lock:
            return self._process.store.add(self._key(key), 0)

    def _key(self, name):
        return "join/{}/{}".format(self.epoch, name)


def join_all(process):
    """Take part in what the others do until they have all joined; the rank that was last."""
    watcher = process.watcher
    if watcher is None:
        raise NotImplementedError(
            "hvd.join() needs a process group that hvd.init() made; this script made its own first. Call hvd.init() "
            "before torch.distributed.init_process_group()."
        )
    watcher.announce()
    under_way, final = [], None
    while final is None or any(c.index < final[name] for name, c in process.channels.items()):
        if final is None and watcher.arrived() == process.size:
            arrivals = [watcher.arrival(turn + 1) for turn in range(process.size)]
            final = {name: max(indices[name] for _, indices in arrivals) for name in process.channels}
            last = arrivals[-1][0]
        took_part = False
        for channel in process.channels.values():
            said = watcher.described(channel, channel.index + 1)
            if said is not None:
                under_way.append(channel.take_part(said))  # not waited for: the others may need another channel first
                took_part = True
        if not took_part:
            time.sleep(POLL_S)
    for pending in under_way:
        pending.wait()
    watcher.next_epoch()
    return last


def _neutral(dtype, op):
    if op == "PRODUCT":
        return 1
    if op in ("MIN", "MAX"):
        limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        return limits.max if op == "MIN" else limits.min
    return 0
