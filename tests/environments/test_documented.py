"""docs/environments.md names every curated environment and every setting of environments."""

import os

from rookery.environments.specification.curated_names import CURATED
from rookery.settings import SETTINGS

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "environments.md")
BEGINNINGS = ("environment_", "conda", "container", "curated", "requirement_", "original_", "allow_python")


class TestDocumented:
    def test_curated_environments_and_settings_are_on_the_page(self):
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        missing = [entry.name for entry in CURATED if f"`{entry.name}`" not in page]
        missing += [name for name in SETTINGS if name.startswith(BEGINNINGS) and f"`{name}`" not in page]
        assert missing == []
