"""What lives inside the user's process. Standard library only, Python 3.6 and newer, imports nothing of ours
but `rookery.errors`."""

from rookery.worker.context import Context, find_context
from rookery.worker.http import HttpClient, tcp_connector, unix_connector
from rookery.worker.journal import ChildSink, Journal, read_journal
from rookery.worker.run import Run, SubmittedRun
from rookery.worker.sinks import HttpSink
from rookery.worker.stopping import RESUME_EXIT_CODE, checkpoint_dir, leave_for_resume, should_stop

__all__ = [
    "RESUME_EXIT_CODE",
    "ChildSink",
    "Context",
    "HttpClient",
    "HttpSink",
    "Journal",
    "Run",
    "SubmittedRun",
    "checkpoint_dir",
    "find_context",
    "leave_for_resume",
    "read_journal",
    "should_stop",
    "tcp_connector",
    "unix_connector",
]
