"""azureml.train.hyperdrive.exceptions: v1's names for our errors of tunings."""

from rookery.azureml.finder import fill
from rookery.errors import TuneConfigError, TuneError, TuneUnsupportedError

HyperDriveException = TuneError
HyperDriveConfigException = TuneConfigError
HyperDriveScenarioNotSupportedException = TuneUnsupportedError


# Never raised here; user code may name them in `except`, or raise them.
class HyperDriveServiceException(HyperDriveException):
    """Of v1's service."""


class HyperDriveNotImplementedException(HyperDriveScenarioNotSupportedException):
    """Of what v1's service could not do."""


class HyperDriveRehydrateException(HyperDriveException):
    """Of v1's runs that were opened again."""


fill(globals())
