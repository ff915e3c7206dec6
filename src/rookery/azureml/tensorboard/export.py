"""azureml.tensorboard.export. Differs: columns of rows and tables are called `<metric>/<column>`."""

from rookery.sdk.tensorboard import export_to_tensorboard

__all__ = ["export_to_tensorboard"]
