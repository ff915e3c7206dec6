"""A look at a data set: the first rows of a table, what lies in a folder, which of it are pictures."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Optional

from rookery.data.files import read_entry
from rookery.errors import DataError
from rookery.record import Record
from rookery.spec.manifest import Entry, Manifest

__all__ = ["PICTURES", "list_folder", "picture_type", "preview_table"]

HEAD_BYTES = 1024 * 1024
MAX_CELL = 1000
# By their first bytes: what a browser may show as a picture. SVG is a program and is not among them.
PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


def picture_type(head: bytes) -> Optional[str]:
    """The media type of a picture by its first bytes; None for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in PICTURES.items() if head.startswith(magic)), None)


def list_folder(manifest: Manifest, folder: str = "", limit: int = 200, first: int = 0) -> dict[str, Any]:
    """Folders and files right below a folder, and how much there is in all.

    `entries` has `limit` of them from number `first` on, folders before files.
    """
    prefix = folder.strip("/") + "/" if folder.strip("/") else ""
    folders: dict[str, list[int]] = {}
    files: list[tuple[int, Entry]] = []
    for index, entry in enumerate(manifest.entries):
        if not entry.path.startswith(prefix):
            continue
        rest = entry.path[len(prefix) :]
        name, slash, _ = rest.partition("/")
        if slash:
            counted = folders.setdefault(name, [0, 0])
            if not entry.is_folder:
                counted[0] += 1
                counted[1] += entry.size
        elif rest:
            files.append((index, entry))
    if prefix and not folders and not files and not any(e.path == prefix for e in manifest.entries):
        raise DataError(f"The data set has no folder '{folder:.255}'.")
    shown: list[dict[str, Any]] = [
        {"name": name, "path": prefix + name, "is_folder": True, "files": count, "bytes": size}
        for name, (count, size) in sorted(folders.items())
    ]
    shown += [
        {
            "name": entry.path[len(prefix) :],
            "path": entry.path,
            "is_folder": False,
            "bytes": entry.size,
            "index": index,
            "is_picture": entry.path.lower().endswith(_ENDINGS),
        }
        for index, entry in files
    ]
    return {
        "folder": prefix.rstrip("/"),
        "total": len(shown),
        "pictures": sum(bool(each.get("is_picture")) for each in shown),
        "entries": shown[first : first + limit],
    }


def preview_table(record: Record, manifest: Manifest, definition: dict[str, Any], rows: int = 50) -> dict[str, Any]:
    """`{"columns": […], "rows": [[…]…], "is_whole": bool}`: the first rows of the first file, as texts and numbers.

    Steps that choose rows by chance, time or value are not done here: it is a look at the files.
    """
    form = definition.get("format") or {}
    index = next(i for i, entry in enumerate(manifest.entries) if not entry.is_folder)
    entry, file = read_entry(record, manifest, index)
    if form.get("type") == "parquet":
        with file:
            columns, found, whole = _parquet(file, entry, rows)
    else:
        with file:
            data = file.read(HEAD_BYTES)
            while len(data) < min(HEAD_BYTES, entry.size):
                data += file.read(HEAD_BYTES - len(data))
        complete = len(data) >= entry.size
        if not complete:
            data = data[: data.rfind(b"\n") + 1] or data
        text = data.decode(_encoding(form), "replace")
        read = _json_lines if form.get("type") == "json_lines" else _delimited
        columns, found, whole = read(text, form, rows, complete)
    columns, found = _choose_columns(columns, found, definition.get("steps") or [])
    return {"columns": columns, "rows": found, "is_whole": whole and manifest.files == 1}


def _delimited(text: str, form: dict[str, Any], rows: int, complete: bool) -> tuple[list[str], list[list[Any]], bool]:
    separator = str(form.get("separator") or ",")
    reader = csv.reader(
        io.StringIO(text.removeprefix("\ufeff")), delimiter=separator[:1] if len(separator) == 1 else ","
    )
    found: list[list[Any]] = []
    try:
        for row in reader:
            if row:
                found.append([cell[:MAX_CELL] for cell in row])
            if len(found) > rows + 1:
                break
    except csv.Error as error:
        raise DataError(f"The file cannot be read as a table: {error}.") from None
    if not found:
        return [], [], complete
    if form.get("header", True) not in (False, "none"):
        columns, found = [str(cell) for cell in found[0]], found[1:]
    else:
        columns = [f"Column{i + 1}" for i in range(len(found[0]))]
    return columns, found[:rows], complete and len(found) <= rows


def _json_lines(text: str, form: dict[str, Any], rows: int, complete: bool) -> tuple[list[str], list[list[Any]], bool]:
    objects = []
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:rows]:
        try:
            value = json.loads(line)
        except ValueError:
            if form.get("invalid_lines") == "drop":
                continue
            raise DataError("A line of the file is no JSON. `invalid_lines='drop'` leaves such lines out.") from None
        objects.append(value if isinstance(value, dict) else {"value": value})
    columns = list(dict.fromkeys(name for each in objects for name in each))
    table = [[_cell(each.get(name)) for name in columns] for each in objects]
    return columns, table, complete and len(lines) <= rows


def _parquet(file: Any, entry: Entry, rows: int) -> tuple[list[str], list[list[Any]], bool]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise DataError(
            "A table in Parquet files can be shown only where pyarrow is installed beside the keeper. Install it with "
            "`pip install 'rookery[data]'`."
        ) from None
    try:
        source = parquet.ParquetFile(io.BytesIO(file.read()) if entry.size < 64 * HEAD_BYTES else file)
        batch = next(source.iter_batches(batch_size=rows), None)
    except Exception as error:  # pyarrow's errors are many
        raise DataError(f"'{entry.path}' is no Parquet file that can be read: {str(error)[:200]}.") from None
    columns = list(source.schema_arrow.names)
    if batch is None:
        return columns, [], True
    table = [[_cell(value) for value in row] for row in zip(*(column.to_pylist() for column in batch.columns))]
    return columns, table, source.metadata.num_rows <= rows


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, default=str, ensure_ascii=False)[:MAX_CELL]
    return str(value)[:MAX_CELL]


def _choose_columns(
    columns: list[str], rows: list[list[Any]], steps: list[dict[str, Any]]
) -> tuple[list[str], list[list[Any]]]:
    kept = list(columns)
    for step in steps:
        if step["op"] == "keep_columns":
            kept = [name for name in step.get("columns") or () if name in kept]
        elif step["op"] == "drop_columns":
            kept = [name for name in kept if name not in (step.get("columns") or ())]
    if kept == columns:
        return columns, rows
    where = [columns.index(name) for name in kept]
    return kept, [[row[i] if i < len(row) else None for i in where] for row in rows]


def _encoding(form: dict[str, Any]) -> str:
    names = {"utf8": "utf-8", "iso88591": "iso-8859-1", "utf8bom": "utf-8-sig", "windows1252": "cp1252"}
    given = str(form.get("encoding") or "utf8").lower()
    return names.get(given, given if given in ("latin1", "ascii", "utf16", "utf32") else "utf-8")
