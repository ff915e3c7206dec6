"""Horovod's exceptions."""

__all__ = ["HorovodInternalError", "HostsUpdatedInterrupt"]


class HorovodInternalError(RuntimeError):
    """A collective operation failed: mostly because another rank has gone."""


class HostsUpdatedInterrupt(RuntimeError):
    """Never raised here: the set of ranks does not change while a script runs."""

    def __init__(self, skip_sync=False):
        super(HostsUpdatedInterrupt, self).__init__("hosts updated")
        self.skip_sync = skip_sync
