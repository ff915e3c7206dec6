"""azureml.core.compute.aks. Differs: the cluster is a name for the keeper's machine, where all services run."""

from rookery.azureml.finder import fill
from rookery.sdk.aks_compute import (  # noqa: F401
    AksAttachConfiguration,
    AksCompute,
    AksProvisioningConfiguration,
    AksUpdateConfiguration,
    SslConfiguration,
    SystemService,
)

fill(globals())
