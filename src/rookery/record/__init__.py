"""What happened: runs, metrics, logs, artifacts, snapshots, models. The only code that touches the database
and the content store.
"""

from rookery.record.bell import Bell
from rookery.record.clock import utc_now
from rookery.record.record import Record
from rookery.record.run_queries import RunFilter

__all__ = ["Bell", "Record", "RunFilter", "utc_now"]
