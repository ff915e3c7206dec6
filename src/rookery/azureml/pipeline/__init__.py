"""azureml.pipeline. Nothing of its own."""
