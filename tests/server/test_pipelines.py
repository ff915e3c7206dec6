"""The API of pipelines: graphs in and out, drafts that two people save, modules of one's own, what is published."""

from __future__ import annotations

import hashlib

import pytest

from rookery.spec.pipeline import new_graph
from rookery.spec.run import RunKind

SCRIPT = b"import sys\nprint(sys.argv)\n"


def flow(**nodes):
    graph = new_graph("flow")
    graph["nodes"] = nodes or {"a": {"kind": "script", "run": {"command": "true"}, "mine": [1]}}
    return graph


def good(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


def bad(answer, status, words):
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]["message"]
    return answer.json()["error"]


def snapshot(api, **files):
    entries = []
    for name, data in files.items():
        sha = hashlib.sha256(data).hexdigest()
        good(api.owner.put(f"/content/{sha}", content=data), 201)
        entries.append({"path": name.replace("__", "."), "sha256": sha, "size": len(data), "mode": 0o644, "link": None})
    return good(api.owner.post("/snapshots", json={"entries": entries}), 201)["id"]


class TestGraphs:
    def test_all_forms(self, api):
        graph = flow()
        assert good(api.owner.post("/pipelines/validate", json={"graph": graph})) == {"problems": []}
        text = good(api.owner.post("/pipelines/yaml", json={"graph": graph}))["yaml"]
        assert good(api.owner.post("/pipelines/graph", json={"yaml": text})) == {"graph": graph, "problems": []}
        assert "def build()" in good(api.owner.post("/pipelines/code", json={"graph": graph}))["python"]

    def test_problems_of_a_file_are_told_with_its_graph(self, api):
        read = good(api.owner.post("/pipelines/graph", json={"yaml": "nodes: {a: {kind: module, module: nobody}}"}))
        assert read["graph"]["nodes"]["a"]["module"] == "nobody"
        assert [p["code"] for p in read["problems"]] == ["unknown_module"]
        bad(api.owner.post("/pipelines/graph", json={"yaml": "a: ["}), 400, "not valid YAML")

    def test_samples_can_be_run(self, api):
        samples = good(api.owner.get("/pipelines/samples"))["samples"]
        assert {s["name"] for s in samples} >= {"image-classification-resnet", "image-classification-densenet"}
        for sample in samples:
            assert good(api.owner.post("/pipelines/validate", json={"graph": sample["graph"]}))["problems"] == []

    def test_a_definition_in_a_graph_follows_the_rules_of_definitions(self, api, token):
        api.run()
        secret = {"kind": "file", "sources": [{"url": "file:///etc"}]}
        graph = flow(d={"kind": "data", "definition": secret}, a={"kind": "script", "run": {"command": "true"}})
        body = {"graph": graph, "experiment": "e", "parent_id": "run-1"}
        assert api.tcp(token()).post("/pipelines/runs", json=body).status_code == 403


class TestRuns:
    def test_submitted_shown_cloned_published(self, api):
        body = {"graph": flow(), "experiment": "flows", "tags": {"a": "b"}, "display_name": "mine"}
        run = good(api.owner.post("/pipelines/runs", json=body), 201)
        assert (run["kind"], run["display_name"], run["tags"]) == (RunKind.PIPELINE, "mine", {"a": "b"})
        shown = good(api.owner.get(f"/pipelines/runs/{run['id']}"))
        assert shown["graph"] == flow()
        assert shown["steps"]["a"]["status"] == "NotStarted"
        draft = good(api.owner.post(f"/pipelines/runs/{run['id']}/clone"), 201)
        assert (draft["name"], draft["graph"]["nodes"]) == ("mine (copy)", flow()["nodes"])
        assert draft["facts"]["parent_run_id"] == run["id"]
        assert good(api.owner.post(f"/pipelines/runs/{run['id']}/clone"), 201)["name"] == "mine (copy 2)"
        made = good(api.owner.post("/pipelines/published", json={"name": "p", "run_id": run["id"]}), 201)
        assert made["graph"] == flow()
        assert made["endpoint"].endswith(f"/PipelineRuns/PipelineSubmit/{made['id']}")

    def test_what_cannot_be_run_is_refused_with_all_problems(self, api):
        body = {"graph": flow(a={"kind": "odd"}, b={"kind": "module", "module": "no"}), "experiment": "flows"}
        error = bad(api.owner.post("/pipelines/runs", json=body), 400, "cannot be run")
        assert {p["code"] for p in error["details"]["problems"]} == {"unknown_kind", "unknown_module"}

    def test_another_run_is_no_pipeline(self, api):
        api.run()
        bad(api.owner.get("/pipelines/runs/run-1"), 404, "no pipeline")
        bad(api.owner.post("/pipelines/runs/run-1/steps/a/retry"), 404, "no pipeline")
        bad(api.owner.post("/pipelines/inference", json={"run_id": "run-1"}), 404, "no pipeline")

    def test_inference_needs_a_completed_one(self, api):
        run = good(api.owner.post("/pipelines/runs", json={"graph": flow(), "experiment": "flows"}), 201)
        bad(api.owner.post("/pipelines/inference", json={"run_id": run["id"]}), 409, "has completed")
        bad(api.owner.post(f"/pipelines/runs/{run['id']}/steps/a/retry"), 409, "did not fail")

    def test_inference_graph(self, api):
        """Trained models and transformations become data; what trains, splits and evaluates goes."""
        graph = next(s["graph"] for s in good(api.owner.get("/pipelines/samples"))["samples"] if "resnet" in s["name"])
        run = good(api.owner.post("/pipelines/runs", json={"graph": graph, "experiment": "birds"}), 201)["id"]
        steps = api.record.pipeline_steps
        steps.begin(run, [(key, key) for key in graph["nodes"]])
        outputs = {"train": "trained_model", "transformation": "output_image_transformation"}
        for key, port in outputs.items():
            row = dict.fromkeys(("manifest_id", "fingerprint", "data_name", "datastore", "path"), "x")
            made = {port: {**row, "definition_id": key, "files": 1, "bytes": 1, "data_version": None}}
            steps.change(run, {key: {"phase": "completed", "outputs": made}})
        api.record.runs.advance(run, status="Completed")
        scoring = good(api.owner.post("/pipelines/inference", json={"run_id": run}))["graph"]
        assert set(scoring["nodes"]) == {"pictures", "convert", "transformation", "apply2", "train", "score"}
        assert scoring["nodes"]["train"]["title"] == "MD-train"
        assert scoring["nodes"]["train"]["definition_id"] == "train"
        assert scoring["nodes"]["score"]["inputs"]["trained_model"] == {"node": "train", "port": "data"}
        assert scoring["nodes"]["apply2"]["inputs"]["input_image_directory"]["node"] == "convert"
        assert scoring["inference"]["kind"] == "real-time"
        assert scoring["inference"]["web_service_outputs"][0]["node"] == "score"

    def test_inference_graph_of_a_table(self, api):
        """What learns from a table becomes the application of what it has learned; where data is fetched, rows come in."""
        graph = next(s["graph"] for s in good(api.owner.get("/pipelines/samples"))["samples"] if "house" in s["name"])
        nodes = graph["nodes"]
        nodes["houses"].update(module="import_data", parameters={}, inputs={"dataset": {"node": "raw", "port": "data"}})
        nodes["clean"]["inputs"]["dataset"]["port"] = "results_dataset"
        nodes["raw"] = {"kind": "data", "definition_id": "raw"}
        body = {"graph": graph, "experiment": "houses", "parameters": {"trees": 7}}
        run = good(api.owner.post("/pipelines/runs", json=body), 201)["id"]
        api.record.pipeline_steps.begin(run, [(key, key) for key in nodes if key != "raw"])
        made = {"train": ["trained_model"], "clean": ["cleaned_dataset", "cleaning_transformation"]}
        for key, ports in made.items():
            row = dict.fromkeys(("manifest_id", "fingerprint", "data_name", "datastore", "path"), "x")
            outputs = {p: {**row, "definition_id": p, "files": 1, "bytes": 1, "data_version": None} for p in ports}
            api.record.pipeline_steps.change(run, {key: {"phase": "completed", "outputs": outputs}})
        api.record.runs.advance(run, status="Completed")
        scoring = good(api.owner.post("/pipelines/inference", json={"run_id": run}))["graph"]
        assert set(scoring["nodes"]) == {"raw", "houses", "clean", "clean_learned", "train", "score"}
        assert scoring["nodes"]["clean"]["module"] == "apply_transformation"
        assert scoring["nodes"]["clean"]["inputs"]["transformation"] == {"node": "clean_learned", "port": "data"}
        assert scoring["nodes"]["clean_learned"]["definition_id"] == "cleaning_transformation"
        assert scoring["nodes"]["score"]["inputs"]["dataset"] == {"node": "clean", "port": "transformed_dataset"}
        assert scoring["parameters"]["trees"]["default"] == 7
        feeds = [{"node": "clean", "port": "dataset", "name": "WebServiceInput1"}]
        assert scoring["inference"]["web_service_inputs"] == feeds
        # What was kept is not there: nothing is made.
        asked = {"name": "houses", "run_id": run}
        bad(api.owner.post("/pipelines/inference/deploy", json=asked), 409, "Run the training pipeline again")
        assert good(api.owner.get("/endpoints"))["endpoints"] == []


class TestDrafts:
    def test_saved_by_two(self, api):
        draft = good(api.owner.post("/pipelines/drafts", json={"graph": flow(), "name": "mine"}), 201)
        assert (draft["revision"], draft["name"], draft["num_nodes"]) == (1, "mine", 1)
        path = f"/pipelines/drafts/{draft['id']}"
        odd = flow(x={"kind": "from the future", "data": {"keep": ["me"]}})
        saved = good(api.owner.put(path, json={"graph": odd, "revision": 1}))
        assert saved["revision"] == 2
        assert saved["graph"] == odd
        error = bad(api.owner.put(path, json={"graph": flow(), "revision": 1}), 409, "saved by somebody else")
        assert error["details"]["revision"] == 2
        assert good(api.owner.get(path))["graph"] == odd
        listed = good(api.owner.get("/pipelines/drafts"))["drafts"]
        assert [(d["id"], d["graph"]) for d in listed] == [(draft["id"], None)]
        run = {"graph": flow(), "experiment": "e", "draft_id": draft["id"]}
        submitted = good(api.owner.post("/pipelines/runs", json=run), 201)
        assert good(api.owner.get(path))["last_run_id"] == submitted["id"]
        good(api.owner.delete(path))
        bad(api.owner.get(path), 404, "no draft")

    def test_drafts_send_events(self, api):
        draft = good(api.owner.post("/pipelines/drafts", json={"graph": flow()}), 201)
        rows, _ = api.record.events.after(0, kinds=["draft"])
        assert [row["data"] for row in rows] == [{"id": draft["id"], "revision": 1}]

    def test_what_is_no_graph(self, api):
        bad(api.owner.post("/pipelines/drafts", json={"graph": {"nodes": []}}), 400, "an object")


class TestModules:
    CARD = {"name": "count_rows", "script": "count.py", "inputs": [{"name": "table"}], "help": "Counts."}

    def test_added_shown_changed_removed(self, api):
        body = {"card": self.CARD, "snapshot_id": snapshot(api, count__py=SCRIPT)}
        assert good(api.owner.post("/modules", json=body), 201)["version"] == "1"
        assert good(api.owner.post("/modules", json=body), 201)["version"] == "1"
        changed = {"card": {**self.CARD, "help": "Counts more."}, "snapshot_id": body["snapshot_id"]}
        assert good(api.owner.post("/modules", json=changed), 201)["version"] == "2"
        assert good(api.owner.get("/modules"))["others"] == []
        listed = good(api.owner.get("/modules?versions=true"))
        assert [(card["version"], card["help"]) for card in listed["others"]] == [("1", "Counts.")]
        cards = {card["name"]: card for card in listed["modules"]}
        assert cards["count_rows"]["help"] == "Counts more."
        assert (cards["count_rows"]["source"], cards["train_pytorch_model"]["source"]) == ("custom", "built-in")
        graph = flow(a={"kind": "module", "module": "count_rows", "inputs": {"table": {"node": "d", "port": "data"}}})
        graph["nodes"]["d"] = {"kind": "data", "definition_id": "x"}
        assert good(api.owner.post("/pipelines/validate", json={"graph": graph}))["problems"] == []
        good(api.owner.delete("/modules/count_rows"))
        bad(api.owner.delete("/modules/count_rows"), 404, "no module")

    def test_a_function_that_declares_itself_gets_a_script(self, api):
        card = {key: value for key, value in self.CARD.items() if key != "script"}
        body = {"card": card, "snapshot_id": snapshot(api, mine__py=SCRIPT), "function": "mine.py:count_rows"}
        good(api.owner.post("/modules", json=body), 201)
        kept = api.record.custom_modules.find("count_rows")
        paths = [entry["path"] for entry in api.record.snapshots.entries(kept["snapshot_id"])]
        assert paths == ["mine.py", "rookery_module_main.py"]
        assert kept["card"]["script"] == "rookery_module_main.py"

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"card": {"name": "x"}}, "names no script"),
            ({"card": {"name": "x", "script": "gone.py"}}, "not in its folder"),
            ({"function": "gone.py:f"}, "FILE.py:NAME"),
        ],
    )
    def test_what_is_wrong(self, api, change, words):
        body = {"card": self.CARD, "snapshot_id": snapshot(api, count__py=SCRIPT), **change}
        bad(api.owner.post("/modules", json=body), 400, words)


class TestPublished:
    def publish(self, api):
        return good(api.owner.post("/pipelines/published", json={"name": "p", "graph": flow()}), 201)["id"]

    def test_endpoints_and_their_versions(self, api):
        first, second = self.publish(api), self.publish(api)
        made = good(api.owner.post("/pipelines/endpoints", json={"name": "e", "pipeline_id": first}), 201)
        bad(api.owner.post("/pipelines/endpoints", json={"name": "e", "pipeline_id": first}), 409, "exists already")
        path = f"/pipelines/endpoints/{made['id']}"
        changed = good(api.owner.patch(path, json={"add": second}))
        assert (changed["default_version"], len(changed["versions"])) == ("0", 2)
        assert good(api.owner.patch(path, json={"default_version": "1"}))["default_version"] == "1"
        bad(api.owner.patch(path, json={"default_version": "7"}), 404, "It has: 0, 1")
        assert good(api.owner.get("/pipelines/endpoints/e", params={"by": "name"}))["id"] == made["id"]
        v1 = "/pipelines/v1.0/PipelineEndpoints"
        run = good(api.owner.post(f"{v1}/Id/{made['id']}", json={"ExperimentName": "x"}))
        assert api.record.runs.get(run["Id"])["properties"]["azureml.pipelineid"] == second
        named = {"name": "e", "pipelineVersion": "0"}
        run = good(api.owner.post(f"{v1}/Name", params=named, json={"ExperimentName": "x", "Unknown": 1}))
        assert api.record.runs.get(run["Id"])["properties"]["azureml.pipelineid"] == first
        good(api.owner.patch(path, json={"status": "Disabled"}))
        bad(api.owner.post(f"{v1}/Id/{made['id']}/0", json={"ExperimentName": "x"}), 409, "is Disabled")

    def test_bodies_of_v1(self, api):
        pipeline = self.publish(api)
        url = f"/pipelines/v1.0/PipelineRuns/PipelineSubmit/{pipeline}"
        bad(api.owner.post(url, json={}), 400, "ExperimentName")
        body = {"ExperimentName": "x", "DataSetDefinitionValueAssignments": {"d": {"Id": 1}}}
        bad(api.owner.post(url, json=body), 400, "SavedDataSetReference")
        bad(api.owner.post(url, json={"ExperimentName": "x", "DataPathAssignments": {"d": 1}}), 400, "DataStoreName")
        bad(
            api.owner.post(url, json={"ExperimentName": "x", "ParameterAssignments": {"no": 1}}),
            400,
            "no parameter 'no'",
        )
        good(api.owner.patch(f"/pipelines/published/{pipeline}", json={"status": "Disabled"}))
        bad(api.owner.post(url, json={"ExperimentName": "x"}), 409, "is Disabled")
        assert good(api.owner.get("/pipelines/published"))["pipelines"] == []

    def test_schedules(self, api):
        body = {"name": "s", "experiment": "e", "pipeline_id": self.publish(api)}
        bad(api.owner.post("/pipelines/schedules", json=body), 400, "either by a recurrence or by a datastore")
        both = {**body, "endpoint_id": "x", "recurrence": {"frequency": "Day", "interval": 1}}
        bad(api.owner.post("/pipelines/schedules", json=both), 400, "give one")
        daily = {**body, "recurrence": {"frequency": "Day", "interval": 1, "hours": [2], "minutes": [0]}}
        made = good(api.owner.post("/pipelines/schedules", json=daily), 201)
        assert made["next_utc"].endswith("T02:00:00.000000Z")
        assert made["status"] == "Active"
        path = f"/pipelines/schedules/{made['id']}"
        polled = good(api.owner.patch(path, json={"datastore": "workspaceblobstore", "polling_interval": 1}))
        assert (polled["facts"]["recurrence"], polled["facts"]["datastore"]) == (None, "workspaceblobstore")
        assert good(api.owner.patch(path, json={"status": "Disabled"}))["status"] == "Disabled"
        assert good(api.owner.get("/pipelines/schedules", params={"active_only": True}))["schedules"] == []
        good(api.owner.delete(path))
        bad(api.owner.get(path), 404, "no schedule")


def test_what_pipelines_name_is_not_collected(api):
    """Snapshots and definitions in graphs of drafts, of what is published, and of modules."""
    one, two = snapshot(api, a__py=b"1"), snapshot(api, b__py=b"2")
    three, four = snapshot(api, c__py=b"3"), snapshot(api, count__py=SCRIPT)
    definition = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": "in"}]}
    kept = good(api.owner.post("/data/definitions", json={"definition": definition}), 201)["id"]
    node = {"kind": "script", "run": {"command": "true", "snapshot_id": one}}
    graph = flow(a=node, d={"kind": "data", "definition_id": kept})
    good(api.owner.post("/pipelines/drafts", json={"graph": graph}), 201)
    published = flow(a={"kind": "script", "run": {"command": "true", "snapshot_id": two}})
    good(api.owner.post("/pipelines/published", json={"name": "p", "graph": published}), 201)
    good(api.owner.post("/modules", json={"card": TestModules.CARD, "snapshot_id": four}), 201)
    api.record.snapshots._asked.clear()
    for table in ("snapshots", "data_definitions", "content"):
        column = "seen_utc" if table == "content" else "created_utc"
        with api.record.database.write() as tx:
            tx.conn.exec_driver_sql(f"UPDATE {table} SET {column} = '2020-01-01T00:00:00.000000Z'")
    api.record.collector.collect(False, 60.0)
    there = [bool(api.record.snapshots.summary(each)) for each in (one, two, three, four)]
    assert there == [True, True, False, True]
    assert api.record.datasets.definition(kept)
