"""docs/compatibility.md has the whole import map, as it is; and that map has every name of the sheet."""

from __future__ import annotations

import os

import pytest

from rookery.azureml.surface import SURFACE
from rookery.testing.compatibility import PAGE, import_map, read_sheet

SHEET = os.path.join(os.path.dirname(PAGE), "..", "..", "shared", "facts", "azureml-v1.md")


def test_the_page_says_what_is_there():
    with open(PAGE, encoding="utf-8") as file:
        assert import_map() in file.read(), "run `make compatibility`"


@pytest.mark.skipif(
    not os.path.exists(SHEET) and not os.environ.get("CI"), reason="the sheet lies beside the checkout, not in it"
)
def test_every_name_of_the_sheet_is_in_the_map():
    with open(SHEET, encoding="utf-8") as file:
        sheet = read_sheet(file.read())
    assert len(sheet) > 60, "the sheet is written in another way than this reads"
    missing = {
        (module, name)
        for module, names in sheet.items()
        for name in names
        if name not in SURFACE.get(module, ()) and f"{module}.{name}" not in SURFACE
    }
    assert missing == set()


def test_the_reader_of_the_sheet():
    text = (
        "\n## 1. Import map\n| import | notes |\n| `azureml.core` → `Run, VERSION` | x |\n"
        "| `azureml.core.run.{Run,get_run}`, `azureml.widgets.RunDetails` | y |\n"
        "\n## 2. Behaviours\n\n## 3. Signatures\n`azureml.core.keyvault`\n```text\nX = 1\nclass Keyvault(object)\n"
        "    get_secret(name)\ndef helper(a)\n```\n"
    )
    assert read_sheet(text) == {
        "azureml.core": {"Run", "VERSION"},
        "azureml.core.run": {"Run", "get_run"},
        "azureml.widgets": {"RunDetails"},
        "azureml.core.keyvault": {"X", "Keyvault", "helper"},
    }
