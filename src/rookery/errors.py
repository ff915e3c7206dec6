"""Every error Rookery raises on purpose. Runs on Python 3.6, because it travels into the user's process.

    RookeryError
    ├── UserError (ValueError)              what was given is not allowed
    │   ├── AuthenticationError             no token, or one that does not allow this
    │   ├── TooManyTriesError               too many failed logins; wait as long as it says
    │   ├── UnsupportedError                a name that exists in v1 and not here (yet)
    │   └── PathError                       a path that leaves its folder, or is no path at all
    ├── WorkspaceError                      the workspace cannot be used
    │   ├── WorkspaceNotFoundError (LookupError)
    │   ├── ConfigError                     config.json is missing, corrupt or of another version
    │   ├── WorkspaceBusyError              another host or keeper owns it
    │   └── StorageError (OSError)          folder read-only, disk full
    ├── ComputeError                        a compute target cannot do this
    │   └── ComputeNotFoundError (LookupError)
    ├── RunConfigError                      a run's configuration contradicts itself
    ├── TuneError                           a tuning cannot do this
    │   └── TuneConfigError (RunConfigError)      its configuration contradicts itself
    │       └── TuneUnsupportedError (UnsupportedError)  a form of v1 that does not exist here
    ├── SubmitError                         a run could not be submitted
    ├── SnapshotError                       a source folder could not be taken
    ├── EnvironmentBuildError               software could not be prepared
    ├── RunEnvironmentError                 not inside a run
    ├── RunFailedError                      the run ended as Failed; carries the cause
    ├── RunCanceledError                    the run ended as Canceled
    ├── NotFoundError (LookupError)
    │   ├── ExperimentNotFoundError
    │   ├── RunNotFoundError
    │   ├── ArtifactNotFoundError
    │   ├── EnvironmentNotFoundError
    │   ├── DatasetNotFoundError (DataError, UserError)
    │   ├── DatastoreNotFoundError (DataError, UserError)
    │   ├── EndpointNotFoundError (EndpointError)
    │   └── ModelNotFoundError (ModelError)
    ├── ConflictError                       it exists already, or has moved on
    ├── DataError                           data cannot be read, written or found as it was described
    │   └── DatasetTimestampMissingError (UserError)  a time filter without a column of time
    ├── ModelError                          a model cannot be registered or read
    │   └── EndpointError                   an endpoint cannot be made, changed or asked
    └── ServiceError                        the keeper's answer is not one we can use
        ├── KeeperUnavailableError (ConnectionError)
        └── VersionMismatchError

Wording: what was given, what is allowed, what to do next. Each class has a stable `code`, the one that the API sends.
"""

__all__ = [
    "ArtifactNotFoundError",
    "AuthenticationError",
    "ComputeError",
    "ComputeNotFoundError",
    "ConfigError",
    "ConflictError",
    "DataError",
    "DatasetNotFoundError",
    "DatasetTimestampMissingError",
    "DatastoreNotFoundError",
    "EndpointError",
    "EndpointNotFoundError",
    "EnvironmentBuildError",
    "EnvironmentNotFoundError",
    "ExperimentNotFoundError",
    "KeeperUnavailableError",
    "ModelError",
    "ModelNotFoundError",
    "NotFoundError",
    "PathError",
    "RookeryError",
    "RunCanceledError",
    "RunConfigError",
    "RunEnvironmentError",
    "RunFailedError",
    "RunNotFoundError",
    "ServiceError",
    "SnapshotError",
    "StorageError",
    "SubmitError",
    "TooManyTriesError",
    "TuneConfigError",
    "TuneError",
    "TuneUnsupportedError",
    "UnsupportedError",
    "UserError",
    "VersionMismatchError",
    "WorkspaceBusyError",
    "WorkspaceError",
    "WorkspaceNotFoundError",
    "all_errors",
    "error_from_code",
]


class RookeryError(Exception):
    """The root. `message` is for people, `code` for programs, `details` for both."""

    code = "error"
    http_status = 500

    def __init__(self, message="", inner_exception=None, details=None, **more):
        # v1 code raises these classes under its own names, with its own keywords: the message may be called
        # exception_message or error_details, and any other keyword is an attribute (found_multiple, status_code).
        message = more.pop("exception_message", None) or more.pop("error_details", None) or message
        super(RookeryError, self).__init__(message)
        for name in more:
            setattr(self, name, more[name])
        self.message = str(message)
        self.inner_exception = inner_exception
        self.details = dict(details or {})

    def __str__(self):
        return self.message

    def __reduce__(self):
        return (_rebuild, (type(self), self.message, self.details))


def _rebuild(cls, message, details):
    error = cls.__new__(cls)
    RookeryError.__init__(error, message, details=details)
    error.args = (message,)
    return error


class UserError(RookeryError, ValueError):
    code = "user_error"
    http_status = 400


class AuthenticationError(UserError):
    code = "authentication"
    http_status = 401


class TooManyTriesError(UserError):
    code = "too_many_tries"
    http_status = 429


class UnsupportedError(UserError, NotImplementedError):
    code = "unsupported"
    http_status = 400


class PathError(UserError):
    code = "bad_path"
    http_status = 400


class WorkspaceError(RookeryError):
    found_multiple = False
    code = "workspace"
    http_status = 400


class WorkspaceNotFoundError(WorkspaceError, LookupError):
    code = "workspace_not_found"
    http_status = 404


class ConfigError(WorkspaceError, UserError):
    code = "config"
    http_status = 400


class WorkspaceBusyError(WorkspaceError):
    code = "workspace_busy"
    http_status = 409


class StorageError(WorkspaceError, OSError):
    code = "storage"
    http_status = 507


class ComputeError(RookeryError):
    code = "compute"
    http_status = 400


class ComputeNotFoundError(ComputeError, LookupError):
    code = "compute_not_found"
    http_status = 404


class RunConfigError(RookeryError, ValueError):
    code = "run_config"
    http_status = 400


class TuneError(RookeryError):
    code = "tune"
    http_status = 400


class TuneConfigError(TuneError, RunConfigError):
    code = "tune_config"
    http_status = 400


class TuneUnsupportedError(TuneConfigError, UnsupportedError):
    code = "tune_unsupported"
    http_status = 400


class SubmitError(RookeryError):
    code = "submit"
    http_status = 400


class SnapshotError(RookeryError):
    code = "snapshot"
    http_status = 400


class EnvironmentBuildError(RookeryError):
    code = "environment_build"
    http_status = 400


class RunEnvironmentError(RookeryError):
    code = "run_environment"
    http_status = 400


class RunFailedError(RookeryError, RuntimeError):
    code = "run_failed"
    http_status = 409


class RunCanceledError(RookeryError):
    code = "run_canceled"
    http_status = 409


class NotFoundError(RookeryError, LookupError):
    code = "not_found"
    http_status = 404


class ExperimentNotFoundError(NotFoundError):
    code = "experiment_not_found"


class RunNotFoundError(NotFoundError):
    code = "run_not_found"


class ArtifactNotFoundError(NotFoundError):
    code = "artifact_not_found"


class EnvironmentNotFoundError(NotFoundError):
    code = "environment_not_found"


class ConflictError(RookeryError):
    code = "conflict"
    http_status = 409


class DataError(RookeryError):
    code = "data"
    http_status = 400


class DatasetNotFoundError(NotFoundError, DataError, UserError):
    code = "dataset_not_found"
    http_status = 404


class DatasetTimestampMissingError(DataError, UserError):
    code = "dataset_timestamp_missing"
    http_status = 400


class DatastoreNotFoundError(NotFoundError, DataError, UserError):
    code = "datastore_not_found"
    http_status = 404


class ModelError(RookeryError):
    status_code: "int | None" = None
    code = "model"
    http_status = 400


class ModelNotFoundError(NotFoundError, ModelError):
    code = "model_not_found"
    status_code = 404


class EndpointError(ModelError):
    code = "endpoint"


class EndpointNotFoundError(NotFoundError, EndpointError):
    code = "endpoint_not_found"
    status_code = 404


class ServiceError(RookeryError):
    code = "service"
    http_status = 502


class KeeperUnavailableError(ServiceError, ConnectionError):
    code = "keeper_unavailable"
    http_status = 503


class VersionMismatchError(ServiceError):
    code = "version_mismatch"
    http_status = 409


def all_errors():
    """Every class of the tree, by its code."""
    found: "dict[str, type[RookeryError]]" = {}
    todo = [RookeryError]
    while todo:
        cls = todo.pop()
        found.setdefault(cls.code, cls)  # a class without a code of its own never takes its parent's place
        todo.extend(cls.__subclasses__())
    return found


def error_from_code(code, message, details=None):
    """The error that the keeper meant: the class with this code, or ServiceError for one we do not know."""
    cls = all_errors().get(code, ServiceError)
    return _rebuild(cls, message, details or {})
