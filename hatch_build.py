"""Puts the studio into wheels. `SKIP_UI=1` leaves it out; editable installs have `make studio`.

Where npm's registry cannot be reached the wheel is built without the studio, with a warning: the keeper then says so on its page.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = "src/rookery/server/static"


class StudioHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        """Node from PyPI, only where it is needed."""
        builder = self._builder()
        if self.target_name != "wheel" or _is_skipped() or builder is None:
            return []
        node = os.environ.get("NODE") or _which("node")
        return [] if node and builder.is_new_enough(node) else [builder.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable" or _is_skipped():
            return
        builder = self._builder()
        index = os.path.join(self.root, STATIC, "index.html")
        if builder is None and not os.path.exists(index):
            self.app.display_warning("The studio's sources are not here: the wheel is built without it.")
            return
        if builder is not None:
            try:
                builder.build(quiet=True)
            except Exception as error:
                if not os.path.exists(index):
                    self.app.display_warning(f"The studio cannot be built, so the wheel is without it: {error}")
                    return
                self.app.display_warning(
                    f"The studio cannot be built anew, so the wheel has the one that is here: {error}"
                )
        build_data["artifacts"].append(f"{STATIC}/**")

    def _builder(self) -> Any:
        """studio/build.py as a module; None where an sdist came without it."""
        path = os.path.join(self.root, "studio", "build.py")
        if not os.path.exists(path):
            return None
        spec = importlib.util.spec_from_file_location("rookery_studio_build", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        return module


def _is_skipped() -> bool:
    return os.environ.get("SKIP_UI", "") not in ("", "0")


def _which(name: str) -> str:
    import shutil

    return shutil.which(name) or ""
