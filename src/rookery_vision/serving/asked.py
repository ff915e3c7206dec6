"""What somebody asks of a served graph: rows or a picture, and the folders that its modules read."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Sequence
from typing import Any, Optional

from rookery_vision.formats.image_directory import ImageDirectoryWriter, ImageRow
from rookery_vision.formats.table import Column, write_table
from rookery_vision.pictures.decode import TooManyPixels, decode, size_of
from rookery_vision.pictures.limits import Limits

__all__ = ["BadRequest", "is_picture", "read_rows", "write_rows"]

Rows = list[dict[str, Any]]
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM")


class BadRequest(ValueError):
    """The request is at fault: 400, with these words."""


def is_picture(body: bytes) -> bool:
    """Whether a body is the file of a picture, by how it begins."""
    return body.startswith(_BEGINNINGS) or (body[:4] == b"RIFF" and body[8:12] == b"WEBP")


def read_rows(body: bytes, names: Sequence[str]) -> dict[str, Rows]:
    """{input: rows} of a JSON body. `names`: the graph's inputs; where there is one, the body may leave its name out.

    Raises:
        BadRequest: it is something else; the words say what is allowed.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body is neither JSON ({error}) nor a JPEG or PNG. Send a list of rows.") from None
    if isinstance(given, dict) and isinstance(given.get("Inputs"), dict):
        found = given["Inputs"]
        if len(names) == 1 and len(found) == 1:
            found = {names[0]: next(iter(found.values()))}
        odd = sorted(set(found) ^ set(names))
        if odd:
            raise BadRequest(f"Inputs has {', '.join(map(str, found)) or 'nothing'}; this takes {', '.join(names)}.")
        return {name: _checked(rows) for name, rows in found.items()}
    if len(names) > 1:
        raise BadRequest(f'Several inputs are wanted: {{"Inputs": {{name: rows}}}} with {", ".join(names)}.')
    if isinstance(given, dict):
        given = given["data"] if isinstance(given.get("data"), list) else [given]
    return {names[0]: _checked(given)}


def write_rows(folder: str, rows: Rows, types: Sequence[str], known: dict[str, str], label: dict[str, Any]) -> None:
    """Rows as what a port takes: pictures for an ImageDirectory, else a table; a port that takes any folder, by what the rows have.

    Args:
        known: the kind of columns by the model, for those that have no value in any row.
        label: the column that the model learned to say, with a value: modules may want it, nobody has to send it.

    Raises:
        BadRequest: they are not that.
    """
    wants_table = "DataFrameDirectory" in types
    if "ImageDirectory" in types or (not wants_table and isinstance(rows[0].get("image"), str)):
        _write_pictures(folder, [_picture(row, place) for place, row in enumerate(rows, 1)])
    else:
        _write_table(folder, rows, known, label)


def _checked(rows: Any) -> Rows:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadRequest("The request is no list of rows {column: value}. For pictures a row has `image`, in base64.")
    if not rows:
        raise BadRequest("The request has no rows. Send at least one.")
    return rows


def _picture(row: dict[str, Any], place: int) -> bytes:
    try:
        return base64.b64decode(row["image"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise BadRequest(f"Row {place} has no `image`: the bytes of a PNG or JPEG in base64.") from None


def _write_pictures(folder: str, pictures: list[bytes]) -> None:
    writer = ImageDirectoryWriter(folder, None)
    limit = Limits.from_environment().pixels
    for place, data in enumerate(pictures):
        try:
            width, height = size_of(data, limit)
            decode(data)  # modules leave out what is damaged, and the answers would be those of other rows
        except TooManyPixels as error:
            raise BadRequest(
                f"Picture {place + 1} has {error}; ROOKERY_VISION_MAX_PIXELS says how many are allowed."
            ) from None
        except (OSError, ValueError, SyntaxError) as error:
            raise BadRequest(f"Picture {place + 1} cannot be read: {error}. Send a PNG or JPEG.") from None
        suffix = ".jpg" if data[:2] == b"\xff\xd8" else ".png"
        writer.add_bytes(data, ImageRow(place, writer.name_for(place, None, suffix), width, height, None))
    writer.close()


def _write_table(folder: str, rows: Rows, known: dict[str, str], label: dict[str, Any]) -> None:
    import pyarrow

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [Column(name, _values(rows, name, known.get(name))) for name in names]
    columns += [Column(name, [value] * len(rows)) for name, value in label.items() if name not in names]
    try:
        write_table(folder, columns)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, OverflowError) as error:
        raise BadRequest(f"A column has values of several kinds: {str(error)[:200]}. Send one kind in each.") from None


def _values(rows: Rows, name: str, kind: Optional[str]) -> list[Any]:
    values = [row.get(name) for row in rows]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if not any(value is not None for value in values):
        return [float("nan")] * len(values) if kind == "number" else values
    # 1 and 1.5 in one column: JSON makes no difference, columns do.
    if any(isinstance(value, float) for value in numbers) and len(numbers) == sum(v is not None for v in values):
        return [None if value is None else float(value) for value in values]
    return values


def folder_name(parent: str, place: int) -> str:
    """A new folder of a request's."""
    made = os.path.join(parent, str(place))
    os.makedirs(made)
    return made
