"""azureml.pipeline.core.schedule. Differs: a few time zones have Windows names, all others their IANA names."""

from rookery.azureml.finder import fill
from rookery.sdk.schedule import Schedule, ScheduleRecurrence, TimeZone  # noqa: F401

fill(globals())
