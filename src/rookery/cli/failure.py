"""How the command line fails: one block on stderr (an object on stdout with --json), never a traceback."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from rookery.cli import session
from rookery.cli.terminal import paint, print_json
from rookery.errors import RookeryError

__all__ = ["DEBUG_VARIABLE", "report"]

DEBUG_VARIABLE = "ROOKERY_DEBUG"


def report(error: BaseException, arguments: Sequence[str]) -> int:
    """Prints what went wrong and returns the exit code: 2 for a usage error, else 1."""
    if os.environ.get(DEBUG_VARIABLE) not in (None, "", "0"):
        traceback.print_exception(type(error), error, error.__traceback__)
    message, code, details, exit_code = _describe(error)
    if session.current().json or (code == "usage" and _asks_for_json(arguments)):
        print_json({"error": {"code": code, "message": message, "details": details}})
    else:
        first, _, rest = message.partition("\n")
        head = paint("error:", "red", "bold", stream=sys.stderr) + " " + paint(first, "red", stream=sys.stderr)
        print(head + ("\n" + rest if rest else ""), file=sys.stderr, flush=True)
    return exit_code


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether --json stands before a `--`, for when parsing itself failed and nobody has read it."""
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _describe(error: BaseException) -> tuple[str, str, dict[str, Any], int]:
    if isinstance(error, RookeryError):
        return error.message or type(error).__name__, error.code, error.details, 1
    if hasattr(error, "format_message"):  # Typer's own, whichever Click it carries
        return _usage(error), "usage", {}, int(getattr(error, "exit_code", 2))
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename!r}" if error.filename else ""
        return f"{error.strerror}:{where or ' no file named'}", "os_error", {}, 1
    hint = f"This is a defect of Rookery. {DEBUG_VARIABLE}=1 shows where it happened."
    return f"{type(error).__name__}: {error}\n{hint}", "internal", {}, 1


def _usage(error: Any) -> str:
    """Typer's sentence, with its list of near options in the words that are used for commands."""
    possibilities = getattr(error, "possibilities", None)
    text = str(error.message if possibilities else error.format_message())
    text = re.sub(r"^No such option: (\S+)$", r"No such option '\1'.", text)
    if possibilities:
        text += " Did you mean " + " or ".join(f"'{p}'" for p in sorted(possibilities)) + "?"
    context = getattr(error, "ctx", None)
    if context is not None:
        text += f"\nSee `{context.command_path} --help`."
    return text
