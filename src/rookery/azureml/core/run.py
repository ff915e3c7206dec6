"""azureml.core.run."""

from rookery.azureml.finder import fill
from rookery.sdk.run import Run, get_run  # noqa: F401
from rookery.spec.status import TERMINAL, RunStatus
from rookery.worker.run_data import InputDatasets, OutputDatasets  # noqa: F401

POST_PROCESSING_STATES = [RunStatus.FINALIZING.value]
RUNNING_STATES = [s.value for s in RunStatus if s not in TERMINAL and s.value not in POST_PROCESSING_STATES]

fill(globals())
