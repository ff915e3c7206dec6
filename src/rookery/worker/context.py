"""Which run this process belongs to, from the variables its agent set. The only place that decides."""

import os

from rookery.errors import RunEnvironmentError
from rookery.worker.http import HttpClient, unix_connector
from rookery.worker.journal import Journal

__all__ = ["Context", "current_run", "find_context"]

NEEDED = ("ROOKERY_RUN_ID", "ROOKERY_AGENT_SOCKET", "ROOKERY_JOURNAL_DIR", "ROOKERY_UPLOADS_DIR")
# class -> its run; per process, and kept across fork: journal and client open anew by themselves
_current = {}  # type: ignore[var-annotated]


class Context(object):
    """The variables of a run, read once."""

    def __init__(self, variables):
        self.run_id = variables["ROOKERY_RUN_ID"]
        self.socket = variables["ROOKERY_AGENT_SOCKET"]
        self.journal_dir = variables["ROOKERY_JOURNAL_DIR"]
        self.uploads_dir = variables["ROOKERY_UPLOADS_DIR"]
        self.experiment = variables.get("ROOKERY_EXPERIMENT")
        self.workspace = variables.get("ROOKERY_WORKSPACE")
        self.token = variables.get("ROOKERY_RUN_TOKEN") or None
        self.attempt = int(variables.get("ROOKERY_ATTEMPT") or 1)
        self.node = int(variables.get("ROOKERY_NODE") or 0)
        self.rank = int(variables.get("ROOKERY_RANK") or 0)
        self.world_size = int(variables.get("ROOKERY_WORLD_SIZE") or 1)

    def sink(self):
        return Journal(self.journal_dir, self.uploads_dir)

    def client(self):
        """Asks the agent, which relays to the keeper."""
        return HttpClient(unix_connector(self.socket), self.token)


def find_context(variables=None):
    """The Context of this process, or None outside of a run."""
    variables = os.environ if variables is None else variables
    if any(not variables.get(name) for name in NEEDED):
        return None
    return Context(variables)


def current_run(cls, allow_offline=True):
    """One run object per process and class: the submitted run, or an offline one."""
    run = _current.get(cls)
    if run is not None and (allow_offline or run._in_run):
        return run
    context = find_context()
    if context is None and not allow_offline:
        missing = ", ".join(name for name in NEEDED if not os.environ.get(name))
        raise RunEnvironmentError(
            "This process does not belong to a run (not set: {}). Submit the script, or call "
            "Run.get_context(allow_offline=True) for a stand-in that prints.".format(missing)
        )
    run = cls._from_context(context) if context is not None else cls._offline()
    return _current.setdefault(cls, run)
