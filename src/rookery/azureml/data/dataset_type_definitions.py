"""azureml.data.dataset_type_definitions."""

from rookery.azureml.finder import fill
from rookery.sdk.data_types import (  # noqa: F401
    FileEncoding,
    FileType,
    HistogramCompareMethod,
    PromoteHeadersBehavior,
    SkipLinesBehavior,
)

fill(globals())
