"""azureml.core.environment. Differs: default images carry the tag `latest`; what is built is a folder of the keeper's
machine, and an image only where the environment names one."""

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
from rookery.sdk.image_build import DockerImageDetails, ImageBuildDetails  # noqa: F401

PythonEnvironment = PythonSection
DockerEnvironment = DockerSection
SparkEnvironment = SparkSection

fill(globals())
