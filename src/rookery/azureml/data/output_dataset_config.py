"""azureml.data.output_dataset_config. Differs: outputs of Spark and links are refused."""

from rookery.azureml.finder import fill
from rookery.sdk.output_dataset import (  # noqa: F401
    HDFSOutputDatasetConfig,
    LinkFileOutputDatasetConfig,
    LinkTabularOutputDatasetConfig,
    MountOptions,
    OutputDatasetConfig,
    OutputFileDatasetConfig,
    OutputTabularDatasetConfig,
    RegistrationConfiguration,
    TransformationMixin,
    UploadOptions,
)

fill(globals())
