"""azureml.core.compute. Differs: clusters are the one kind of target; the other names are placeholders."""

from rookery.azureml.finder import fill
from rookery.sdk.aml_compute import AmlCompute  # noqa: F401
from rookery.sdk.compute import (  # noqa: F401
    AdlaCompute,
    AksCompute,
    BatchCompute,
    ComputeInstance,
    ComputeTarget,
    DatabricksCompute,
    DataFactoryCompute,
    DsvmCompute,
    HDInsightCompute,
    KubernetesCompute,
    KustoCompute,
    RemoteCompute,
    SynapseCompute,
)

fill(globals())
