"""Tables as folders."""

from __future__ import annotations

import itertools

import pytest


@pytest.fixture
def tables(tmp_path):
    """`put(frame)` makes a DataFrameDirectory, `get(folder)` reads one, `new()` is a folder that is not there yet."""
    import pandas

    from rookery_tabular.frames import Frame, read_frame, write_frame

    numbers = itertools.count()

    class Tables:
        @staticmethod
        def new():
            return str(tmp_path / f"a folder {next(numbers)}")

        @classmethod
        def put(cls, data, **more):
            import os

            folder = cls.new()
            os.makedirs(folder)
            write_frame(folder, Frame(data if isinstance(data, pandas.DataFrame) else pandas.DataFrame(data), **more))
            return folder

        @staticmethod
        def get(folder):
            return read_frame(folder).data

    return Tables
