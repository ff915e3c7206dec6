"""azureml.contrib.services: whole HTTP requests in scoring scripts. Runs on Python 3.6."""
