"""Types of columns and how files of tables are read, under v1's names."""

from __future__ import annotations

import enum
from typing import Any, Optional

from rookery.errors import UnsupportedError

__all__ = [
    "DataType",
    "FileEncoding",
    "FileType",
    "HistogramCompareMethod",
    "PromoteHeadersBehavior",
    "SkipLinesBehavior",
]


class DataType:
    """The type of a column: `DataType.to_long()` and its like."""

    def __init__(self, kind: str = "string", **options: Any) -> None:
        self._kind, self._options = kind, options

    def to_plain(self) -> dict[str, Any]:
        return {"kind": self._kind, **{k: v for k, v in self._options.items() if v is not None}}

    @staticmethod
    def to_string() -> DataType:
        return DataType("string")

    @staticmethod
    def to_long() -> DataType:
        return DataType("long")

    @staticmethod
    def to_float(decimal_mark: str = ".") -> DataType:
        return DataType("float", decimal_mark=decimal_mark)

    @staticmethod
    def to_bool() -> DataType:
        return DataType("bool")

    @staticmethod
    def to_stream(workspace: Any, escaped: bool = False) -> DataType:
        raise UnsupportedError("Columns of streams are not available. Keep the files in a data set of files.")

    @staticmethod
    def to_datetime(formats: Any = None) -> DataType:
        wanted: Optional[list[str]] = [formats] if isinstance(formats, str) else list(formats) if formats else None
        return DataType("datetime", formats=wanted)

    def __repr__(self) -> str:
        return f"DataType({self._kind})"


class HistogramCompareMethod(enum.Enum):
    WASSERSTEIN = 0
    ENERGY = 1


class PromoteHeadersBehavior(enum.Enum):
    NO_HEADERS = 0
    ONLY_FIRST_FILE_HAS_HEADERS = 1
    COMBINE_ALL_FILES_HEADERS = 2
    ALL_FILES_HAVE_SAME_HEADERS = 3


class SkipLinesBehavior(enum.Enum):
    NO_ROWS = 0
    FROM_FIRST_FILE_ONLY = 1
    FROM_ALL_FILES = 2


class FileEncoding(enum.Enum):
    UTF8 = 0
    ISO88591 = 1
    LATIN1 = 2
    ASCII = 3
    UTF16 = 4
    UTF32 = 5
    UTF8BOM = 6
    WINDOWS1252 = 7


class FileType(enum.Enum):
    GENERIC_CSV = "GenericCSV"
    GENERIC_CSV_NO_HEADER = "GenericCSVNoHeader"
    GENERIC_TSV = "GenericTSV"
    GENERIC_TSV_NO_HEADER = "GenericTSVNoHeader"
    ZIP = "Zip"
    UNKNOWN = "Unknown"
