"""Modules as runs: the whole pipeline of the example, a failure with its documented number, and the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile

import pytest

from rookery_vision.catalog import names
from tests.vision.conftest import ROOT

pytest.importorskip("onnxruntime")


@pytest.fixture
def example():
    path = os.path.join(ROOT, "examples", "designer_birds.py")
    spec = importlib.util.spec_from_file_location("designer_birds", path)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.fixture
def ws():
    from rookery.sdk import Workspace

    return Workspace.create("vision", exist_ok=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
class TestPipeline:
    def test_the_example(self, example, ws, capsys, tmp_path):
        results = example.main(ws, pictures=12, epochs=1, size=32, work=str(tmp_path / "work"))
        out = capsys.readouterr().out
        assert set(results) == {1, 2}
        for run in results.values():
            metrics = run.get_metrics()
            assert 0 <= metrics["Overall_Accuracy"] <= 1
            assert "left_port_confusion_matrix" in metrics
            assert json.loads(_file(run, "module_statistics/error_info.json")) == {"Exception": None}
        assert "registered: birds-onnx:1" in out
        model = ws.models["birds-onnx"]
        assert model.model_framework == "Onnx"
        assert model.properties["onnx_check.top1_agreement"] == "1.0"
        trainings = [
            r for r in example_runs(ws) if any(n.startswith("trained_model_outputs/") for n in r.get_file_names())
        ]
        assert len(trainings) == 2
        self._registers_by_hand(model.run, str(tmp_path / "by hand"))

    def _registers_by_hand(self, run, target):
        """As v1's code does it: the folder that the export left in the run, with its framework."""
        from azureml.core.model import Model

        folder = next(os.path.dirname(n) for n in run.get_file_names() if n.endswith("/model.onnx"))
        by_hand = run.register_model("birds-by-hand", folder, model_framework=Model.Framework.ONNX)
        assert (by_hand.model_framework, by_hand.run_id) == ("Onnx", run.id)
        names = {name for _, _, found in os.walk(by_hand.download(target)) for name in found}
        assert {"model.onnx", "preprocessing.json"} <= names

    def test_registered_models(self, example, trained, tmp_path, capsys, monkeypatch):
        """One as the weights to begin with, and one exported from the registry by the command line."""
        from rookery.cli.main import main
        from rookery.sdk import Model, Workspace

        monkeypatch.chdir(tmp_path)
        assert main(["init"]) == 0
        ws = Workspace.from_config()
        Model.register(ws, trained, "birds")
        Model.register(ws, os.path.join(trained, "state_dict.pt"), "birds-weights")
        modules = example.Modules(ws, str(tmp_path / "work"))
        modules.run("resnet", "network", model_name="resnet18", weights="model:birds-weights:1")
        assert os.path.getsize(tmp_path / "work" / "network" / "state_dict.pt") > 40_000_000
        capsys.readouterr()
        assert main(["models", "export", "birds", "--onnx", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["model"] == "birds-onnx:1"
        exported = ws.models["birds-onnx"]
        assert exported.tags == {"exported_from": "birds:1"}
        assert exported.model_framework == Model.Framework.ONNX
        assert exported.properties["onnx_check.top1_agreement"] == "1.0"

    def test_a_failure_has_its_number(self, example, ws, tmp_path):
        from rookery.errors import RunFailedError

        os.makedirs(tmp_path / "work" / "empty")
        modules = example.Modules(ws, str(tmp_path / "work"))
        with pytest.raises(RunFailedError, match="holds no picture"):
            modules.run("convert_to_image_directory", "empty", "out")
        run = next(iter(example_runs(ws)))
        info = json.loads(_file(run, "module_statistics/error_info.json"))["Exception"]
        assert (info["ErrorId"], info["ErrorCode"], info["ExceptionType"]) == (
            "InvalidDataset",
            "0018",
            "ModuleException",
        )
        assert run.get_details()["error"] is not None


class TestCommand:
    def test_list_and_show(self, capsys):
        from rookery.cli.main import main

        assert main(["module", "list", "--json"]) == 0
        assert [m["name"] for m in json.loads(capsys.readouterr().out)["modules"]] == list(names())
        assert main(["module", "show", "Split Image Directory"]) == 0
        out = capsys.readouterr().out
        assert "--fraction" in out
        assert "Float ≥ 0 ≤ 1" in out

    def test_run_here(self, tmp_path, capsys):
        from rookery.cli.main import main

        assert (
            main(["module", "run", "init_image_transformation", "--output-image-transformation", str(tmp_path / "t")])
            == 0
        )
        assert (tmp_path / "t" / "_transforms.json").exists()
        capsys.readouterr()
        words = ["init_image_transformation", "--output-image-transformation", str(tmp_path / "u")]
        assert main(["module", "run", "--json", *words]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said == {"exit_code": 0, "outputs": {"output_image_transformation": str(tmp_path / "u")}}
        assert main(["module", "run", "resnet", "--model-name", "vgg", "--untrained-model", str(tmp_path / "n")]) == 1
        assert "Error 0159 InvalidModelDirectory" in capsys.readouterr().err
        assert main(["module", "run", "resnet", "--speed", "9"]) == 2
        assert main(["module", "run", "resnets"]) == 2
        assert main(["module", "run", "resnet", "--help"]) == 0


def example_runs(ws):
    from rookery.sdk import Experiment

    return Experiment(ws, "designer-birds").get_runs()


def _file(run, name):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "downloaded")
        run.download_file(name, path)
        with open(path) as f:
            return f.read()
