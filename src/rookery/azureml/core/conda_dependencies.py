"""azureml.core.conda_dependencies. Differs: `azureml-*` packages are never pinned, because Rookery provides
them."""

from rookery.azureml.finder import fill
from rookery.sdk.conda_dependencies import (  # noqa: F401
    CNTK_DEFAULT_VERSION,
    CONDA_FILE_NAME,
    CPU,
    DEFAULT_SDK_ORIGIN,
    GPU,
    PYTHON_DEFAULT_VERSION,
    TENSORFLOW_DEFAULT_VERSION,
    CondaDependencies,
)

CHANNELS = "channels"
PACKAGES = "dependencies"
PIP = "pip"
PYTHON_PREFIX = "python"
LINUX_PLATFORM = "linux"
WINDOWS_PLATFORM = "win32"
PYTORCH_DEFAULT_VERSION = "1.6.0"
TORCHVISION_DEFAULT_VERSION = "0.7.0"
HOROVOD_DEFAULT_VERSION = "0.19.5"
DEFAULT_CHAINER_VERSION = "7.7.0"
CUPY_DEFAULT_VERSION = "cupy-cuda102"
CNTK_PACKAGE_PREFIX = "cntk"
TENSORFLOW_PACKAGE_PREFIX = "tensorflow"
PYTORCH_PACKAGE_PREFIX = "torch"
TORCHVISION_PACKAGE_PREFIX = "torchvision"
CHAINER_PACKAGE_PREFIX = "chainer"
BASE_PROJECT_MODULE = "azureml._project"
BASE_PROJECT_FILE_RELATIVE_PATH = "base_project_files/conda_dependencies.yml"

fill(globals())
