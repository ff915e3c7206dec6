"""azureml.core.compute.amlcompute. Differs: `vm_size` is a label; accounts, networks and identities are
checked and not used."""

from rookery.azureml.finder import fill
from rookery.sdk.aml_compute import AmlCompute  # noqa: F401
from rookery.sdk.aml_compute_config import AmlComputeProvisioningConfiguration  # noqa: F401
from rookery.sdk.aml_compute_status import AmlComputeNodeStateCounts, AmlComputeStatus, ScaleSettings  # noqa: F401

fill(globals())
