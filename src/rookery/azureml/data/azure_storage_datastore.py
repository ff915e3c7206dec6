"""azureml.data.azure_storage_datastore."""

from rookery.azureml.finder import fill
from rookery.sdk.datastore_kinds import (  # noqa: F401
    AbstractAzureStorageDatastore,
    AzureBlobDatastore,
    AzureFileDatastore,
)

FOLDER, EMPTY_FILE, FILE = 0, 1, 2

fill(globals())
