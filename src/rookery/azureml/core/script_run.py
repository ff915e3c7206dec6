"""azureml.core.script_run."""

from rookery.azureml.finder import fill
from rookery.sdk.script_run import ScriptRun  # noqa: F401

fill(globals())
