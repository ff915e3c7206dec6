"""Tables from files: a file, a folder of them, a zip, or what an address answers."""

from __future__ import annotations

import fnmatch
import os
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Optional

from rookery_tabular.frames import Frame, read_frame, write_frame
from rookery_vision.errors import InvalidDatasetError, NullOrEmptyError, ParameterParsingError, by_id

__all__ = ["import_table", "read_files"]

ENDINGS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
}
BY_ENDING = "By its ending"
TIMEOUT_S = 60.0


def import_table(
    dataset: Optional[str], output: str, path: str, file_format: str, has_header: bool, encoding: str
) -> None:
    """
    Raises:
        ModuleError: nothing is given, it is not there, or it is no table.
    """
    if path.startswith(("http://", "https://")):
        with tempfile.TemporaryDirectory(prefix="rookery-import-") as folder:
            frame = Frame(read_files(_fetch(path, folder), "", file_format, has_header, encoding))
    elif dataset is None:
        raise NullOrEmptyError("Neither a data set is connected nor is 'Path or URL' an address. Connect or give one.")
    elif path or file_format != BY_ENDING or not has_header:
        frame = Frame(read_files(dataset, path, file_format, has_header, encoding))
    else:
        frame = read_frame(dataset)
    write_frame(output, frame)


def read_files(
    where: str, pattern: str = "", file_format: str = BY_ENDING, has_header: bool = True, encoding: str = "utf-8"
) -> Any:
    """One pandas.DataFrame of all files, below each other in the order of their names.

    Raises:
        InvalidDatasetError: there is no table in it.
    """
    import pandas

    found = _tables(where, pattern, file_format)
    frames = [_read(path, kind, has_header, encoding) for path, kind in found]
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def _tables(where: str, pattern: str, file_format: str) -> list[tuple[str, str]]:
    if os.path.isfile(where):
        paths = {os.path.basename(where): where}
    else:
        paths = {}
        for folder, folders, files in os.walk(where, followlinks=False):
            folders.sort()
            for name in sorted(files):
                full = os.path.join(folder, name)
                if not name.startswith((".", "_")):
                    paths[os.path.relpath(full, where).replace(os.sep, "/")] = full
    if pattern:
        if os.path.isabs(pattern) or ".." in pattern.split("/"):
            raise InvalidDatasetError(f"'{pattern:.200}' leads out of the data set. Give a path below it.")
        paths = {name: path for name, path in paths.items() if name == pattern or fnmatch.fnmatchcase(name, pattern)}
    kinds = {name: _kind(name, file_format) for name in paths}
    chosen = [(paths[name], kind) for name, kind in sorted(kinds.items()) if kind]
    if not chosen:
        shown = ", ".join(sorted(kinds)[:5]) or "no file"
        raise InvalidDatasetError(
            f"{where} has no table{' at ' + repr(pattern)[:200] if pattern else ''}: it holds {shown}. Tables are files that end with "
            f"{', '.join(ENDINGS)}; give 'File format' for other endings, or connect a module that makes a table."
        )
    if len({kind for _, kind in chosen}) > 1:
        raise InvalidDatasetError(
            f"{where} has tables of several kinds ({', '.join(sorted({k for _, k in chosen}))}). Say which with 'Path or URL' of Import Data."
        )
    return chosen


def _kind(name: str, file_format: str) -> str:
    return file_format if file_format != BY_ENDING else ENDINGS.get(os.path.splitext(name)[1].lower(), "")


def _read(path: str, kind: str, has_header: bool, encoding: str) -> Any:
    import pandas

    try:
        if kind == "Parquet":
            frame = pandas.read_parquet(path)
        elif kind == "JSON lines":
            frame = pandas.read_json(path, lines=True, encoding=encoding)
        else:
            frame = pandas.read_csv(
                path,
                sep="," if kind == "CSV" else "\t",
                header=0 if has_header else None,
                encoding=encoding,
                encoding_errors="strict",
                low_memory=False,
            )
    except LookupError as error:
        raise ParameterParsingError(
            f"Parameter 'Encoding' is {encoding!r:.100}: {error}. Try utf-8 or latin-1."
        ) from None
    except UnicodeError as error:
        raise by_id("FileParsingFailed")(
            f"{os.path.basename(path)} is not {encoding}: {str(error)[:200]}. Give another 'Encoding' to Import Data, such as latin-1."
        ) from None
    except pandas.errors.EmptyDataError:
        frame = pandas.DataFrame()
    except Exception as error:  # pandas', pyarrow's: without a common root
        raise by_id("FileParsingFailed")(
            f"{os.path.basename(path)} cannot be read as {kind}: {str(error)[:300]}."
        ) from error
    if not has_header and kind in ("CSV", "TSV"):
        frame.columns = [f"Col{i + 1}" for i in range(len(frame.columns))]
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _fetch(url: str, folder: str) -> str:
    name = os.path.basename(urllib.parse.urlsplit(url).path) or "data.csv"
    path = os.path.join(folder, name.replace(os.sep, "_"))
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, open(path, "wb") as f:
            shutil.copyfileobj(answer, f)
            promised = answer.headers.get("Content-Length")
            if promised is not None and f.tell() != int(promised):
                raise ConnectionError(f"it broke off after {f.tell()} of {promised} bytes")
    except (OSError, ValueError) as error:
        # The address may carry a key; what is shown of it is where it leads.
        place = urllib.parse.urlsplit(url)._replace(query="", fragment="")
        shown = place._replace(netloc=place.hostname or "").geturl()
        raise by_id("CouldNotDownloadFile")(f"{shown:.300} cannot be fetched: {str(error)[:200]}.") from None
    return path
