"""The studio's types are the API's, and its sources hold together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


class TestTypes:
    def test_types_regenerate_without_a_difference(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "studio" / "generate_types.py"), "--check"],
            capture_output=True, text=True, timeout=250, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        # It can fail: a schema that the generator does not know is refused, never guessed.
        sys.path.insert(0, str(ROOT / "studio"))
        try:
            import generate_types

            for strange in ({"type": "strange"}, {"not": {}}, {"allOf": []}):
                try:
                    generate_types._type(strange)
                except ValueError:
                    continue
                raise AssertionError(f"{strange} was taken")
        finally:
            sys.path.pop(0)

    def test_lock_names_no_host(self):
        text = (ROOT / "studio" / "package-lock.json").read_text()
        assert "http://" not in text
        assert "registry" not in text
        assert '"resolved"' not in text
