"""Where records go when there is no journal: to the keeper at once."""

from rookery.worker.http import quote_path

__all__ = ["HttpSink"]


class HttpSink(object):
    """POSTs records of one run as they come. For `run.log` outside of a run."""

    uploads = None  # files are PUT directly

    def __init__(self, client, run_id):
        self._client = client
        self.run_id = run_id

    def append(self, record):
        self.extend([record])

    def extend(self, records):
        self._client.request(
            "POST", "/runs/{}/records".format(quote_path(self.run_id)), body={"records": list(records)}
        )

    def for_child(self, child_id):
        return HttpSink(self._client, child_id)
