"""azureml.core.compute.computeinstance. Differs: an instance is one node of the keeper's machine."""

from rookery.azureml.finder import fill
from rookery.sdk.compute_instance import (  # noqa: F401
    ComputeInstance,
    ComputeInstanceProvisioningConfiguration,
    ComputeInstanceStatus,
)

fill(globals())
