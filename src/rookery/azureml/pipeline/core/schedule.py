"""azureml.pipeline.core.schedule. The same names."""

from rookery.azureml.finder import fill
from rookery.sdk.schedule import Schedule, ScheduleRecurrence, TimeZone  # noqa: F401

fill(globals())
