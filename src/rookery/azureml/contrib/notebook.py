"""azureml.contrib.notebook. Differs: nbclient runs the cells, the notebook with its outputs is in `outputs/`, and there are no handlers."""

from rookery.azureml.finder import fill
from rookery.sdk.notebook_run import NotebookRunConfig, NotebookRunnerStep  # noqa: F401

fill(globals())
