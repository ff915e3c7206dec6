"""The designer's errors: every documented one by its id and number. Standard library only.

The class of an error is named `<id>Error`; those that image modules raise are written out, the others are made from the
table below, so that `by_id("ColumnNotFound")` and `except ModuleError` cover all of them.
"""

from __future__ import annotations

__all__ = [
    "FailedToDownloadFilesError",
    "FailedToWriteOutputsError",
    "GreaterThanError",
    "GreaterThanOrEqualToError",
    "ImageExceedsLimitError",
    "InvalidDatasetError",
    "InvalidLearnerError",
    "InvalidModelDirectoryError",
    "InvalidTrainingDatasetError",
    "InvalidTransformationDirectoryError",
    "InvalidZipFileError",
    "LabelColumnDoesNotHaveLabeledPointsError",
    "LearnerTypesNotCompatibleError",
    "LessThanError",
    "LessThanOrEqualToError",
    "LibraryExceptionError",
    "ModuleError",
    "ModuleOutOfMemoryError",
    "NotInRangeValueError",
    "NotLabeledDatasetError",
    "NotScoredDatasetError",
    "NullOrEmptyError",
    "ParameterParsingError",
    "TimeoutOccuredError",
    "TooFewRowsInDatasetError",
    "UnableToDeserializeModelError",
    "UntrainedModelError",
    "UserErrorError",
    "all_errors",
    "by_id",
]


class ModuleError(Exception):
    """What a module raises on purpose. `number` is the documented code, `error_id` the documented name."""

    number = 0

    @property
    def error_id(self) -> str:
        return type(self).__name__[: -len("Error")]

    @property
    def code(self) -> str:
        """As people search for it: four digits."""
        return f"{self.number:04d}"


class ParameterParsingError(ModuleError, ValueError):
    number = 2


class NullOrEmptyError(ModuleError, ValueError):
    number = 3


class GreaterThanError(ModuleError, ValueError):
    number = 4


class GreaterThanOrEqualToError(ModuleError, ValueError):
    number = 5


class LessThanError(ModuleError, ValueError):
    number = 6


class LessThanOrEqualToError(ModuleError, ValueError):
    number = 7


class NotInRangeValueError(ModuleError, ValueError):
    number = 8


class UntrainedModelError(ModuleError):
    number = 12


class InvalidLearnerError(ModuleError):
    number = 13


class InvalidDatasetError(ModuleError):
    number = 18


class TooFewRowsInDatasetError(ModuleError):
    number = 21


class NotLabeledDatasetError(ModuleError):
    number = 24


class NotScoredDatasetError(ModuleError):
    number = 25


class LearnerTypesNotCompatibleError(ModuleError):
    number = 62


class TimeoutOccuredError(ModuleError, TimeoutError):  # the documented spelling
    number = 72


class UnableToDeserializeModelError(ModuleError):
    number = 82


class InvalidTrainingDatasetError(ModuleError):
    number = 83


class InvalidZipFileError(ModuleError):
    number = 102


class ImageExceedsLimitError(ModuleError):
    number = 127


class LabelColumnDoesNotHaveLabeledPointsError(ModuleError):
    number = 134


class ModuleOutOfMemoryError(ModuleError):
    number = 138


class InvalidTransformationDirectoryError(ModuleError):
    number = 158


class InvalidModelDirectoryError(ModuleError):
    number = 159


class FailedToWriteOutputsError(ModuleError):
    number = 160


class FailedToDownloadFilesError(ModuleError):
    number = 162


class LibraryExceptionError(ModuleError):
    """Stands in `error_info.json` for any exception that is not one of these."""

    number = 1000


class UserErrorError(ModuleError):
    number = 2000


def all_errors() -> dict[str, type[ModuleError]]:
    """Every documented error by its id."""
    return dict(sorted(_BY_ID.items(), key=lambda item: item[1].number))


def by_id(error_id: str) -> type[ModuleError]:
    """The class of a documented error.

    Raises:
        KeyError: there is none of that id.
    """
    return _BY_ID[error_id]


_OTHERS = {
    "ColumnNotFound": 1, "IncorrectAzureStorageOrContainer": 9, "NotEqualColumnNames": 10, "NoColumnsSelected": 11,
    "ColumnUniqueValuesExceeded": 14, "ErrorDatabaseConnection": 15, "NotCompatibleColumnTypes": 16,
    "InvalidColumnType": 17, "NotSortedValues": 19, "TooFewColumnsInDataset": 20, "BadNumberOfSelectedColumns": 22,
    "InvalidTargetColumn": 23, "EqualColumnNames": 26, "InconsistentSize": 27, "DuplicatedColumnName": 28,
    "InvalidUri": 29, "CouldNotDownloadFile": 30, "TooFewColumnsSelected": 31, "NaN": 32, "Infinity": 33,
    "MoreThanOneRating": 34, "MissingFeatures": 35, "DuplicateFeatureDefinition": 36, "MultipleLabelColumns": 37,
    "FailedToCompleteOperation": 39, "CouldNotConvertColumn": 42, "CannotDeriveElementType": 44, "MixedColumn": 45,
    "InvalidPathForDirectoryCreation": 46, "TooFewFeatureColumnsInDataset": 47, "CouldNotOpenFile": 48,
    "FileParsingFailed": 49, "IncorrectAzureStorageKey": 52, "NoUserFeaturesOrItemsFound": 53,
    "InvalidColumnCategorySelected": 56, "AlreadyExists": 57, "NotExpectedLabelColumn": 58, "ColumnIndexParsing": 59,
    "InvalidColumnIndexRange": 60, "ColumnCountNotEqual": 61, "IncorrectAzureStorageOrKey": 64,
    "IncorrectAzureBlobName": 65, "UnableToUploadToAzureBlob": 66, "UnexpectedNumberOfColumns": 67,
    "InvalidHiveScript": 68, "InvalidSQLScript": 69, "AzureTableNotExist": 70, "ErrorConvertingColumn": 73,
    "InvalidBinningFunction": 75, "UnsupportedBlobWriteMode": 77, "HttpRedirectionNotAllowed": 78,
    "IncorrectAzureContainer": 79, "ColumnWithAllMissings": 80, "PCASparseDatasetWrongDimensionsNumber": 81,
    "UnableToEvaluateCustomModel": 84, "FailedToEvaluateScript": 85, "FailedToCreateHiveTable": 90,
    "UnsupportedParameterType": 105, "UnsupportedOutputType": 107, "SchemaDoesNotMatch": 125,
    "NumberOfUnconditionalProbabilitiesExceedsLimit": 128, "ExceedsColumnLimit": 129,
    "NotEnoughNormalizedColumns": 141, "JoinOnIncompatibleColumnTypes": 154, "ColumnNamesNotString": 155,
    "FailedToReadAzureSQLDatabase": 156, "IncorrectAzureMLDatastore": 157, "FailedJoinOperation": 161,
}  # fmt: skip

_BY_ID: dict[str, type[ModuleError]] = {cls.__name__[: -len("Error")]: cls for cls in ModuleError.__subclasses__()}
for _id, _number in _OTHERS.items():
    _made = type(_id + "Error", (ModuleError,), {"number": _number, "__module__": __name__})
    globals()[_made.__name__] = _made  # so that they pickle
    _BY_ID[_id] = _made
