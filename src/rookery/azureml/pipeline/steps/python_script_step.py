"""azureml.pipeline.steps.python_script_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_steps import PythonScriptStep  # noqa: F401

fill(globals())
