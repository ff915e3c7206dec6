"""azureml.core.compute.compute."""

from rookery.azureml.exceptions import ComputeTargetException  # noqa: F401
from rookery.azureml.finder import fill
from rookery.sdk.compute import (  # noqa: F401
    ComputeTarget,
    ComputeTargetAttachConfiguration,
    ComputeTargetProvisioningConfiguration,
    ComputeTargetUpdateConfiguration,
)

fill(globals())
