"""Documentation that cannot rot: every setting, error and link."""

import os
import re

import pytest

from rookery import errors
from rookery.settings import SETTINGS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _pages():
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        yield from (os.path.join(folder, n) for n in names if n.endswith(".md"))
    yield from (os.path.join(ROOT, n) for n in os.listdir(ROOT) if n.endswith(".md"))


def _read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class TestDocs:
    def test_every_setting_is_documented_with_its_default(self):
        text = _read(os.path.join(ROOT, "docs", "settings.md"))
        for setting in SETTINGS.values():
            assert (
                f"| `{setting.name}` | `{setting.variable}` | {setting.kind.__name__} | `{setting.default!r}` | {setting.meaning} |"
                in text
            )

    def test_every_error_code_is_documented(self):
        text = _read(os.path.join(ROOT, "docs", "errors.md"))
        for cls in errors.all_errors().values():
            assert f"| `{cls.code}` | `{cls.__name__}` | {cls.http_status} |" in text

    @pytest.mark.parametrize("page", sorted(_pages()), ids=lambda p: os.path.relpath(p, ROOT))
    def test_links_and_named_files_exist(self, page):
        text = _read(page)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" not in target:
                assert os.path.exists(os.path.join(os.path.dirname(page), target)), f"broken link to {target}"
        for name in re.findall(r"`((?:src|docs|tests|examples|benchmarks|shims)/[\w./-]+\.\w+)`", text):
            assert os.path.exists(os.path.join(ROOT, name)), f"names {name}, which does not exist"

    def test_every_room_has_its_page(self):
        for room in (
            "spec",
            "worker",
            "agent",
            "client",
            "submit",
            "sdk",
            "azureml",
            "record",
            "environments",
            "engine",
            "server",
            "cli",
        ):
            assert os.path.exists(os.path.join(ROOT, "docs", "inside", room + ".md")), room
