"""Every verb and every option is in docs/cli.md."""

import os
import re

import pytest
import typer

from rookery.cli.main import app

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "cli.md")


def commands(command=None, path=("rookery",)):
    command = command or typer.main.get_command(app)
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


@pytest.fixture(scope="module")
def page():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


class TestDocumented:
    @pytest.mark.parametrize(
        ("path", "command"), list(commands()), ids=lambda x: " ".join(x) if isinstance(x, tuple) else ""
    )
    def test_is_on_the_page(self, page, path, command):
        section = page if len(path) == 1 else re.search(rf"(?ms)^### `rookery {path[1]}\b.*?(?=^### |\Z)", page).group()
        general = page[: page.index("## The verbs")]
        if len(path) == 3:
            assert f"`{path[2]}" in section
        for option in command.params:
            for word in option.opts:
                if word.startswith("-"):
                    known = section + general
                    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known), f"{' '.join(path)} {word}"

    def test_every_verb_says_what_it_does(self):
        for path, command in commands():
            assert command.help, path
            for option in command.params:
                assert getattr(option, "help", None), f"{path} {option.name}"
