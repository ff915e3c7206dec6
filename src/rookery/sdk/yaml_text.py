"""YAML in and out. PyYAML is imported when it is needed, so that `import rookery` stays light and works
without it."""

from __future__ import annotations

from typing import Any

from rookery.errors import UserError
from rookery.spec.safe_yaml import load_yaml, read_text

__all__ = ["dump_yaml", "load_yaml", "read_text"]


def dump_yaml(data: Any) -> str:
    try:
        import yaml
    except ImportError:
        raise UserError(
            "Reading and writing YAML needs PyYAML in this environment. Get it with `pip install pyyaml`."
        ) from None
    return str(yaml.safe_dump(data, default_flow_style=False, sort_keys=False, allow_unicode=True))
