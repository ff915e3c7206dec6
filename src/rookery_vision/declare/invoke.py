"""Running a module from a command line: in a terminal, as a job, as a step of a pipeline."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Optional

from rookery_vision.declare.card import Module
from rookery_vision.declare.launched import rank
from rookery_vision.declare.statistics import FILE_NAME, error_info, translate
from rookery_vision.errors import ModuleError

__all__ = ["parse", "run"]


def run(module: Module, words: Sequence[str]) -> int:
    """Run it with the arguments after its name; returns the exit code.

    In a run the exception is raised once `module_statistics/error_info.json` is stored with the run; elsewhere it is told on
    stderr, and the file is written below the folder that `--statistics` names.
    """
    given, statistics = parse(module, words)
    try:
        made = module(**given)
    except Exception as caught:
        error = translate(caught)
        _write(error, statistics)
        if _in_run():
            if error is caught:
                raise
            raise error from caught
        if isinstance(error, ModuleNotFoundError) and "pip install 'rookery[" in str(error):
            print(error, file=sys.stderr)
            return 1
        if not isinstance(error, ModuleError):
            raise
        print(f"Error {error.code} {error.error_id}: {error}", file=sys.stderr)
        return 1
    _write(None, statistics)
    for port, path in zip(module.outputs, made if isinstance(made, tuple) else (made,)):
        print(f"{port.label}: {path}", flush=True)
    return 0


def parse(module: Module, words: Sequence[str]) -> tuple[dict[str, Any], Optional[str]]:
    """Arguments by name, still as text, and the folder of `--statistics`."""
    parser = argparse.ArgumentParser(
        prog=f"rookery module run {module.name}", description=module.help, allow_abbrev=False
    )
    for port in module.inputs:
        parser.add_argument(port.option, dest=port.name, metavar="PATH", help=_plain(f"{port.label}: {port.help}"))
    for port in module.outputs:
        parser.add_argument(port.option, dest=port.name, metavar="FOLDER", help=_plain(f"{port.label}: {port.help}"))
    for parameter in module.parameters:
        default = "must be given" if parameter.is_required else f"default {parameter.default}"
        allowed = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
        parser.add_argument(
            parameter.option,
            dest=parameter.name,
            metavar=parameter.kind.upper(),
            help=_plain(f"{parameter.label}: {parameter.help}{allowed} ({default})"),
        )
    parser.add_argument("--statistics", metavar="FOLDER", help=_plain(f"write {FILE_NAME} below this folder"))
    given = vars(parser.parse_args(list(words)))
    statistics = given.pop("statistics")
    return {name: value for name, value in given.items() if value is not None}, statistics


def _plain(text: str) -> str:
    return text.replace("%", "%%")


def _in_run() -> bool:
    from rookery.worker import find_context

    return find_context() is not None


def _write(error: Optional[BaseException], statistics: Optional[str]) -> None:
    content = error_info(error)
    if statistics:
        path = os.path.join(statistics, *FILE_NAME.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
    # Of several ranks, one that failed tells; that all went well is rank 0's to say.
    if _in_run() and (error is not None or rank() == 0):
        from rookery.worker import Run

        Run.get_context().upload_file(FILE_NAME, io.BytesIO(content.encode()))
