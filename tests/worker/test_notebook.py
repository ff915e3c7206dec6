"""A notebook run from its first cell to its last: parameters, what it prints, what it leaves when a cell fails."""

from __future__ import annotations

import json

import pytest

from rookery.worker.notebook import NotebookError, main, with_parameters


def cell(source, *tags):
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "source": source,
    }


def write(path, *cells):
    head = {"metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps({**head, "cells": list(cells)}))


class TestParameters:
    def test_after_the_tagged_cell_or_first(self):
        cells = [cell("1"), cell("lr = 1", "parameters"), cell("2")]
        assert with_parameters(cells, {"lr": 0.5, "net": "a'b"}) == (2, '# Parameters\nlr = 0.5\nnet = "a\'b"')
        assert with_parameters(cells[2:], {"lr": [1, None]}) == (0, "# Parameters\nlr = [1, None]")
        assert with_parameters(cells, {}) is None

    @pytest.mark.parametrize("name", ["1x", "a-b", "class"])
    def test_names_are_variables(self, name):
        with pytest.raises(NotebookError, match="cannot be the name of a parameter"):
            with_parameters([], {name: 1})


class TestRuns:
    def test_all_cells_and_keeps_what_they_gave_also_when_one_fails(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        write(
            tmp_path / "it's.ipynb",
            {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
            cell("lr = 1\nword = ''", "parameters"),
            cell("print('lr is', lr)\nword"),
            cell("raise ValueError('bad ' + word)"),
            cell("print('never')"),
        )
        with pytest.raises(NotebookError, match=r"Cell 5 of it's\.ipynb failed: ValueError: bad 5"):
            main(["it's.ipynb", "--parameter", "lr", "0.5", "--parameter", "word", '"5"'])
        printed = capsys.readouterr().out
        assert "lr is 0.5\n'5'\n" in printed
        assert "ValueError: bad 5" in printed
        assert "\x1b" not in printed
        kept = json.loads((tmp_path / "outputs" / "it's.ipynb").read_text())["cells"]
        assert kept[2]["source"] == "# Parameters\nlr = 0.5\nword = '5'"
        assert kept[3]["outputs"][0]["text"] == "lr is 0.5\n"
        assert kept[5]["execution_count"] is None

    def test_what_is_none_says_so(self, tmp_path):
        (tmp_path / "a.ipynb").write_text("nonsense")
        with pytest.raises(NotebookError, match="is no notebook"):
            main([str(tmp_path / "a.ipynb"), "--output", str(tmp_path)])
