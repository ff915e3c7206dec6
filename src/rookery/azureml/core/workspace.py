"""azureml.core.workspace. Differs: a workspace is a folder or a server of yours; what belongs to the cloud
is kept, not used."""

from rookery.azureml.finder import fill
from rookery.sdk.workspace import Workspace  # noqa: F401

WORKSPACE_DEFAULT_BLOB_STORE_NAME = "workspaceblobstore"

fill(globals())
