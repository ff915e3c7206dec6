"""Every module of the palette: found, placed and configured by hand, and stored as it was set."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studio.designing import board_of


@pytest.mark.slow
@pytest.mark.timeout(900)  # a hundred fields, filled one by one
def test_every_module_is_placed_and_configured(studio):
    with board_of(studio) as board:
        page = board.page
        page.get_by_test_id("designer-new").click()
        page.get_by_test_id("designer-palette-item").first.wait_for()
        cards = board.ask("/modules")["modules"]
        assert {"convert_to_image_directory", "train_pytorch_model", "evaluate_model"} <= {
            card["name"] for card in cards
        }
        items = page.get_by_test_id("designer-palette-item")
        board.until(lambda: items.count() == len(cards), f"not all of {len(cards)} modules are offered")
        wanted: dict[str, dict[str, Any]] = {}
        for card in cards:
            page.get_by_test_id("designer-palette-find").fill(card["title"])
            page.locator(f'[data-testid=designer-palette-item][data-module="module:{card["name"]}"]').click()
            page.get_by_test_id("designer-pane").get_by_role(
                "heading", name=card["title"], exact=True, level=2
            ).wait_for()
            wanted[card["name"]] = configure(board, card)
        saved = board.saved()["graph"]["nodes"]
        assert {name: saved[name]["parameters"] for name in wanted} == wanted
        assert all(saved[name] == {**saved[name], "kind": "module", "module": name} for name in wanted)
        board.page.get_by_test_id("designer-palette-find").fill("")
        board.page.get_by_test_id("designer-layout").click()
        board.seen.shot("designer-every-module")


def configure(board: Any, card: dict[str, Any]) -> dict[str, Any]:
    """Sets every parameter; those that count only with another come into sight as that is set. What is then stored."""
    values: dict[str, Any] = {}
    for parameter in card["parameters"]:
        name = parameter["name"]
        if parameter["when"] and values.get(parameter["when"][0]) != parameter["when"][1]:
            assert board.field(name).count() == 0, f"{card['name']}.{name} does not count now"
            continue
        values[name] = another(parameter, card["parameters"])
        board.set(name, values[name])
        assert board.field(name).locator("[aria-invalid=true]").count() == 0, f"{card['name']}.{name}"
    defaults = {parameter["name"]: parameter["default"] for parameter in card["parameters"]}
    # A switch that was so already was not touched, and stays as the card says.
    return {name: value for name, value in values.items() if not (isinstance(value, bool) and value == defaults[name])}


def another(parameter: dict[str, Any], all_of_them: list[dict[str, Any]]) -> Any:
    """One that is allowed; of a switch that others hang on, the one with which they count."""
    hanging = [each["when"][1] for each in all_of_them if each["when"] and each["when"][0] == parameter["name"]]
    if parameter["kind"] == "Boolean":
        return hanging[0] if hanging else not parameter["default"]
    if parameter["kind"] == "Mode":
        return (
            hanging[0]
            if hanging
            else next(
                each for each in parameter["choices"] if each != parameter["default"] or len(parameter["choices"]) == 1
            )
        )
    if parameter["kind"] == "Integer":
        return next(each for each in range(1, 200) if each != parameter["default"] and is_within(each, parameter))
    if parameter["kind"] == "Float":
        return next(
            each for each in (0.25, 0.5, 0.75, 1.5, 20.5) if each != parameter["default"] and is_within(each, parameter)
        )
    return "a text"


def is_within(value: float, parameter: dict[str, Any]) -> bool:
    low, high, above = parameter["low"], parameter["high"], parameter["above"]
    return (low is None or value >= low) and (high is None or value <= high) and (above is None or value > above)
