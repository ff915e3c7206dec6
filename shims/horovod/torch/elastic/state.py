"""State that is kept in memory at each commit, and on disk where Rookery gives a folder that outlives the attempt."""

import copy
import functools
import os
import time

import torch

from horovod.common.exceptions import HorovodInternalError, HostsUpdatedInterrupt
from horovod.torch.elastic.sampler import ElasticSampler
from horovod.torch.functions import allgather_object, broadcast_object, broadcast_optimizer_state, broadcast_parameters
from horovod.torch.process import rank

__all__ = ["ObjectState", "State", "TorchState", "run"]

FILE = "horovod-elastic.pt"
SAVE_EVERY_S = 10.0  # scripts commit every few batches; to disk it goes less often


def run(func):
    """Make `func(state, …)` begin from the last commit, and from the same state on all ranks."""

    @functools.wraps(func)
    def wrapper(state, *args, **kwargs):
        state.resume()
        skip_sync = False
        while True:
            if not skip_sync:
                state.sync()
            try:
                return func(state, *args, **kwargs)
            except HorovodInternalError as error:
                raise HorovodInternalError(
                    "{} Rookery's horovod cannot go on with fewer ranks in the same process: this attempt ends. With "
                    "retries for the run, the next attempt begins from the last commit that was saved.".format(error)
                ) from error
            except HostsUpdatedInterrupt as update:
                skip_sync = update.skip_sync
                state.on_reset()

    return wrapper


class State(object):
    """Values as attributes, to be committed, restored and made the same on all ranks."""

    def __init__(self, **kwargs):
        self._reset_callbacks = []
        self._saved_at = None

    def register_reset_callbacks(self, callbacks):
        """Called when the ranks have changed, which here is when an attempt resumes from an earlier one."""
        self._reset_callbacks.extend(callbacks)

    def on_reset(self):
        self.reset()
        for callback in self._reset_callbacks:
            callback()

    def commit(self):
        """Keep the values as they are now."""
        self.save()
        self._write()
        self.check_host_updates()

    def check_host_updates(self):
        """The ranks do not change while a script runs."""

    def resume(self):
        """Take what an earlier attempt committed to ROOKERY_RESUME_DIR, if there is something."""
        path = _path()
        found = broadcast_object(bool(path) and os.path.isfile(path))
        if not found:
            return
        if rank() == 0:
            self._set_saved(_load(path))
            self.restore()
        self.sync()
        self.on_reset()

    def save(self):
        raise NotImplementedError("A State needs save().")

    def restore(self):
        raise NotImplementedError("A State needs restore().")

    def sync(self):
        raise NotImplementedError("A State needs sync().")

    def reset(self):
        pass

    def _get_saved(self):
        raise NotImplementedError("A State needs _get_saved().")

    def _set_saved(self, saved):
        raise NotImplementedError("A State needs _set_saved().")

    def _write(self):
        """All ranks, because what is saved may be put together from all; rank 0 says when, and writes."""
        if not os.environ.get("ROOKERY_RESUME_DIR"):
            return
        is_due = self._saved_at is None or time.time() - self._saved_at >= SAVE_EVERY_S
        if not broadcast_object(is_due and _path() is not None):
            return
        saved = self._get_saved()
        self._saved_at = time.time()
        if rank() == 0:
            partial = "{}.{}".format(_path(), os.getpid())
            torch.save(saved, partial)
            os.rename(partial, _path())


class ObjectState(State):
    """Plain values, given as keywords."""

    def __init__(self, **kwargs):
        super(ObjectState, self).__init__()
        self._values = dict(kwargs)
        for name, value in kwargs.items():
            setattr(self, name, value)

    def save(self):
        self._values = {name: copy.deepcopy(getattr(self, name)) for name in self._values}

    def restore(self):
        self._set_values()

    def sync(self):
        if self._values:
            self._values = broadcast_object({name: getattr(self, name) for name in self._values})
            self._set_values()

    def _set_values(self):
        for name, value in self._values.items():
            setattr(self, name, copy.deepcopy(value))

    def _get_saved(self):
        return {"values": self._values}

    def _set_saved(self, saved):
        self._values.update(saved["values"])


class TorchState(ObjectState):
    """A model, an optimizer, samplers and plain values."""

    def __init__(self, model=None, optimizer=None, **kwargs):
        parts = {name: value for name, value in kwargs.items() if hasattr(value, "state_dict")}
        parts.update({name: part for name, part in (("model", model), ("optimizer", optimizer)) if part is not None})
        self._parts = parts
        self._states = {}
        super(TorchState, self).__init__(**{k: v for k, v in kwargs.items() if k not in parts})
        for name, part in parts.items():
            setattr(self, name, part)
        self.save()

    def save(self):
        self._states = {name: copy.deepcopy(part.state_dict()) for name, part in self._parts.items()}
        super(TorchState, self).save()

    def restore(self):
        for name, part in self._parts.items():
            part.load_state_dict(copy.deepcopy(self._states[name]))
        super(TorchState, self).restore()

    def sync(self):
        for part in self._parts.values():
            if isinstance(part, torch.nn.Module):
                broadcast_parameters(part.state_dict(), 0)
            elif isinstance(part, torch.optim.Optimizer):
                broadcast_optimizer_state(part, 0)
            elif _is_sampler(part):
                part.load_state_dict(_shared(part.state_dict()))
            else:
                part.load_state_dict(broadcast_object(part.state_dict()))
        super(TorchState, self).sync()
        self.save()

    def reset(self):
        for part in self._parts.values():
            if _is_sampler(part):
                part.reset()

    def _get_saved(self):
        states = dict(self._states)
        for name, part in self._parts.items():
            if _is_sampler(part):
                states[name] = _shared(states[name])
        return {"values": self._values, "states": states}

    def _set_saved(self, saved):
        super(TorchState, self)._set_saved(saved)
        self._states.update(saved["states"])


def _is_sampler(part):
    return isinstance(part, ElasticSampler)


def _shared(sampler_state):
    """What all ranks together have used of the epoch; each knows its own part."""
    everybody = allgather_object((sampler_state["epoch"], sampler_state["processed_indices"]))
    epoch = everybody[0][0]
    return {"epoch": epoch, "processed_indices": set().union(*(used for other, used in everybody if other == epoch))}


def _path():
    folder = os.environ.get("ROOKERY_RESUME_DIR")
    return os.path.join(folder, FILE) if folder and os.path.isdir(folder) else None


def _load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except TypeError:  # before torch 1.13
        return torch.load(path, map_location="cpu")
