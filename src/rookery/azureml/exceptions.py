"""azureml.exceptions: v1's names for our errors, so that `except ComputeTargetException` catches ours.

Runs on Python 3.6. Differs: WebserviceException catches ModelNotFoundException too, its sibling in v1.
"""

from rookery.errors import (
    AuthenticationError,
    ComputeError,
    DatasetTimestampMissingError,
    ModelError,
    ModelNotFoundError,
    RookeryError,
    RunCanceledError,
    RunConfigError,
    RunEnvironmentError,
    RunFailedError,
    ServiceError,
    SnapshotError,
    SubmitError,
    UserError,
    WorkspaceError,
)

__all__ = [
    "ActivityCanceledException",
    "ActivityFailedException",
    "AuthenticationException",
    "AzureMLAggregatedException",
    "AzureMLException",
    "ComputeTargetException",
    "DatasetTimestampMissingError",
    "DiscoveryUrlNotFoundException",
    "ExperimentExecutionException",
    "ModelNotFoundException",
    "ModelPathNotFoundException",
    "ParallelRunException",
    "ProjectSystemException",
    "RunConfigurationException",
    "RunEnvironmentException",
    "ServiceException",
    "SnapshotException",
    "TrainingException",
    "UserErrorException",
    "WebserviceException",
    "WorkspaceException",
    "WorkspacePrivateEndpointException",
]

AzureMLException = RookeryError
UserErrorException = UserError
AuthenticationException = AuthenticationError
ComputeTargetException = ComputeError
ActivityFailedException = RunFailedError
ActivityCanceledException = RunCanceledError
ExperimentExecutionException = SubmitError
RunConfigurationException = RunConfigError
RunEnvironmentException = RunEnvironmentError
SnapshotException = SnapshotError
ServiceException = ServiceError
WorkspaceException = WorkspaceError
WebserviceException = ModelError
ModelNotFoundException = ModelNotFoundError
ModelPathNotFoundException = ModelNotFoundError


# Never raised here; user code may name them in `except`, or raise them.
class TrainingException(AzureMLException):
    """Of v1's estimators."""


class ProjectSystemException(AzureMLException):
    """Of v1's project folders."""


class DiscoveryUrlNotFoundException(AzureMLException):
    """Of v1's service discovery."""

    def __init__(self, discovery_key="", **kwargs):
        text = "Discovery URL not found: {}".format(discovery_key)
        super(DiscoveryUrlNotFoundException, self).__init__(text, **kwargs)


class WorkspacePrivateEndpointException(AzureMLException):
    """Of v1's private endpoints."""

    found_multiple = False


class ParallelRunException(AzureMLException):
    """Of v1's ParallelRunStep."""

    delay_seconds = 0


class AzureMLAggregatedException(AzureMLException):
    """Several errors in one."""
