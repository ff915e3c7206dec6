"""azureml.pipeline.core.module. Differs: only Python scripts are published."""

from rookery.azureml.finder import fill
from rookery.sdk.module import Module, ModuleVersion, ModuleVersionDescriptor  # noqa: F401

fill(globals())
