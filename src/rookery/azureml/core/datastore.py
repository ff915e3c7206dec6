"""azureml.core.datastore. Differs: register_folder, register_s3, register_gcs and register_http are ours; SQL is refused."""

from rookery.azureml.finder import fill
from rookery.sdk.datastore import Datastore  # noqa: F401

fill(globals())
