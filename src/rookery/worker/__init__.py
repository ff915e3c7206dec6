"""What lives inside the user's process. Standard library only, Python 3.6 and newer, imports nothing of ours
but `rookery.errors`."""

from rookery.worker.context import Context, find_context
from rookery.worker.http import HttpClient, tcp_connector, unix_connector
from rookery.worker.journal import ChildSink, Journal, read_journal
from rookery.worker.run import Run, SubmittedRun
from rookery.worker.sinks import HttpSink

__all__ = [
    "ChildSink",
    "Context",
    "HttpClient",
    "HttpSink",
    "Journal",
    "Run",
    "SubmittedRun",
    "find_context",
    "read_journal",
    "tcp_connector",
    "unix_connector",
]
