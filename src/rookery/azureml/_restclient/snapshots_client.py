"""azureml._restclient.snapshots_client. Differs: snapshots have no size limit here, so changing this has no
effect."""

from rookery.azureml._restclient.constants import SNAPSHOT_MAX_SIZE_BYTES

__all__ = ["SNAPSHOT_MAX_SIZE_BYTES"]
