"""Execute Python Script: a script of the user's, on one or two tables."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from rookery_tabular.frames import Frame, read_frame, write_frame
from rookery_vision.errors import ModuleError, by_id

__all__ = ["run_script"]

NAME = "azureml_main"
FILE = "<Python script>"


def run_script(
    script: str,
    dataset1: Optional[str],
    dataset2: Optional[str],
    bundle: Optional[str],
    output1: str,
    output2: str,
) -> None:
    """
    Raises:
        FailedToEvaluateScriptError: it does not compile, has no azureml_main, raises, or returns something else than tables.
    """
    import pandas

    given = [read_frame(each).data if each is not None else None for each in (dataset1, dataset2)]
    with _bundle(bundle):
        made = _call(script, given)
    tables = list(made) if isinstance(made, (tuple, list)) else [made]
    for place, table in enumerate(tables):
        if not isinstance(table, pandas.DataFrame):
            raise _failed(
                f"{NAME} returned {type(table).__name__} at place {place + 1}. Return one pandas.DataFrame, or two."
            )
    if not 1 <= len(tables) <= 2:
        raise _failed(f"{NAME} returned {len(tables)} tables. Return one, or two.")
    for output, table in zip((output1, output2), [*tables, pandas.DataFrame()]):
        write_frame(output, Frame(table))


def _call(script: str, given: list[Any]) -> Any:
    names: dict[str, Any] = {"__name__": "script", "__file__": FILE}
    try:
        exec(compile(script, FILE, "exec"), names)
        function = names.get(NAME)
        if not callable(function):
            raise _failed(f"The script has no function {NAME}. Define `def {NAME}(dataframe1=None, dataframe2=None):`.")
        code = getattr(function, "__code__", None)
        takes = 2 if code is None or code.co_flags & 0x04 else min(2, code.co_argcount)
        return function(*given[:takes])
    except ModuleError:
        raise
    except MemoryError:
        raise
    except SystemExit as error:
        raise _failed(f"The script called exit({error.code!r:.50}). Return a table instead.") from error
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == FILE]
        line = error.lineno if isinstance(error, SyntaxError) else (frames[-1].lineno if frames else None)
        where = f", line {line}" if line else ""
        raise _failed(f"{type(error).__name__}{where}: {str(error)[:2000]}") from error


def _failed(words: str) -> ModuleError:
    return by_id("FailedToEvaluateScript")(words)


@contextmanager
def _bundle(bundle: Optional[str]) -> Iterator[None]:
    """Modules of a zip or a folder, first on the path for as long as the script runs."""
    if bundle is None:
        yield
        return
    from rookery_vision.pictures.archives import is_archive, unpack

    found = [bundle] if os.path.isfile(bundle) else sorted(os.path.join(bundle, n) for n in os.listdir(bundle))
    packed = [path for path in found if os.path.isfile(path) and is_archive(path)]
    with tempfile.TemporaryDirectory(prefix="rookery-bundle-") as folder:
        for path in packed:
            unpack(path, folder)
        where = [folder] if packed else [bundle]
        sys.path[:0] = where
        try:
            yield
        finally:
            for each in where:
                sys.path.remove(each)
