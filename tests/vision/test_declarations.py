"""Every module's card: complete, without torch, and the same in all three ways of running it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rookery_vision
from rookery_vision import catalog, errors
from rookery_vision.declare import DATA_TYPES, Module, choice, input_port, integer, module, number, output_port, switch
from rookery_vision.declare.invoke import parse
from rookery_vision.declare.pages import module_rows
from rookery_vision.declare.parameters import REQUIRED
from tests.vision.conftest import ROOT

CARDS = catalog.modules()
# designer.md, section 4
PALETTE = (
    "Computer Vision",
    "Data Input and Output",
    "Data Transformation",
    "Machine Learning Algorithms",
    "Model Training",
    "Model Scoring & Evaluation",
    "Python Language",
    "Sample data",
)

# designer.md, section 2: every documented parameter with its default.
DOCUMENTED = {
    "Convert to Image Directory": {},
    "Split Image Directory": {"Fraction of images in the first output": 0.9},
    "Init Image Transformation": {
        "Resize": True, "Size": 256, "Center crop": True, "Crop size": 224, "Pad": False, "Padding": 0, "Color jitter": False,
        "Grayscale": False, "Random resized crop": False, "Random size": 256, "Random crop": False, "Random crop size": 224,
        "Random horizontal flip": True, "Random vertical flip": False, "Random rotation": False, "Random rotation degrees": 0,
        "Random affine": False, "Random affine degrees": 0, "Random grayscale": False, "Random perspective": False,
        "Random erasing": False,
    },
    "Apply Image Transformation": {"Mode": REQUIRED},
    "DenseNet": {"Model name": "densenet201", "Pretrained": True, "Memory efficient": False},
    "ResNet": {"Model name": "resnext101_32x8d", "Pretrained": True, "Zero init residual": False},
    "Train PyTorch Model": {
        "Epochs": 5, "Batch size": 16, "Warmup step number": 0, "Learning rate": 0.001, "Random seed": 1, "Patience": 3,
        "Print frequency": 10,
    },
    "Score Image Model": {},
    "Evaluate Model": {},
}  # fmt: skip


@pytest.mark.parametrize("card", CARDS, ids=lambda c: c.name)
class TestCard:
    def test_says_everything(self, card):
        assert card.title
        assert card.help.endswith(".")
        assert card.category.split("/")[0] in PALETTE
        for port in (*card.inputs, *card.outputs):
            assert port.label
            assert port.help.endswith(".")
            assert set(port.types) <= set(DATA_TYPES)
        for parameter in card.parameters:
            assert parameter.label
            assert parameter.help.endswith(".")
            if parameter.when:
                assert parameter.when[0] in {p.name for p in card.parameters}

    def test_has_the_documented_parameters(self, card):
        own = {p.label: p.default for p in card.parameters}
        for label, default in DOCUMENTED.get(card.title, {}).items():
            assert own[label] == default

    def test_is_plain_json(self, card):
        assert json.loads(json.dumps(card.describe(), allow_nan=False)) == card.describe()

    def test_command_and_back(self, card):
        ports = {p.name: f"/a b/-{p.name}" for p in (*card.inputs, *card.outputs)}
        required = {p.name: p.choices[-1] if p.choices else 'a, "b c"' for p in card.parameters if p.is_required}
        values = {p.name: required.get(p.name, p.default) for p in card.parameters}
        words = card.command(ports, {}, {n: v for n, v in values.items() if v != ""})
        assert words[0] == card.name
        back, _ = parse(card, words[1:])
        assert {n: back[n] for n in ports} == ports
        assert {p.name: p.check(back.get(p.name, "")) for p in card.parameters} == values


class TestCatalog:
    def test_all_documented_modules_are_there(self):
        assert set(DOCUMENTED) < {card.title for card in CARDS}

    @pytest.mark.parametrize("name", ["Split Image Directory", "split-image-directory", "SPLIT_image  directory"])
    def test_finds_by_name_and_title(self, name):
        assert catalog.find(name).name == "split_image_directory"

    def test_a_typo_is_answered_with_a_near_one(self):
        with pytest.raises(LookupError, match="Did you mean resnet"):
            catalog.find("resnets")

    def test_functions_are_the_cards(self):
        assert rookery_vision.resnet is catalog.find("resnet")
        assert set(dir(rookery_vision)) == set(catalog.MODULES)
        with pytest.raises(AttributeError, match="no attribute 'vgg'"):
            _ = rookery_vision.vgg

    def test_reading_them_needs_nothing_heavy(self):
        program = (
            "import sys; from rookery_vision import catalog; [c.describe() for c in catalog.modules()];"
            "print(*sorted({'torch', 'torchvision', 'numpy', 'PIL', 'yaml', 'pyarrow'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == ""


class TestParameters:
    @pytest.mark.parametrize(
        ("parameter", "given", "error"),
        [
            (integer("Epochs", "", above=0), 0, errors.GreaterThanError),
            (integer("Size", "", low=1), 0, errors.GreaterThanOrEqualToError),
            (number("Share", "", high=1), 1.5, errors.LessThanOrEqualToError),
            (number("Fraction", "", low=0, high=1), -0.1, errors.NotInRangeValueError),
            (integer("Size", ""), "4.5", errors.ParameterParsingError),
            (integer("Size", ""), 4.5, errors.ParameterParsingError),
            (integer("Size", ""), True, errors.ParameterParsingError),
            (integer("Size", ""), [1], errors.ParameterParsingError),
            (number("Rate", ""), "fast", errors.ParameterParsingError),
            (number("Rate", ""), float("nan"), errors.ParameterParsingError),
            (number("Rate", ""), "inf", errors.ParameterParsingError),
            (switch("Pad", ""), "perhaps", errors.ParameterParsingError),
            (choice("Mode", "", choices=("a", "b")), "c", errors.ParameterParsingError),
            (choice("Mode", "", choices=("a", "b")), None, errors.NullOrEmptyError),
            (integer("Size", ""), " ", errors.NullOrEmptyError),
        ],
    )
    def test_refuses_with_the_documented_error(self, parameter, given, error):
        with pytest.raises(error) as caught:
            parameter.check(given)
        assert parameter.label in str(caught.value)
        assert "Allowed" in str(caught.value)

    @given(st.integers())
    def test_whole_numbers_and_back(self, value):
        parameter = integer("Seed", "")
        assert parameter.check(parameter.as_text(value)) == value

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_numbers_and_back(self, value):
        parameter = number("Rate", "")
        assert parameter.check(parameter.as_text(value)) == value

    @pytest.mark.parametrize(("given", "value"), [("True", True), ("false", False), ("1", True), (False, False)])
    def test_switches(self, given, value):
        assert switch("Pad", "").check(given) is value


class TestModule:
    def test_ports_come_before_parameters(self):
        with pytest.raises(TypeError, match="comes after a parameter"):

            @module("Bad", category="x", help="x")
            def bad(a: int_parameter, b: out_port) -> None: ...

    def test_checks_parameters_before_inputs(self, tmp_path):
        with pytest.raises(errors.NotInRangeValueError):
            rookery_vision.split_image_directory("nowhere", str(tmp_path / "a"), str(tmp_path / "b"), fraction=3)
        assert not (tmp_path / "a").exists()

    def test_a_missing_input_is_named(self, tmp_path):
        with pytest.raises(errors.NullOrEmptyError, match="Input image directory"):
            rookery_vision.split_image_directory(None, str(tmp_path / "a"), str(tmp_path / "b"))
        with pytest.raises(errors.NullOrEmptyError, match="nowhere does not exist"):
            rookery_vision.split_image_directory("nowhere", str(tmp_path / "a"), str(tmp_path / "b"))

    def test_does_not_write_into_a_folder_with_something_in_it(self, tmp_path):
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(errors.FailedToWriteOutputsError, match="has something in it"):
            rookery_vision.init_image_transformation(str(tmp_path))

    def test_says_what_arguments_it_has(self):
        with pytest.raises(TypeError, match=r"no argument 'speed'. It has: .*epochs"):
            rookery_vision.train_pytorch_model("a", "b", "c", "d", speed=2)
        with pytest.raises(TypeError, match="twice"):
            rookery_vision.resnet("a", untrained_model="b")
        with pytest.raises(TypeError, match="takes 1 folders by place, not 2"):
            rookery_vision.resnet("a", "b")

    def test_what_is_missing_is_named_with_what_to_install(self, tmp_path, monkeypatch, capsys):
        from rookery_vision.__main__ import main

        monkeypatch.setitem(sys.modules, "yaml", None)
        with pytest.raises(ModuleNotFoundError, match=r"Init Image Transformation needs yaml.*rookery\[vision\]"):
            rookery_vision.init_image_transformation(str(tmp_path / "a"))
        assert main(["init_image_transformation", f"--output-image-transformation={tmp_path}/b"]) == 1
        assert "pip install 'rookery[vision]'" in capsys.readouterr().err

    def test_is_a_module(self):
        assert all(isinstance(card, Module) for card in CARDS)


from typing import Annotated  # noqa: E402

int_parameter = Annotated[int, integer("A", "")]
out_port = Annotated[str, output_port("B", "ImageDirectory")]


class TestPorts:
    def test_of_an_unknown_type(self):
        with pytest.raises(ValueError, match="Known: AnyDirectory"):
            input_port("In", "Folder")


@pytest.mark.parametrize("card", CARDS, ids=lambda c: c.name)
def test_every_module_is_on_its_page(card):
    """Its page has each port and parameter with bounds, default and help, as `rookery module show` has them."""
    name = catalog.names()[card.name].rpartition("_")[2] + ".md"
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as f:
        page = f.read()
    assert f"### {card.title}\n{card.help}\n" in page
    assert "\n".join(module_rows(card)) in page
