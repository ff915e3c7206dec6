"""Small parts of v1's graph module: definitions of ports, which `Module.publish_python_script` takes."""

from __future__ import annotations

from typing import Any, Optional

__all__ = ["InputPortDef", "OutputPortDef", "ParamDef"]


class InputPortDef:
    def __init__(
        self, name: str, data_types: Any = None, is_optional: bool = False, label: Optional[str] = None, **kwargs: Any
    ) -> None:
        self.name, self.data_types, self.is_optional, self.label = name, data_types, is_optional, label or name


class OutputPortDef:
    def __init__(self, name: str, data_type: Optional[str] = None, label: Optional[str] = None, **kwargs: Any) -> None:
        self.name, self.data_type, self.label = name, data_type, label or name


class ParamDef:
    def __init__(self, name: str, default_value: Any = None, is_optional: bool = False, **kwargs: Any) -> None:
        self.name, self.default_value, self.is_optional = name, default_value, is_optional
