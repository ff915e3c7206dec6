"""azureml.core.script_run_config."""

from rookery.azureml.finder import fill
from rookery.sdk.script_run_config import ScriptRunConfig, get_run_config_from_script_run  # noqa: F401

fill(globals())
