"""Inference graphs as endpoints: trained for real, deployed, asked over HTTP; and what cannot be served."""

from __future__ import annotations

import base64
import contextlib
import glob
import json
import os

import pytest

from rookery.cli.main import main
from rookery.errors import ConflictError, UserError
from rookery.pipeline.catalog import Catalog
from rookery.pipeline.inference import inference_graph
from rookery.pipeline.samples import birds, houses
from rookery.pipeline.serving import graph_to_serve, make_inference, serving_plan
from rookery.sdk import PipelineGraph
from rookery.testing.modules_env import ensure_modules_python
from rookery.testing.tabular_env import ensure_tabular_python
from tests.pipeline.conftest import graph as graph_of
from tests.serve.conftest import a_coop, ask, score

pytestmark = pytest.mark.slow

LIMIT_S = 600.0  # for what takes a minute on a machine that has nothing else to do


@contextlib.contextmanager
def modules_coop(tmp_path, monkeypatch, python):
    """A keeper whose modules run in this interpreter."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "rookery's home"))
    monkeypatch.setenv("ROOKERY_MODULES_PYTHON", python)
    with a_coop(tmp_path) as coop:
        yield coop


def trained(coop, graph):
    """The run of a pipeline that has completed, with its steps."""
    run = coop.ask("POST", "/pipelines/runs", {"graph": graph, "experiment": "training"})["id"]
    ended = ("Completed", "Failed", "Canceled")
    ran = coop.until(lambda: coop.ask("GET", f"/pipelines/runs/{run}"), lambda r: r["status"] in ended, LIMIT_S)
    assert ran["status"] == "Completed", {key: step["cause"] for key, step in ran["steps"].items()}
    return ran


def deployed(coop, **body):
    made = coop.ask("POST", "/pipelines/inference/deploy", body)
    name = made["name"]
    done = coop.until(
        lambda: coop.ask("GET", f"/endpoints/{name}"), lambda e: e["operation"]["state"] != "Running", LIMIT_S
    )
    assert done["state"] == "Healthy", (done["operation"], coop.logs(name))
    return done


def called(capfd, coop, *words, code=0):
    """What a command prints."""
    capfd.readouterr()
    assert main([*words, "--workspace", coop.paths.root]) == code, capfd.readouterr().err
    return capfd.readouterr().out


def folder_of(coop, made):
    """Where an output of a step lies."""
    return glob.glob(f"{glob.escape(coop.paths.root)}/**/{glob.escape(made['path'])}", recursive=True)[0]


def shown_rows(folder):
    with open(os.path.join(folder, "_visualization.json"), encoding="utf-8") as f:
        return json.load(f)["rows"]


@pytest.mark.timeout(900)
def test_a_table_is_scored_as_in_training(tmp_path, monkeypatch):
    graph = houses("house-prices")
    graph["nodes"]["houses"]["parameters"]["rows"] = 60
    graph["nodes"]["score"]["parameters"]["append"] = True
    del graph["nodes"]["evaluate"]
    with modules_coop(tmp_path, monkeypatch, ensure_tabular_python()) as coop:
        graph["parameters"]["trees"]["default"] = 10
        ran = trained(coop, graph)
        outputs = {key: step["outputs"] for key, step in ran["steps"].items()}
        wanted = shown_rows(folder_of(coop, outputs["score"]["scored_dataset"]))
        rows = [{k: v for k, v in row.items() if k not in ("Scored Labels", "price")} for row in wanted]

        made = coop.ask("POST", "/pipelines/inference", {"run_id": ran["run_id"], "kind": "real-time"})["graph"]
        assert made["nodes"]["clean"]["module"] == "apply_transformation"
        assert made["inference"]["web_service_inputs"] == [
            {"node": "clean", "port": "dataset", "name": "WebServiceInput1"}
        ]
        endpoint = deployed(coop, name="prices", graph=made)
        about = {"pipeline": made["name"], "training_run": ran["run_id"], "takes": "rows"}
        assert endpoint["properties"] == about
        answered = score(endpoint, rows).json()
        columns = [name for name in wanted[0] if name != "price"]
        assert answered["columns"] == columns
        place = columns.index("Scored Labels")
        assert [row[place] for row in answered["result"]] == pytest.approx([row["Scored Labels"] for row in wanted])
        assert [row[:place] for row in answered["result"]] == [[row[name] for name in columns[:place]] for row in rows]

        # What is missing is filled with what was learned in training, not with what this request has.
        with open(os.path.join(folder_of(coop, outputs["clean"]["cleaning_transformation"]), "_transforms.json")) as f:
            fill = next(s for s in json.load(f) if s["do"] == "fill" and s["column"] in rows[0])
        gap, filled = {**rows[0], fill["column"]: None}, {**rows[0], fill["column"]: fill["value"]}
        named = {"Inputs": {"WebServiceInput1": [gap]}}
        assert score(endpoint, named).json()["result"][0][place] == pytest.approx(
            score(endpoint, {"data": [filled]}).json()["result"][0][place]
        )
        # A label that is sent comes back.
        assert "price" in score(endpoint, {**rows[0], "price": 1.0}).json()["columns"]
        for bad, words in (([{"size": 1}], "There is no column"), ([], "no rows"), ([1], "no list of rows")):
            refused = score(endpoint, bad)
            assert (refused.status, words in refused.text) == (400, True), refused.text
        assert ask(endpoint["scoring_uri"], b"{", {"Content-Type": "application/json"}).status == 400

        # The name is taken; with `overwrite` it is an update.
        with pytest.raises(ConflictError, match="prices"):
            coop.ask("POST", "/pipelines/inference/deploy", {"name": "prices", "graph": made})
        again = deployed(coop, name="prices", run_id=ran["run_id"], overwrite=True)
        assert again["versions"][0]["revision"] == 2
        with pytest.raises(UserError, match="real-time inference pipeline"):
            coop.ask("POST", "/pipelines/inference/deploy", {"name": "x", "graph": graph})


@pytest.mark.timeout(900)  # nine programs one after the other, most of which import torch
def test_pictures_are_scored_as_in_training(tmp_path, monkeypatch):
    graph = birds("birds", "resnet", {"model_name": "resnet18", "pretrained": False})
    graph["nodes"]["pictures"]["parameters"].update(count=6, size=40)
    graph["nodes"]["transformation"]["parameters"].update(size=32, crop_size=32)
    graph["nodes"]["train"]["parameters"].update(epochs=1, batch_size=4)
    del graph["nodes"]["evaluate"]
    with modules_coop(tmp_path, monkeypatch, ensure_modules_python()) as coop:
        ran = trained(coop, graph)
        outputs = {key: step["outputs"] for key, step in ran["steps"].items()}
        wanted = {row["id"]: row for row in shown_rows(folder_of(coop, outputs["score"]["scored_dataset"]))}
        pictures = folder_of(coop, outputs["split"]["output_image_directory2"])
        with open(os.path.join(pictures, "images.lst")) as f:
            listed = [json.loads(line) for line in f]
        bodies = []
        for each in listed:
            with open(os.path.join(pictures, "image", each["image_info"]["file_name"]), "rb") as f:
                bodies.append(f.read())
        endpoint = deployed(coop, name="birds", run_id=ran["run_id"])
        assert endpoint["properties"]["takes"] == "pictures"

        answered = score(endpoint, [{"image": base64.b64encode(body).decode()} for body in bodies]).json()
        names = ["Scored Probabilities_chickens", "Scored Probabilities_turkeys", "Scored Labels"]
        assert answered["columns"] == ["id", *names]
        assert len(answered["result"]) == len(listed) > 1
        for each, (_, chickens, turkeys, label) in zip(listed, answered["result"]):
            told = wanted[each["id"]]
            assert (chickens, turkeys) == pytest.approx([told[name] for name in names[:2]], abs=1e-3)
            assert label == max((chickens, "chickens"), (turkeys, "turkeys"))[1]
        one = ask(endpoint["scoring_uri"], bodies[0], {"Content-Type": "image/png"}).json()
        assert one["label"] == answered["result"][0][3]
        assert one["probabilities"]["turkeys"] == pytest.approx(answered["result"][0][2], abs=1e-3)
        damaged = score(endpoint, [{"image": base64.b64encode(bodies[0][:60]).decode()}])
        assert (damaged.status, "Picture 1 cannot be read" in damaged.text) == (400, True), damaged.text
        assert score(endpoint, [{"picture": ""}]).status == 400


def joining(outputs=2):
    """An inference graph of two inputs that no training is needed for: birds and their keepers, joined by the keeper."""
    nodes = {
        "birds": {"kind": "data", "dataset": "birds"},
        "keepers": {"kind": "data", "dataset": "keepers"},
        "join": {
            "kind": "module",
            "module": "join_data",
            "parameters": {"left_keys": "keeper", "right_keys": "name", "keep_right_keys": False},
            "inputs": {
                "left_dataset": {"node": "birds", "port": "data"},
                "right_dataset": {"node": "keepers", "port": "data"},
            },
        },
        "names": {
            "kind": "module",
            "module": "select_columns",
            "parameters": {"columns": "bird"},
            "inputs": {"dataset": {"node": "birds", "port": "data"}},
        },
    }
    made = graph_of("joining", **nodes)
    made["inference"] = {
        "kind": "real-time",
        "web_service_inputs": [
            {"node": "join", "port": "left_dataset", "name": "birds"},
            {"node": "names", "port": "dataset", "name": "birds"},
            {"node": "join", "port": "right_dataset", "name": "keepers"},
        ],
        "web_service_outputs": [
            {"node": "join", "port": "results_dataset", "name": "joined"},
            {"node": "names", "port": "results_dataset", "name": "names"},
        ][:outputs],
    }
    return made


BIRDS = [{"bird": "hen", "keeper": "ann"}, {"bird": "turkey", "keeper": "bob"}]
KEEPERS = [{"name": "bob", "age": 40}]
JOINED = {"columns": ["bird", "keeper", "age"], "result": [["turkey", "bob", 40]]}


class TestSeveralInputsAndOutputs:
    @pytest.mark.timeout(900)
    def test_each_is_answered_by_its_name(self, tmp_path, monkeypatch, capfd):
        with modules_coop(tmp_path, monkeypatch, ensure_tabular_python()) as coop:
            file = str(tmp_path / "joining.yaml")
            PipelineGraph(graph=joining()).save(file)
            made = json.loads(called(capfd, coop, "pipeline", "inference", file, "--deploy", "joining", "--json"))
            endpoint = made["endpoint"]
            assert endpoint["state"] == "Healthy", coop.logs("joining")
            about = {"pipeline": "joining", "training_run": "", "takes": "rows"}
            assert endpoint["properties"] == {**about, "inputs": "birds, keepers", "outputs": "joined, names"}
            answered = score(endpoint, {"Inputs": {"birds": BIRDS, "keepers": KEEPERS}}).json()
            names = {"columns": ["bird"], "result": [["hen"], ["turkey"]]}
            assert answered == {"Results": {"joined": JOINED, "names": names}}
            picture = ask(endpoint["scoring_uri"], b"\x89PNG\r\n\x1a\n", {"Content-Type": "image/png"})
            for refused, words in (
                (score(endpoint, BIRDS), "Several inputs are wanted"),
                (score(endpoint, {"Inputs": {"birds": BIRDS}}), "this takes birds, keepers"),
                (picture, "several inputs are wanted: birds, keepers"),
            ):
                assert (refused.status, words in refused.text) == (400, True), refused.text
            PipelineGraph(graph=joining(outputs=1)).save(file)
            again = called(capfd, coop, "pipeline", "inference", file, "--deploy", "joining", "--overwrite")
            assert "inputs: birds, keepers" in again
            assert "outputs" not in again
            assert score(endpoint, {"Inputs": {"birds": BIRDS, "keepers": KEEPERS}}).json() == JOINED

    def test_every_module_that_scores_is_an_output_but_twins(self, bench):
        graph = houses("two")
        nodes = graph["nodes"]
        nodes["again"] = json.loads(json.dumps(nodes["score"]))
        nodes["again"]["inputs"]["dataset"]["port"] = "results_dataset1"  # without the split the same as `score`
        nodes["other"] = json.loads(json.dumps(nodes["train"]))
        nodes["other"]["parameters"]["label_column"] = "rooms"
        nodes["rooms"] = json.loads(json.dumps(nodes["score"]))
        nodes["rooms"]["inputs"]["trained_model"]["node"] = "other"
        run = bench.submit(graph)
        for node in ("houses", "algorithm", "clean", "split", "train", "other", "score", "again", "rooms", "evaluate"):
            bench.finish(run, node, node)  # each wrote something of its own, or one would be reused for the other
        bench.ended(run)
        ends = inference_graph(bench.record, run, "real-time")["inference"]
        assert [(end["node"], end["name"]) for end in ends["web_service_outputs"]] == [
            ("score", "WebServiceOutput1"),
            ("rooms", "WebServiceOutput2"),
        ]
        assert {end["name"] for end in ends["web_service_inputs"]} == {"WebServiceInput1"}

    def test_two_outputs_of_one_name(self, bench):
        graph = joining()
        graph["inference"]["web_service_outputs"][1]["name"] = "joined"
        with pytest.raises(UserError, match="Two outputs of the service are called 'joined'"):
            serving_plan(graph, Catalog(bench.record).cards())


class TestWhatCannotBeServed:
    @pytest.fixture
    def scoring(self):
        """An inference graph as it is made of the sample for tables."""
        source = {"node": "rows", "port": "data"}
        made = graph_of(
            rows={"kind": "data", "dataset": "houses"},
            model={"kind": "data", "title": "MD-train", "definition_id": "gone", "kept": {}},
            score={
                "kind": "module",
                "module": "score_model",
                "parameters": {},
                "inputs": {"trained_model": {"node": "model", "port": "data"}, "dataset": source},
            },
        )
        made["inference"] = {
            "kind": "real-time",
            "web_service_inputs": [{"node": "score", "port": "dataset", "name": "WebServiceInput1"}],
            "web_service_outputs": [{"node": "score", "port": "scored_dataset", "name": "WebServiceOutput1"}],
        }
        return made

    def refused(self, bench, graph):
        with pytest.raises(UserError) as caught:
            serving_plan(graph, Catalog(bench.record).cards())
        return caught.value.message

    def test_the_plan_of_one_that_can(self, bench, scoring):
        plan = serving_plan(scoring, Catalog(bench.record).cards())
        assert [node["id"] for node in plan["nodes"]] == ["score"]
        assert list(plan["kept"]) == ["model"]  # and not the data that a request stands for
        assert plan["feeds"][0]["types"] == ["DataFrameDirectory"]

    def test_what_was_kept_is_gone(self, bench, scoring):
        where = {"datastore": bench.record.datastores.default(), "path": "nowhere"}
        saved = bench.record.datasets.save({"kind": "file", "sources": [where]}, "test")
        scoring["nodes"]["model"]["definition_id"] = saved["id"]
        with pytest.raises(ConflictError, match=r"'MD-train' holds is not there any more.*Run the training pipeline"):
            make_inference(bench.record, scoring)

    def test_a_step_that_is_no_built_in_module(self, bench, scoring):
        scoring["nodes"]["prep"] = {"kind": "script", "run": {"command": "x"}, "inputs": {}, "outputs": {"out": {}}}
        scoring["inference"]["web_service_inputs"] = []
        scoring["nodes"]["score"]["inputs"]["dataset"] = {"node": "prep", "port": "out"}
        assert "built-in modules only" in self.refused(bench, scoring)

    def test_a_module_of_ones_own(self, bench, scoring):
        snapshot = bench.record.snapshots.create([])["id"]
        card = {"name": "score_model", "script": "run.py", "inputs": {"dataset": {}}, "outputs": {"scored_dataset": {}}}
        bench.record.custom_modules.put("score_model", card, snapshot, "ann")
        assert "module of your own" in self.refused(bench, scoring)

    def test_ends_that_are_gone(self, bench, scoring):
        missing = json.loads(json.dumps(scoring))
        missing["inference"]["web_service_inputs"] = []
        assert "would always answer the same" in self.refused(bench, missing)
        scoring["nodes"]["renamed"] = scoring["nodes"].pop("score")
        assert "not in the pipeline any more" in self.refused(bench, scoring)

    def test_what_is_not_connected_or_not_allowed(self, bench, scoring):
        scoring["nodes"]["score"]["parameters"] = {"append": "perhaps"}
        assert "'score'" in self.refused(bench, scoring)
        del scoring["nodes"]["score"]["inputs"]["trained_model"]
        assert "'Trained model' of 'score' is not connected" in self.refused(bench, scoring)

    def test_neither_graph_nor_run(self, bench, scoring):
        for given in ((None, None), (scoring, "run")):
            with pytest.raises(UserError, match="Give either"):
                graph_to_serve(bench.record, *given)
        scoring["inference"]["kind"] = "batch"
        with pytest.raises(UserError, match="batch inference pipeline"):
            graph_to_serve(bench.record, scoring, None)
