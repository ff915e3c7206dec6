"""YAML in and out. PyYAML is imported when it is needed, so that `import rookery` stays light and works
without it."""

from __future__ import annotations

from typing import Any

from rookery.errors import UserError

__all__ = ["dump_yaml", "load_yaml"]


def load_yaml(text: str, where: str) -> Any:
    """The data in `text`; UserError names `where` when it is not YAML."""
    yaml = _yaml()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{where} is not valid YAML: {error}") from error


def dump_yaml(data: Any) -> str:
    return str(_yaml().safe_dump(data, default_flow_style=False, sort_keys=False, allow_unicode=True))


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise UserError(
            "Reading and writing YAML needs PyYAML in this environment. Get it with `pip install pyyaml`."
        ) from None
    return yaml
