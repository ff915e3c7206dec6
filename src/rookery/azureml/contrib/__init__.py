"""azureml.contrib: `services` and `notebook` are there. Runs on Python 3.6."""
