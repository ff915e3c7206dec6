"""azureml.core.runconfig: the run configuration and every element of it."""

from rookery.azureml.finder import fill
from rookery.sdk.conda_dependencies import CondaDependencies  # noqa: F401
from rookery.sdk.container_registry import ContainerRegistry  # noqa: F401
from rookery.sdk.distributed import (  # noqa: F401
    SUPPORTED_PYTORCH_BACKENDS,
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from rookery.sdk.environment import Environment, EnvironmentDefinition, EnvironmentReference  # noqa: F401
from rookery.sdk.environment_sections import (  # noqa: F401
    DEFAULT_CPU_IMAGE,
    DEFAULT_GPU_IMAGE,
    DockerSection,
    PythonSection,
    SparkPackage,
    SparkSection,
)
from rookery.sdk.run_config_data import (  # noqa: F401
    SUPPORTED_DATAREF_MODES,
    SUPPORTED_DELIVERY_MECHANISM,
    Data,
    DatacacheConfiguration,
    DataLocation,
    DataPath,
    DataReferenceConfiguration,
    Dataset,
    DatasetRegistrationOptions,
    GlobsOptions,
    MountOptions,
    OutputData,
    OutputOptions,
    RegistrationOptions,
    UploadOptions,
    Uri,
)
from rookery.sdk.run_config_elements import (  # noqa: F401
    AmlComputeConfiguration,
    ApplicationEndpointConfiguration,
    AzureContainerRegistry,
    DockerConfiguration,
    HdiConfiguration,
    HistoryConfiguration,
    KubernetesComputeConfiguration,
    SparkConfiguration,
)
from rookery.sdk.run_configuration import LOCAL_RUNCONFIG_NAME, RunConfiguration  # noqa: F401

MPI_CPU_IMAGE = DEFAULT_CPU_IMAGE
MPI_GPU_IMAGE = DEFAULT_GPU_IMAGE
PythonEnvironment = PythonSection
DockerEnvironment = DockerSection
SparkEnvironment = SparkSection

fill(globals())
