"""v1's steps as nodes of a graph: what each says, and what is refused."""

from __future__ import annotations

import json
import os

import pytest

from rookery.errors import RookeryError
from rookery.sdk import (
    CommandStep,
    Dataset,
    Environment,
    HyperDriveStep,
    Module,
    ModuleStep,
    MpiStep,
    OutputFileDatasetConfig,
    ParallelRunConfig,
    ParallelRunStep,
    Pipeline,
    PipelineData,
    PipelineGraph,
    PipelineParameter,
    PythonScriptStep,
    RunConfiguration,
    ScriptRunConfig,
    StepSequence,
    Workspace,
)
from rookery.sdk.data_reference import DataPath, DataPathComputeBinding, DataReference
from rookery.sdk.dataset_consumption import DatasetConsumptionConfig
from rookery.sdk.estimators import Estimator
from rookery.sdk.graph_parts import InputPortDef, OutputPortDef
from rookery.sdk.hyperdrive_config import HyperDriveConfig, PrimaryMetricGoal
from rookery.sdk.module import ModuleVersion
from rookery.sdk.parameter_expressions import uniform
from rookery.sdk.pipeline_steps import EstimatorStep
from rookery.sdk.sampling import RandomParameterSampling


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One keeper for all: nothing is run here."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOKERY_HOME", str(home))
        ws = Workspace.create("steps")
        folder = tmp_path_factory.mktemp("source")
        for name in ("a.py", "b.py"):
            (folder / name).write_text("print(1)\n")
        (folder / "birds.csv").write_text("x\n1\n")
        store = ws.get_default_datastore()
        store.upload_files([str(folder / "birds.csv")], target_path="in", show_progress=False)
        yield ws, str(folder), store
        ws.client.request("POST", "/keeper/stop")


@pytest.fixture
def ws(made):
    return made[0]


@pytest.fixture
def folder(made):
    return made[1]


@pytest.fixture
def store(made):
    return made[2]


def nodes(ws, *steps):
    pipeline = Pipeline(ws, list(steps))
    assert pipeline.validate() == [], pipeline.validate()
    return pipeline.graph.graph["nodes"], pipeline.graph.graph


class TestData:
    def test_data_sets_parameters_and_places(self, ws, folder, store):
        data = Dataset.File.from_files((store, "in")).register(ws, "birds", create_new_version=True)
        loose = Dataset.File.from_files((store, "in/birds.csv"))
        chosen = PipelineParameter("chosen", data)
        place = PipelineParameter("place", DataPath(store, "in"))
        step = PythonScriptStep(
            "a.py",
            arguments=[
                data.as_named_input("one").as_mount(),
                loose.as_named_input("two").as_download("there"),
                DatasetConsumptionConfig("three", chosen).as_mount(),
                (place, DataPathComputeBinding("download")),
                DataReference(store, "four", "in"),
            ],
            source_directory=folder,
        )
        found, graph = nodes(ws, step)
        node = found["a_py"]
        assert node["run"]["arguments"] == [f"$ROOKERY_INPUT_{n}" for n in ("one", "two", "three", "place", "four")]
        assert {p: i.get("mode", "mount") for p, i in node["inputs"].items()} == {
            "one": "mount", "two": "download", "three": "mount", "place": "download", "four": "mount",
        }  # fmt: skip
        assert found[node["inputs"]["one"]["node"]] == {
            "kind": "data",
            "title": "birds",
            "dataset": "birds",
            "version": data.version,
        }
        assert found[node["inputs"]["three"]["node"]]["dataset"] == {"pipeline_parameter": "chosen"}
        assert graph["parameters"]["chosen"] == {
            "type": "data",
            "default": {"dataset": "birds", "version": data.version},
        }
        assert graph["parameters"]["place"]["type"] == "data"
        assert node["inputs"]["four"]["is_reference"]

    def test_outputs_of_steps(self, ws, folder):
        old, new = (
            PipelineData("old", output_mode="upload"),
            OutputFileDatasetConfig("new").register_on_complete("made"),
        )
        first = PythonScriptStep("a.py", "first", ["--o", old, "--n", new], outputs=[old], source_directory=folder)
        second = PythonScriptStep(
            "b.py",
            "second",
            [old, new.as_input("again").as_download()],
            inputs=[old.as_download("mine")],
            source_directory=folder,
        )
        found, _ = nodes(ws, second)
        assert first.name in {node["title"] for node in found.values()}, "what it depends on is there too"
        assert found["first"]["outputs"]["old"] == {"mode": "upload", "is_reference": True}
        assert found["first"]["outputs"]["new"]["register_as"] == "made"
        assert found["second"]["inputs"]["again"] == {"node": "first", "port": "new", "mode": "download"}

    def test_what_nobody_writes(self, ws, folder):
        step = PythonScriptStep("a.py", arguments=[PipelineData("lost")], source_directory=folder)
        with pytest.raises(RookeryError, match="which no step of the pipeline writes"):
            Pipeline(ws, [step])

    def test_two_parameters_of_one_name(self, ws, folder):
        step = PythonScriptStep(
            "a.py", arguments=[PipelineParameter("n", 1), PipelineParameter("n", 2)], source_directory=folder
        )
        with pytest.raises(RookeryError, match="Use one object for both"):
            Pipeline(ws, [step])


class TestSteps:
    def test_order(self, ws, folder):
        a, b, c = (PythonScriptStep("a.py", name, [name], source_directory=folder) for name in "abc")
        pipeline = Pipeline(ws, StepSequence([[a, b], c]))
        assert pipeline.graph.graph["after"] == [["a", "c"], ["b", "c"]]
        a.run_after(c)
        with pytest.raises(RookeryError, match="waits for itself"):
            Pipeline(ws, [c])

    def test_a_run_configuration_parameters_and_reuse(self, ws, folder):
        config = RunConfiguration()
        config.environment = Environment("mine")
        config.environment.python.user_managed_dependencies = True
        step = PythonScriptStep(
            "a.py", runconfig=config, params={"rate": PipelineParameter("rate", 0.5), "n": 3}, allow_reuse=False,
            source_directory=folder, hash_paths=["b.py"], runconfig_pipeline_params={"node_count": PipelineParameter("k", 1)},
        )  # fmt: skip
        node = nodes(ws, step)[0]["a_py"]
        assert node["regenerate"]
        assert node["hash_paths"] == ["b.py", "a.py"]
        assert node["run"]["variables"] == {"AML_PARAMETER_rate": {"pipeline_parameter": "rate"}, "AML_PARAMETER_n": 3}
        assert node["run"]["node_count"] == {"pipeline_parameter": "k"}
        assert node["run"]["environment"]["name"] == "mine"

    def test_a_command_gets_parameters_as_variables(self, ws, folder):
        step = CommandStep(["echo", PipelineParameter("word", "x"), "&& ls"], name="say", source_directory=folder)
        run = nodes(ws, step)[0]["say"]["run"]
        assert run["command"] == 'echo "$AZUREML_PARAMETER_word" && ls'
        assert run["variables"]["AZUREML_PARAMETER_word"] == {"pipeline_parameter": "word"}

    def test_mpi_and_estimators(self, ws, folder):
        mpi = MpiStep("mpi", folder, "a.py", ["--x", 1], node_count=1, process_count_per_node=2)
        with pytest.warns(DeprecationWarning, match="deprecated"):
            estimator = Estimator(folder, entry_script="a.py", compute_target="local")
        found, _ = nodes(ws, mpi, EstimatorStep("fit", estimator, ["--e", 5]))
        assert (found["mpi"]["run"]["launcher"], found["mpi"]["run"]["processes_per_node"]) == ("mpi", 2)
        assert found["fit"]["run"]["arguments"] == ["--e", "5"]

    def test_a_search(self, ws, folder):
        config = HyperDriveConfig(
            RandomParameterSampling({"lr": uniform(0, 1)}), "accuracy", PrimaryMetricGoal.MAXIMIZE, 2,
            run_config=ScriptRunConfig(folder, script="a.py", arguments=["--epochs", 2]),
        )  # fmt: skip
        node = nodes(ws, HyperDriveStep("search", config))[0]["search"]
        assert node["kind"] == "tune"
        assert node["run"]["arguments"] == ["--epochs", "2"]
        assert node["run"]["plan"]["metric"] == "accuracy"

    def test_many_files(self, ws, folder, store, tmp_path):
        data = Dataset.File.from_files((store, "in"))
        rows = PipelineData("rows")
        config = ParallelRunConfig(
            None,
            "a.py",
            5,
            "append_row",
            None,
            2,
            2,
            PipelineParameter("size", "1"),
            folder,
            append_row_file_name="all.txt",
        )
        step = ParallelRunStep("many", config, [data.as_named_input("files")], rows, arguments=["--x", 1])
        command = nodes(ws, step)[0]["many"]["run"]["command"]
        for part in (
            '--input "files=$ROOKERY_INPUT_files"', '--output "$ROOKERY_OUTPUT_rows"', "--append-row all.txt", "--processes=4",
            '--mini-batch="$AZUREML_PARAMETER_size"', "--error-threshold=5", "-- --x 1",
        ):  # fmt: skip
            assert part in command
        assert nodes(ws, step)[0]["many"]["inputs"]["files"].get("mode", "mount") == "mount", "the script gets paths"
        with pytest.raises(RookeryError, match="3 to 32 lower-case"):
            ParallelRunStep("Many", config, [data], rows)
        with pytest.raises(RookeryError, match="as_named_input"):
            Pipeline(ws, [ParallelRunStep("many", config, [data], rows)])

    def test_what_has_the_same_keys(self, ws, folder, store, tmp_path):
        def command(data, keys, **options):
            config = ParallelRunConfig(
                None, "a.py", 0, "summary_only", None, 1, source_directory=folder, partition_keys=keys, **options
            )
            config.save_to_yaml(str(tmp_path / "config.yaml"))
            config = ParallelRunConfig.load_yaml(ws, str(tmp_path / "config.yaml"))
            node = nodes(ws, ParallelRunStep("by-key", config, [data.as_named_input("data")]))[0]["by-key"]
            return node["inputs"]["data"].get("mode", "mount"), node["run"]["command"]

        files = Dataset.File.from_files((store, "in"), partition_format="/{bird}.csv")
        mode, words = command(files, ["bird"], allowed_failed_count=2)
        assert mode == "mount"
        assert """--keys '["bird"]'""" in words
        assert "--allowed-failed-count=2" in words
        assert words.count("--pattern 'data={") == 1
        table = Dataset.Tabular.from_delimited_files(
            (store, "in/*.csv"), validate=False, partition_format="/{bird}.csv"
        )
        mode, words = command(table, ["bird"], logging_level="DEBUG")
        assert (mode, "--table data" in words, "--logging-level=DEBUG" in words) == ("direct", True, True)
        with pytest.raises(RookeryError, match="'day', which is no partition key of its input 'data'"):
            command(files, ["day"])
        with pytest.raises(RookeryError, match="Give a list of names"):
            command(files, "bird")

    def test_modules_and_modules_of_ones_own(self, ws, folder):
        pictures, images = PipelineData("pictures"), PipelineData("images")
        draw = ModuleStep(
            Module.get(ws, name="Sample Pictures"), outputs_map={"output_dataset": pictures}, params={"count": 5}
        )
        convert = ModuleStep(
            "convert_to_image_directory",
            inputs_map={"input_dataset": pictures},
            outputs_map={"output_image_directory": images},
        )
        mine = Module.create(ws, "my module", "mine")
        version = mine.publish_python_script("a.py", "mine", ["data"], ["result"], {"n": 1}, source_directory=folder)
        found, _ = nodes(
            ws,
            convert,
            ModuleStep(module_version=version, inputs_map={"data": images}, params={"n": PipelineParameter("n", 2)}),
        )
        assert found["Sample_Pictures"]["parameters"] == {"count": 5}
        assert draw.name == "Sample Pictures"
        assert found["convert_to_image_directory"]["inputs"]["input_dataset"]["port"] == "output_dataset"
        assert found["my_module"]["inputs"]["data"] == {
            "node": "convert_to_image_directory",
            "port": "output_image_directory",
        }


class TestVersionsOfModules:
    """As v1's notebook on modules does it."""

    def publish(self, module, folder, script, version=None, is_default=False, **more):
        return module.publish_python_script(
            script, f"runs {script}", [InputPortDef("data")], [OutputPortDef("result")], {"n": 12},
            version=version, is_default=is_default, source_directory=folder, **more,
        )  # fmt: skip

    def test_published_named_made_the_default(self, ws, folder):
        module = Module.create(ws, "Calc It", "calculates")
        assert (module.default_version, module.module_version_list(), module.status) == (None, [], "Active")
        first = self.publish(module, folder, "a.py", "1")
        second = self.publish(module, folder, "b.py", "1.10")
        self.publish(module, folder, "a.py", "1.9")
        assert (first.version, first.module_id, first.module_version_id) == ("1", "calc_it", "calc_it:1")
        assert [each.version for each in Module.get_versions(ws, "Calc It")] == ["1", "1.10", "1.9"]
        assert Module.get(ws, name="Calc It").resolve().version == "1.10", "the highest: none is the default"
        with pytest.raises(RookeryError, match="version '1' already"):
            self.publish(module, folder, "b.py", "1")
        assert self.publish(module, folder, "a.py", "1").version == "1", "the same again"
        module.set_default_version("1")
        found = Module.get(ws, module_id="calc_it")
        assert (found.get_default_version(), found.get_default().version, found.description) == ("1", "1", "calculates")
        assert self.publish(module, folder, "b.py", "2", is_default=True).version == module.default_version == "2"
        again = ModuleVersion.get(ws, second.module_version_id)
        assert (again.description, again.category) == ("runs b.py", "My modules")
        assert [port.name for port in again.interface.inputs + again.interface.outputs] == ["data", "result"]
        with pytest.raises(RookeryError, match=r"has no version 3. It has: 1, 1\.10, 1\.9, 2"):
            ModuleStep(module, "3")

    def test_a_step_names_a_version(self, ws, folder, store):
        module = Module.create(ws, "numbers", "counts")
        old = self.publish(
            module, folder, "a.py", arguments=["--in", InputPortDef("data"), "-n", PipelineParameter("n", 1)]
        )
        new = self.publish(module, folder, "b.py", is_default=True)
        assert (old.version, new.version) == ("1", "2")
        data = Dataset.File.from_files((store, "in")).as_named_input("in")
        out = PipelineData("out")
        step = ModuleStep(
            module, "1", inputs_map={"data": data}, outputs_map={"result": out}, name="step",
            arguments=["--out", out, "--from", data, "--word", PipelineParameter("word", "x"), 3],
        )  # fmt: skip
        node = nodes(ws, step)[0]["step"]
        assert (node["module"], node["version"]) == ("numbers", "1")
        assert node["arguments"] == [
            "--out", {"output": "result"}, "--from", {"input": "data"}, "--word", {"pipeline_parameter": "word"}, 3,
        ]  # fmt: skip
        plain = ModuleStep(module_version=new, inputs_map={"data": data}, name="plain")
        assert nodes(ws, plain)[0]["plain"]["version"] == "2"
        old.disable()
        assert (old.status, new.status) == ("Disabled", "Active")
        problems = Pipeline(ws, [step]).validate()
        assert [problem["code"] for problem in problems] == ["disabled_module"]
        old.enable()
        graph = Pipeline(ws, [step]).graph.graph
        graph["nodes"]["step"].update(version="9", arguments=[])
        (problem,) = PipelineGraph(graph=graph).validate(ws)
        assert (problem["code"], problem["node"], problem["field"]) == ("unknown_version", "step", "version")
        assert "It has: 1, 2" in problem["message"]

    def test_what_is_not_published(self, ws, folder):
        module = Module.create(ws, "odd", "")
        with pytest.raises(RookeryError, match="none of the module's ports"):
            self.publish(module, folder, "a.py", arguments=[InputPortDef("other")])
        with pytest.raises(RookeryError, match="letters, digits and"):
            self.publish(module, folder, "a.py", "a version")
        with pytest.raises(RookeryError, match="has no version"):
            module.resolve()
        module.delete()
        with pytest.raises(RookeryError, match="no module 'odd'"):
            Module.get(ws, name="odd")


class TestFiles:
    def test_scripts_beside_a_file(self, ws, folder, tmp_path):
        text = f"nodes:\n  a:\n    kind: script\n    source_directory: {json.dumps(os.path.relpath(folder, tmp_path))}\n    run: {{script: a.py}}\n"
        (tmp_path / "flow.yaml").write_text(text)
        pipeline = Pipeline.load_yaml(ws, str(tmp_path / "flow.yaml"))
        assert pipeline.validate() == []
        assert len(pipeline.graph.graph["nodes"]["a"]["run"]["snapshot_id"]) == 64

    def test_a_graph_by_hand(self, ws):
        graph = PipelineGraph("hand")
        rate = graph.parameter("fraction", "number", 0.5)
        pictures = graph.module("pictures", "sample_pictures")
        convert = graph.module(
            "convert", "convert_to_image_directory", {"input_dataset": pictures.output("output_dataset")}
        )
        graph.module(
            "split",
            "split_image_directory",
            {"input_image_directory": "convert.output_image_directory"},
            {"fraction": rate},
        )
        graph.after(convert, "split")
        assert graph.validate(ws) == []
        assert PipelineGraph(graph=graph.graph).to_yaml() == graph.to_yaml()
