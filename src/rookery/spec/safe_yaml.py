"""YAML and text files from strangers: small, shallow, without aliases that multiply. PyYAML is imported when needed."""

from __future__ import annotations

from typing import Any

from rookery.errors import UserError

__all__ = ["MAX_BYTES", "load_yaml", "read_text"]

MAX_BYTES = 1024 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 12


def read_text(path: str, limit: int = MAX_BYTES) -> str:
    """A specification file's text.

    Raises:
        UserError: it is not there, too large, or not text.
    """
    try:
        with open(path, "rb") as f:
            data = f.read(limit + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}. Name an existing file.") from error
    if len(data) > limit:
        raise UserError(
            f"{path} is larger than {limit // 1024} kB, which no specification needs. Is it the right file?"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text. Is it the right file?") from None
    if "\x00" in text:
        raise UserError(f"{path} holds binary data. Is it the right file?")
    return text


def load_yaml(text: str, where: str) -> Any:
    """The value of one YAML document. Events are counted before anything is built, so a bomb costs nothing.

    Raises:
        UserError: it is not YAML, has aliases, or is too deep or too long; or there is no PyYAML here.
    """
    yaml = _yaml()
    if len(text) > MAX_BYTES:
        raise UserError(f"{where} is larger than {MAX_BYTES // 1024} kB, which no specification needs.")
    try:
        _count(yaml, text, where)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise UserError(
            f"{where} is not valid YAML{line}: {getattr(error, 'problem', None) or 'cannot be read'}."
        ) from error
    except RecursionError:
        raise UserError(f"{where}: nested too deep. Is it a specification?") from None
    except ValueError as error:  # a number or a date that YAML allows and Python does not
        if isinstance(error, UserError):
            raise
        raise UserError(f"{where} is not valid YAML: {error}.") from error


def _count(yaml: Any, text: str, where: str) -> None:
    depth = 0
    for nodes, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent):
            raise UserError(
                f"{where}: YAML aliases (*{event.anchor}) are not taken in a specification. Write the values out."
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise UserError(
                f"{where}: deeper than {MAX_DEPTH} levels or longer than {MAX_NODES} values. Is it a specification?"
            )


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise UserError(
            "Reading and writing YAML needs PyYAML in this environment. Get it with `pip install pyyaml`."
        ) from None
    return yaml
