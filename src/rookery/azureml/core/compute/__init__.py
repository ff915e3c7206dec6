"""azureml.core.compute. Differs: RayCompute and SlurmCompute are ours; kinds of targets that only a cloud has are
placeholders."""

from rookery.azureml.finder import fill
from rookery.sdk.aks_compute import AksCompute  # noqa: F401
from rookery.sdk.aml_compute import AmlCompute  # noqa: F401
from rookery.sdk.compute import (  # noqa: F401
    AdlaCompute,
    BatchCompute,
    ComputeTarget,
    DatabricksCompute,
    DataFactoryCompute,
    DsvmCompute,
    HDInsightCompute,
    KubernetesCompute,
    KustoCompute,
    SynapseCompute,
)
from rookery.sdk.compute_instance import ComputeInstance  # noqa: F401
from rookery.sdk.remote_compute import RayCompute, RemoteCompute, SlurmCompute  # noqa: F401

fill(globals())
