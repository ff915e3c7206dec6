"""What every part of a Run stands on: its id, a sink for records, a client to ask, and draining."""

import time

from rookery.errors import ServiceError
from rookery.worker.http import quote_path

__all__ = ["RunBase"]

# The client's own timeout is 60 s; a longer drain is asked for in slices.
DRAIN_SLICE_S = 45.0
TYPES = {"script": "azureml.scriptrun"}


class RunBase(object):
    """A run that can write records and ask questions.

    Args:
        run_id: its id.
        sink: takes records (`append`; `scalar`, `extend` and `for_child` where it has them).
        client: answers (`request`, `upload`, `download`), like worker.http.HttpClient.
        in_run: this process belongs to the run: what was written must be drained before asking about it.
    """

    def __init__(self, run_id, sink, client, in_run=False):
        self._run_id = run_id
        self._sink = sink
        self._client = client
        self._in_run = in_run
        self._is_child = False  # a branch of this process: its status is ours to set
        self._outputs = None
        self._agent = None
        self._data = None  # the last answer of GET /runs/{id}
        self._added_properties = {}

    @property
    def id(self):
        return self._run_id

    def flush(self, timeout_seconds=300):
        """Wait until everything written so far is stored. Raises ServiceError when that takes too long."""
        self._drain(timeout_seconds)

    def _drain(self, timeout_s=300):
        if not self._in_run:
            return
        if self._agent is None:
            self._agent = self._client.with_prefix("")  # the agent's own routes
        deadline = time.time() + (timeout_s if timeout_s is not None else 86400 * 365)
        while True:
            left = deadline - time.time()
            try:
                self._agent.request("POST", "/drain", body={"timeout_s": max(0.0, min(left, DRAIN_SLICE_S))})
                return
            except ServiceError as error:
                if error.code != "service" or left <= DRAIN_SLICE_S:
                    raise

    def _ask(self, method="GET", path="", query=None, body=None):
        return self._client.request(method, "/runs/{}{}".format(quote_path(self._run_id), path), query=query, body=body)

    def _refresh(self):
        """The run as the keeper has it (protocol: Run). Asked anew even when it has ended: tags come later too."""
        if self._is_child:
            self._drain()  # that it exists, and how it ended, was written by this process
        self._data = self._ask()
        return self._data

    def _known(self, key, default=None):
        """A field that does not change: asked for once."""
        data = self._data if self._data is not None else self._refresh()
        return data.get(key, default)

    def _make_child(self, run_id):
        """The object for a child run. Subclasses return one of their own class."""
        make = getattr(self._sink, "for_child", None)
        from rookery.worker.journal import ChildSink
        from rookery.worker.run import Run

        return Run(run_id, make(run_id) if make else ChildSink(self._sink, run_id), self._client, self._in_run)
