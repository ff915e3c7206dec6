"""Nodes of other kinds: modules with their settings, models, data by definition and by parameter."""

from __future__ import annotations

import io
import sys

from sqlalchemy import insert

from rookery.data.resolve import resolver_of
from rookery.pipeline.samples import sample_pipelines
from rookery.record.clock import utc_now
from rookery.record.schema_pipeline import pipeline_modules

from .conftest import graph, step


def spec_of(bench, run, node):
    return bench.record.runs.get(bench.started(run, node))["spec"]


def write(bench, path, data):
    with resolver_of(bench.record).store("workspaceblobstore").writer(path) as writer:
        writer.write(data)
        writer.commit()


class TestModules:
    def test_the_run_of_a_module(self, bench):
        flow = graph(draw={"kind": "module", "module": "sample_pictures", "title": "Draw", "parameters": {"count": 5}})
        run = bench.submit(flow)
        spec = spec_of(bench, run, "draw")
        assert spec["script"] == "run_module.py"
        assert spec["arguments"] == [
            "sample_pictures", "--output-dataset=$ROOKERY_OUTPUT_output_dataset", "--count=5",
        ]  # fmt: skip
        assert spec["environment"]["python"] == sys.executable
        assert spec["display_name"] == "Draw"
        entries = bench.record.snapshots.entries(spec["snapshot_id"])
        assert [entry["path"] for entry in entries] == ["run_module.py"]

    def test_giving_a_default_changes_no_key(self, bench):
        flow = graph(draw={"kind": "module", "module": "sample_pictures"})
        run = bench.submit(flow)
        bench.finish(run, "draw")
        bench.ended(run)
        flow["nodes"]["draw"]["parameters"] = {"count": 60}  # what it is anyway
        assert bench.ended(bench.submit(flow))["draw"]["reused_from"]

    def test_where_and_in_how_many_processes(self, bench, monkeypatch):
        monkeypatch.setenv("ROOKERY_MODULES_PYTHON", "/opt/modules/bin/python")
        flow = next(s["graph"] for s in sample_pipelines() if "resnet" in s["name"])
        flow["nodes"]["train"]["run_settings"] = {"node_count": 1, "process_count_per_node": 2}
        flow["nodes"]["network"]["run_settings"] = {"environment": {"name": "mine", "python": "/usr/bin/python3"}}
        run = bench.submit(flow, parameters={"epochs": 7})
        assert spec_of(bench, run, "network")["environment"]["name"] == "mine"
        for node in ("pictures", "transformation", "network", "convert", "split", "apply1", "apply2"):
            bench.finish(run, node)
        spec = spec_of(bench, run, "train")
        assert (spec["launcher"], spec["processes_per_node"]) == ("per_process", 2)
        assert spec["environment"]["python"] == "/opt/modules/bin/python"
        assert "--epochs=7" in spec["arguments"]
        assert {each["name"] for each in spec["inputs"]} == {
            "untrained_model",
            "training_dataset",
            "validation_dataset",
        }

    def test_versions_of_a_module_run_what_they_are(self, bench):
        """One that was added before there were versions is its first; the default is what counts where none is named."""
        own, codes = bench.record.custom_modules, []
        for text in (b"1", b"2"):
            sha, size = bench.record.content.put(io.BytesIO(text))
            entry = {"path": "run.py", "sha256": sha, "size": size, "mode": 0o644, "link": None}
            codes.append(bench.record.snapshots.create([entry])["id"])
        card = {"name": "count", "script": "run.py", "parameters": {"n": {"kind": "Integer", "default": 3}}}
        card.update(inputs={"data": {"optional": True}}, outputs={"out": {}})
        with bench.record.database.write() as tx:  # as it was kept then
            row = {"name": "count", "version": 1, "card": card, "snapshot_id": codes[0], "created_by": "ann"}
            tx.conn.execute(insert(pipeline_modules).values(created_utc=utc_now(), **row))
        words = ["--to", {"output": "out"}, "--from", {"input": "data"}, "-n", {"parameter": "n"}]
        assert own.put("count", {**card, "arguments": words}, codes[1], "ann")["version"] == "2"
        assert own.put("count", card, codes[1], "ann", "old-way", make_default=False)["version"] == "old-way"
        assert [each["version"] for each in own.versions("count")["versions"]] == ["1", "2", "old-way"]
        assert own.versions("count")["current"] == own.find("count")["version"] == own.list()[0]["version"] == "2"
        flow = graph(
            new={"kind": "module", "module": "count"},
            old={"kind": "module", "module": "count", "version": "1"},
            mine={"kind": "module", "module": "count", "version": 1, "arguments": ["-n", {"parameter": "n"}]},
        )
        flow["nodes"]["mine"]["parameters"] = {"n": 4}
        run = bench.submit(flow)
        found = {node: spec_of(bench, run, node) for node in flow["nodes"]}
        assert [found[node]["snapshot_id"] for node in ("new", "old", "mine")] == [codes[1], codes[0], codes[0]]
        assert found["new"]["arguments"] == ["--to", "$ROOKERY_OUTPUT_out", "--from", "", "-n", "3"]
        assert found["old"]["arguments"] == ["--out=$ROOKERY_OUTPUT_out"]
        assert found["mine"]["arguments"] == ["-n", "4"]
        assert found["mine"]["variables"] == {"AML_PARAMETER_n": "4"}
        assert found["old"]["variables"] == {}
        own.put("Count", {**card, "name": "Count"}, codes[0], "ann")
        own.delete("count")
        assert [each["name"] for each in own.list()] == ["Count"], "another letter is another module"
        assert [each["version"] for each in own.versions("Count")["versions"]] == ["1"]


class TestData:
    def test_a_model_is_laid_out_once_and_is_an_input(self, bench):
        files = {}
        for name, data in (("net/weights.bin", b"123"), ("net/labels.csv", b"a,b")):
            files[name] = bench.record.content.put(io.BytesIO(data))
        entries = [{"path": name, "sha256": sha, "size": size} for name, (sha, size) in files.items()]
        bench.record.models.register({"name": "net", "entries": entries}, "ann")
        flow = graph(a=step(), net={"kind": "model", "model": "net", "version": None})
        flow["nodes"]["a"]["inputs"] = {"trained": {"node": "net", "port": "model"}}
        run = bench.submit(flow)
        given = spec_of(bench, run, "a")["inputs"][0]
        manifest = resolver_of(bench.record).resolve(bench.record.datasets.definition(given["definition_id"]))
        assert [entry.path for entry in manifest.entries] == ["labels.csv", "weights.bin"]
        bench.finish(run, "a")
        bench.ended(run)
        assert bench.ended(bench.submit(flow))["a"]["reused_from"]

    def test_a_data_set_that_changes_is_another_input(self, bench):
        write(bench, "in/one.csv", b"1")
        source = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": "in"}]}
        flow = graph(a=step(), d={"kind": "data", "definition": source})
        flow["nodes"]["a"]["inputs"] = {"x": {"node": "d", "port": "data", "mode": "download"}}
        run = bench.submit(flow)
        assert spec_of(bench, run, "a")["inputs"][0]["mode"] == "download"
        bench.finish(run, "a")
        bench.ended(run)
        assert bench.ended(bench.submit(flow))["a"]["reused_from"]
        write(bench, "in/two.csv", b"2")
        again = bench.submit(flow)
        bench.finish(again, "a")
        assert bench.ended(again)["a"]["reuse"] == "not reused: input x holds something else"

    def test_a_data_set_that_is_not_there_fails_the_step_with_the_reason(self, bench):
        source = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": "nowhere"}]}
        flow = graph(a=step(), d={"kind": "data", "title": "Birds", "definition": source})
        flow["nodes"]["a"]["inputs"] = {"x": {"node": "d", "port": "data"}}
        reason = bench.ended(bench.submit(flow), "Failed")["a"]["reason"]
        assert reason.startswith("'Birds' cannot be read")
