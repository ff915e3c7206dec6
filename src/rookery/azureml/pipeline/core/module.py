"""azureml.pipeline.core.module. Differs: a module has one version, the last that was published."""

from rookery.azureml.finder import fill
from rookery.sdk.module_step import Module, ModuleVersion, ModuleVersionDescriptor  # noqa: F401

fill(globals())
