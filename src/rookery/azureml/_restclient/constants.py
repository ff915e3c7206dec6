"""azureml._restclient.constants. Differs: snapshots have no size limit here, so a change has no effect."""

__all__ = ["SNAPSHOT_MAX_SIZE_BYTES"]

SNAPSHOT_MAX_SIZE_BYTES = 300 * 1024 * 1024
