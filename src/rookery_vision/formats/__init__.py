"""The folders that go from module to module."""

from rookery_vision.formats.image_directory import ImageDirectory, ImageDirectoryWriter, ImageRow
from rookery_vision.formats.model_directory import ModelSpec, read_model_spec, write_model_spec
from rookery_vision.formats.table import Column, read_table, write_table
from rookery_vision.formats.transformation import read_transformation, write_transformation

__all__ = [
    "Column",
    "ImageDirectory",
    "ImageDirectoryWriter",
    "ImageRow",
    "ModelSpec",
    "read_model_spec",
    "read_table",
    "read_transformation",
    "write_model_spec",
    "write_table",
    "write_transformation",
]
