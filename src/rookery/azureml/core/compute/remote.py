"""azureml.core.compute.remote. Differs: files are those of the keeper's machine; Azure resources are not looked up."""

from rookery.azureml.finder import fill
from rookery.sdk.attach_configuration import RemoteComputeAttachConfiguration  # noqa: F401
from rookery.sdk.remote_compute import RemoteCompute  # noqa: F401

fill(globals())
