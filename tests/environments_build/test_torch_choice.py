"""A local wheel of torch is preferred where it fits."""

import platform

import pytest

from rookery.environments.python.interpreters import Interpreter
from rookery.environments.python.torch_choice import pin_torch, torchvision_of
from rookery.environments.specification.wanted import from_requirements

PYTHON = Interpreter("/py", "3.11.7")


@pytest.fixture
def folder(tmp_path):
    for name in (
        "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28",
        "torch-2.12.1+cpu-cp311-cp311-linux",
        "torch-2.14.0-cp312-cp312-linux",
        "torchvision-9.9-cp311-cp311-linux",
    ):
        (tmp_path / f"{name}_{platform.machine()}.whl").write_bytes(b"")
    (tmp_path / "torch-2.15.0-cp311-cp311-linux_other.whl").write_bytes(b"")
    return str(tmp_path)


def pins(folder, text, gpu=False, python=PYTHON):
    return pin_torch(from_requirements(text).pip, [folder], python, gpu).constraints


class TestPinTorch:
    @pytest.mark.parametrize(
        "text",
        [
            "torch",
            "lightning",
            "torch==2.13.0",
            "torch>=2",
            "torch\ntorchvision",
            "torch~=2.13.0",
            "torchvision==0.28.0",
        ],
    )
    def test_pins_the_newest_that_is_allowed(self, folder, text):
        assert pins(folder, text) == ("torch==2.13.0+cpu", "torchvision==0.28.*")

    @pytest.mark.parametrize("text", ["torch<2.13", "torch==2.12.1", "torchvision<0.28", "torchvision==0.27.1"])
    def test_takes_an_older_one_that_fits(self, folder, text):
        assert pins(folder, text) == ("torch==2.12.1+cpu", "torchvision==0.27.*")

    @pytest.mark.parametrize("text", ["torch==1.6.0", "torch>2.13", "torchvision==0.7.0", "torch==2.13.0+cu130"])
    def test_leaves_it_where_none_fits(self, folder, text):
        assert pins(folder, text) == ()

    def test_leaves_a_cpu_wheel_where_there_is_a_gpu(self, folder):
        assert pins(folder, "torch", gpu=True) == ()

    def test_looks_at_the_interpreter(self, folder):
        assert pins(folder, "torch", python=Interpreter("/py", "3.12.1")) == ("torch==2.14.0",)
        assert pins(folder, "torch", python=Interpreter("/py", "3.6.15")) == ()

    def test_knows_pairs(self):
        assert [torchvision_of(v) for v in ("1.6.0", "2.13.0+cpu", "9.0")] == ["0.7", "0.28", ""]
