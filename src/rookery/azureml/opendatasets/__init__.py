"""azureml.opendatasets. Differs: a name stands for a registered data set of your own; nothing is fetched."""

from rookery.azureml.finder import fill
from rookery.sdk.open_datasets import MNIST, Diabetes, NycTlcGreen, NycTlcYellow  # noqa: F401

fill(globals())
