"""Process sets: there is the global one."""

__all__ = ["ProcessSet", "add_process_set", "check_global", "global_process_set", "remove_process_set"]


class ProcessSet(object):
    """The ranks an operation is for. Only the global set can be used."""

    process_set_id = None

    def __init__(self, ranks_or_comm=None):
        self.ranks = None if ranks_or_comm is None else sorted(ranks_or_comm)

    def size(self):
        from horovod.torch.process import size

        return size() if self.ranks is None else len(self.ranks)

    def rank(self):
        from horovod.torch.process import rank

        return rank() if self.ranks is None else self.ranks.index(rank())

    def included(self):
        from horovod.torch.process import rank

        return self.ranks is None or rank() in self.ranks

    def __repr__(self):
        return "ProcessSet({})".format("global" if self.ranks is None else self.ranks)


global_process_set = ProcessSet()
global_process_set.process_set_id = 0


def check_global(process_set):
    """NotImplementedError for any other set."""
    if process_set is not None and process_set is not global_process_set:
        raise NotImplementedError(
            "process_set={!r} is not available in Rookery's horovod: operations are for all ranks. Use "
            "torch.distributed.new_group(ranks), which works beside it after hvd.init().".format(process_set)
        )


def add_process_set(process_set):
    check_global(process_set if isinstance(process_set, ProcessSet) else ProcessSet(process_set))


def remove_process_set(process_set):
    check_global(process_set)
    return False
