"""ImageDirectory: pictures with their ids and categories, as one folder."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

from rookery_vision.errors import ImageExceedsLimitError, InvalidDatasetError, NotLabeledDatasetError
from rookery_vision.formats.meta import read_meta, write_meta
from rookery_vision.pictures.decode import TooManyPixels, decode, size_of, to_rgb
from rookery_vision.pictures.limits import Limits

__all__ = ["ImageDirectory", "ImageDirectoryWriter", "ImageRow"]

KIND = "ImageDirectory"
LIST, SCHEMA, SAMPLES, SKIPPED, PICTURES = "images.lst", "_schema.json", "_samples.json", "_skipped.json", "image"
NUM_SAMPLES = 3
SAMPLE_EDGE = 256


class ImageRow(NamedTuple):
    """One picture. `file_name` is below `image/`."""

    id: int
    file_name: str
    width: int
    height: int
    category: Optional[str]


class ImageDirectory:
    """One that is there already. Read-only."""

    def __init__(self, folder: str, rows: list[ImageRow], categories: Optional[list[str]]) -> None:
        self.folder, self.rows, self.categories = folder, rows, categories

    @classmethod
    def is_one(cls, folder: str) -> bool:
        meta = read_meta(folder) or {}
        return meta.get("type") == KIND and all(os.path.isfile(os.path.join(folder, n)) for n in (LIST, SCHEMA))

    @classmethod
    def read(cls, folder: str, is_labelled: bool = False) -> ImageDirectory:
        """What a port of that type takes.

        Raises:
            InvalidDatasetError: it is not an image directory, or a damaged one.
            NotLabeledDatasetError: `is_labelled` is asked for, and it has no categories.
        """
        if not cls.is_one(folder):
            raise InvalidDatasetError(
                f"{folder} is not an image directory. Connect Convert to Image Directory, which makes one of a folder or an archive."
            )
        try:
            with open(os.path.join(folder, SCHEMA), encoding="utf-8") as f:
                categories = _categories(json.load(f))
            with open(os.path.join(folder, LIST), encoding="utf-8") as f:
                rows = [_row(json.loads(line)) for line in f if line.strip()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidDatasetError(
                f"{folder} is damaged: {error}. Make it again with Convert to Image Directory."
            ) from error
        if is_labelled and categories is None:
            raise NotLabeledDatasetError(
                f"{folder} has no categories. Give pictures in folders named for what they show: <category>/<file>."
            )
        known = set(categories or ())
        strange = {r.category for r in rows if categories is not None and r.category not in known}
        if strange:
            raise InvalidDatasetError(f"{folder}: {len(strange)} categories in {LIST} are not in {SCHEMA}.")
        return cls(folder, rows, categories)

    def path(self, row: ImageRow) -> str:
        return os.path.join(self.folder, PICTURES, row.file_name)

    def read_bytes(self, row: ImageRow) -> bytes:
        with open(self.path(row), "rb") as f:
            return f.read()

    def decode(self, row: ImageRow, short_edge: Optional[int] = None) -> Any:
        """The picture as an array (height, width, 3), 8 bits, RGB.

        Raises:
            InvalidDatasetError: it cannot be read.
            ImageExceedsLimitError: it has more pixels than allowed, whatever the list says of it.
        """
        try:
            data = self.read_bytes(row)
            size_of(data, Limits.from_environment().pixels)
            return decode(data, short_edge)
        except TooManyPixels as error:
            raise ImageExceedsLimitError(
                f"{self.path(row)} has {error}; ROOKERY_VISION_MAX_PIXELS says how many are allowed."
            ) from error
        except (OSError, ValueError, SyntaxError) as error:
            raise InvalidDatasetError(f"{self.path(row)} cannot be read: {error}.") from error

    def open_image(self, row: ImageRow) -> Any:
        """The picture as Pillow's, in RGB."""
        from PIL import Image

        return Image.fromarray(self.decode(row))

    @property
    def labels(self) -> list[int]:
        """The category's place of every row."""
        places = {name: i for i, name in enumerate(self.categories or ())}
        return [places[r.category] for r in self.rows if r.category is not None]


class ImageDirectoryWriter:
    """Writes one; `close` makes it whole."""

    def __init__(self, folder: str, categories: Optional[Sequence[str]]) -> None:
        self.folder, self.categories = folder, list(categories) if categories is not None else None
        self._places = {name: i for i, name in enumerate(self.categories or ())}
        self._rows: list[ImageRow] = []
        os.makedirs(os.path.join(folder, PICTURES), exist_ok=True)

    def name_for(self, id: int, category: Optional[str], suffix: str) -> str:
        place = f"{self._places[category]}_" if category is not None else ""
        return f"{place}{id}{suffix.lower()}"

    def add_file(self, source: str, row: ImageRow, how: str = "copy") -> None:
        """Take a file along under the row's name. how: copy, link (else copy) or move."""
        target = os.path.join(self.folder, PICTURES, row.file_name)
        if how == "move":
            shutil.move(source, target)
        elif how != "link" or not _linked(source, target):
            shutil.copyfile(source, target)
        self._rows.append(row)

    def add_bytes(self, data: bytes, row: ImageRow) -> None:
        with open(os.path.join(self.folder, PICTURES, row.file_name), "wb") as f:
            f.write(data)
        self._rows.append(row)

    def close(self, skipped: Iterable[tuple[str, str]] = ()) -> ImageDirectory:
        rows = sorted(self._rows, key=lambda r: r.id)
        with open(os.path.join(self.folder, LIST), "w", encoding="utf-8") as f:
            for row in rows:
                f.write(json.dumps(_as_json(row), ensure_ascii=False) + "\n")
        self._write_json(SCHEMA, _schema(self.categories))
        self._write_json(SKIPPED, [{"file": file, "reason": reason} for file, reason in skipped])
        made = ImageDirectory(self.folder, rows, self.categories)
        self._write_json(SAMPLES, [_sample(made, row) for row in rows[:NUM_SAMPLES]])
        write_meta(
            self.folder, KIND, images=LIST, schema=SCHEMA, samples=SAMPLES, skipped=SKIPPED, num_images=len(rows)
        )
        return made

    def _write_json(self, name: str, data: Any) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            json.dump(data, f, ensure_ascii=False)


def _linked(source: str, target: str) -> bool:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        return False
    return True


def _row(data: dict[str, Any]) -> ImageRow:
    info = data["image_info"]
    name = str(info["file_name"])
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} leads out of the folder")
    category = data.get("category")
    return ImageRow(
        int(data["id"]), name, int(info["width"]), int(info["height"]), None if category is None else str(category)
    )


def _as_json(row: ImageRow) -> dict[str, Any]:
    info = {"file_name": row.file_name, "width": row.width, "height": row.height}
    labelled = {"category": row.category} if row.category is not None else {}
    return {"id": row.id, "image_info": info, **labelled}


def _schema(categories: Optional[list[str]]) -> dict[str, Any]:
    picture = {
        "name": "image",
        "type": "Bytes",
        "mime_type": "image/png",
        "image_ref": "image_info",
        "is_feature": True,
    }
    columns: list[dict[str, Any]] = [picture, {"name": "id", "type": "Integer", "is_feature": False}]
    if categories is not None:
        named = [{"id": i, "name": name} for i, name in enumerate(categories)]
        columns.append(
            {
                "name": "category",
                "type": "String",
                "is_feature": False,
                "annotation_type": "COCO_classification",
                "categories": named,
            }
        )
    return {"columns": columns, "label": "category" if categories is not None else None}


def _categories(schema: dict[str, Any]) -> Optional[list[str]]:
    for column in schema["columns"]:
        if column["name"] == "category":
            return [str(c["name"]) for c in sorted(column["categories"], key=lambda c: int(c["id"]))]
    return None


def _sample(directory: ImageDirectory, row: ImageRow) -> dict[str, Any]:
    """A row as a web service takes it: the picture as PNG in base64."""
    picture = to_rgb(directory.open_image(row))
    picture.thumbnail((SAMPLE_EDGE, SAMPLE_EDGE))
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    labelled = {"category": row.category} if row.category is not None else {}
    return {"image": base64.b64encode(stream.getvalue()).decode(), "id": row.id, **labelled}
