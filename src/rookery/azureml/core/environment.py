"""azureml.core.environment. Differs: default images carry the tag `latest`; images are kept and shown,
software comes from conda and pip."""

from rookery.azureml.finder import fill
from rookery.sdk.conda_dependencies import CondaDependencies  # noqa: F401
from rookery.sdk.environment import Environment, EnvironmentReference  # noqa: F401
from rookery.sdk.environment_sections import (  # noqa: F401
    DEFAULT_CPU_IMAGE,
    DEFAULT_GPU_IMAGE,
    DatabricksSection,
    DockerBuildContext,
    DockerImagePlatform,
    DockerSection,
    PythonSection,
    RCranPackage,
    RGitHubPackage,
    RSection,
    SparkPackage,
    SparkSection,
)

PythonEnvironment = PythonSection
DockerEnvironment = DockerSection
SparkEnvironment = SparkSection

fill(globals())
