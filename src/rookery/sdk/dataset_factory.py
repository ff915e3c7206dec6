"""`Dataset.File` and `Dataset.Tabular`: data sets from paths, URLs, folders and frames."""

from __future__ import annotations

import os
import tempfile
import uuid
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.data_reference import DataPath, DataReference
from rookery.sdk.data_types import DataType, FileEncoding, PromoteHeadersBehavior
from rookery.sdk.file_dataset import FileDataset
from rookery.sdk.tabular_dataset import TabularDataset
from rookery.spec.data_definition import check_pattern

if TYPE_CHECKING:
    from rookery.sdk.workspace import Workspace

__all__ = ["DataType", "FileDatasetFactory", "TabularDatasetFactory"]


class FileDatasetFactory:
    @staticmethod
    def from_files(
        path: Any, validate: bool = True, partition_format: Optional[str] = None, is_file: bool = False
    ) -> FileDataset:
        """From a URL, a DataPath, `(datastore, 'path or glob')`, `datastore.path(…)`, or a list of those.

        Args:
            validate: look whether something is there, now.
        """
        sources, workspace = _sources(path)
        definition = {
            "kind": "file",
            "sources": sources,
            "partition_format": partition_format,
            "is_file": bool(is_file),
        }
        made = FileDataset(definition, workspace)
        return _validated(made, validate)

    @staticmethod
    def upload_directory(
        src_dir: str,
        target: Any,
        pattern: Optional[str] = None,
        overwrite: bool = False,
        show_progress: bool = True,
    ) -> FileDataset:
        """Send a folder to a datastore, and make a data set of it."""
        import fnmatch

        store, folder = _target(target)
        if pattern is None:
            store.upload(src_dir, folder, overwrite, show_progress)
        else:
            root = os.path.abspath(src_dir)
            files = [os.path.join(here, name) for here, _, names in os.walk(root) for name in names]
            chosen = [f for f in files if fnmatch.fnmatch(os.path.relpath(f, root).replace(os.sep, "/"), pattern)]
            store.upload_files(chosen, root, folder, overwrite, show_progress)
        return FileDatasetFactory.from_files((store, folder))


class TabularDatasetFactory:
    @staticmethod
    def from_delimited_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        infer_column_types: bool = True,
        set_column_types: Optional[dict[str, Any]] = None,
        separator: str = ",",
        header: Any = True,
        partition_format: Optional[str] = None,
        support_multi_line: bool = False,
        empty_as_string: bool = False,
        encoding: Any = "utf8",
    ) -> TabularDataset:
        form = {
            "type": "delimited",
            "separator": separator,
            "header": _header(header),
            "infer": bool(infer_column_types),
            "multi_line": bool(support_multi_line),
            "empty_as_string": bool(empty_as_string),
            "encoding": encoding.name.lower() if isinstance(encoding, FileEncoding) else str(encoding),
        }
        return _table(path, form, validate, include_path, set_column_types, partition_format)

    @staticmethod
    def from_parquet_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        set_column_types: Optional[dict[str, Any]] = None,
        partition_format: Optional[str] = None,
    ) -> TabularDataset:
        return _table(path, {"type": "parquet"}, validate, include_path, set_column_types, partition_format)

    @staticmethod
    def from_json_lines_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        set_column_types: Optional[dict[str, Any]] = None,
        partition_format: Optional[str] = None,
        invalid_lines: str = "error",
        encoding: Any = "utf8",
    ) -> TabularDataset:
        if invalid_lines not in ("error", "drop"):
            raise UserError(f"invalid_lines={invalid_lines!r}. Known: error, drop.")
        text = encoding.name.lower() if isinstance(encoding, FileEncoding) else str(encoding)
        form = {"type": "json_lines", "invalid_lines": invalid_lines, "encoding": text}
        return _table(path, form, validate, include_path, set_column_types, partition_format)

    @staticmethod
    def from_sql_query(query: Any, validate: bool = True, set_column_types: Any = None, query_timeout: int = 30) -> Any:
        raise UnsupportedError("Rookery does not read SQL databases. Export the table to Parquet files.")

    @staticmethod
    def register_pandas_dataframe(
        dataframe: Any,
        target: Any,
        name: str,
        description: Optional[str] = None,
        tags: Optional[dict[str, Any]] = None,
        show_progress: bool = True,
        row_group_size: Optional[int] = None,
        make_target_path_unique: bool = True,
    ) -> TabularDataset:
        """Write a frame as Parquet to a datastore, and register it (as a new version, where the name exists)."""
        from rookery.sdk.tables import write_parquet

        store, folder = _target(target)
        if make_target_path_unique or not folder:
            folder = "/".join(part for part in (folder, str(uuid.uuid4())) if part)
        with tempfile.TemporaryDirectory(prefix="rookery-frame-") as local:
            file = os.path.join(local, "part-00000.parquet")
            write_parquet(dataframe, file, row_group_size)
            store.upload_files([file], local, folder, True, show_progress)
        made = TabularDatasetFactory.from_parquet_files((store, folder + "/part-00000.parquet"), validate=False)
        return made.register(store.workspace, name, description, tags, create_new_version=True)

    @staticmethod
    def register_spark_dataframe(dataframe: Any, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError("Rookery does not run Spark. Give a pandas frame to register_pandas_dataframe.")

    @staticmethod
    def register_dask_dataframe(
        dataframe: Any, target: Any, name: str, description: Any = None, tags: Any = None, show_progress: bool = True
    ) -> TabularDataset:
        return TabularDatasetFactory.register_pandas_dataframe(
            dataframe.compute(), target, name, description, tags, show_progress
        )


def _table(
    path: Any,
    form: dict[str, Any],
    validate: bool,
    include_path: bool,
    types: Optional[dict[str, Any]],
    partition_format: Optional[str],
) -> TabularDataset:
    sources, workspace = _sources(path)
    if include_path:
        form["include_path"] = True
    if types:
        form["types"] = {str(name): _type(name, given) for name, given in types.items()}
    definition = {"kind": "tabular", "sources": sources, "format": form, "partition_format": partition_format}
    return _validated(TabularDataset(definition, workspace), validate)


def _sources(path: Any) -> tuple[list[dict[str, Any]], Optional[Workspace]]:
    """Sources of a definition, and the workspace of the first datastore among them."""
    if isinstance(path, (list, tuple)) and not _is_pair(path):
        sources: list[dict[str, Any]] = []
        found: Optional[Workspace] = None
        for each in path:
            more, workspace = _sources(each)
            sources += more
            found = found or workspace
        if not sources:
            raise UserError("path is an empty list. Give at least one place.")
        return sources, found
    if _is_pair(path):
        store, places = path[0], path[1]
        texts = [places] if isinstance(places, str) or places is None else list(places)
        return [{"datastore": store.name, "path": check_pattern(text)} for text in texts], store.workspace
    if isinstance(path, (DataReference, DataPath)):
        store = path.datastore
        return [{"datastore": store.name, "path": path.path_on_datastore or ""}], store.workspace
    if isinstance(path, (str, os.PathLike)):
        return [{"url": _url(os.fspath(path))}], None
    raise UserError(
        f"path is {path!r:.200}. Give a URL, (datastore, 'path or glob'), datastore.path('…'), a DataPath, or a list of those."
    )


def _is_pair(path: Any) -> bool:
    return isinstance(path, (list, tuple)) and len(path) == 2 and hasattr(path[0], "datastore_type")


def _url(text: str) -> str:
    """A URL as it is; a path of this machine as one that the keeper of this machine can read."""
    if "://" in text:
        return text
    path = os.path.abspath(os.path.expanduser(text))
    if os.path.exists(path):
        from urllib.parse import quote

        return "file://" + quote(path)
    raise UserError(f"{text!r} is neither a URL nor a path that exists here. On a datastore: (datastore, {text!r}).")


def _target(target: Any) -> tuple[Any, str]:
    """(datastore, folder) of where something is written."""
    if _is_pair(target):
        return target[0], check_pattern(target[1])
    if isinstance(target, (DataReference, DataPath)):
        return target.datastore, target.path_on_datastore or ""
    if hasattr(target, "datastore_type"):
        return target, ""
    raise UserError(f"target is {target!r:.200}. Give a datastore, (datastore, 'folder'), or a DataPath.")


def _validated(dataset: Any, validate: bool) -> Any:
    if validate and dataset._workspace_object is not None:
        dataset._manifest()
    return dataset


def _header(header: Any) -> str:
    """How headers are taken: all, first, none, combine."""
    if isinstance(header, PromoteHeadersBehavior):
        return {
            PromoteHeadersBehavior.NO_HEADERS: "none",
            PromoteHeadersBehavior.ONLY_FIRST_FILE_HAS_HEADERS: "first",
            PromoteHeadersBehavior.COMBINE_ALL_FILES_HEADERS: "combine",
            PromoteHeadersBehavior.ALL_FILES_HAVE_SAME_HEADERS: "all",
        }[header]
    return "all" if header in (True, "all") else "none" if header in (False, None, "none") else str(header)


def _type(name: Any, given: Any) -> dict[str, Any]:
    if isinstance(given, DataType):
        return given.to_plain()
    raise UserError(
        f"set_column_types: the type of '{name}' is {given!r}. Give one of DataType, such as DataType.to_long()."
    )
