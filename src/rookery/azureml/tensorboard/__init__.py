"""azureml.tensorboard. Differs: the page listens on this machine only."""

from rookery.sdk.tensorboard import Tensorboard

__all__ = ["Tensorboard"]
