"""azureml.contrib: `services` is there; the rest are placeholders. Runs on Python 3.6."""
