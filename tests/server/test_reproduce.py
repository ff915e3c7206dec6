"""A run against another and once more; models by name, where they come from; who used an environment."""

from __future__ import annotations

import pytest

from rookery.server import answer_views as v
from tests.server.conftest import run_spec
from tests.server.test_outputs import make_snapshot
from tests.server.test_search import strict


class TestDiff:
    @pytest.fixture
    def two(self, api):
        old = {"train.py": b"import os\nlr = 0.1\nrun()\n", "gone.txt": b"x\n", "same.txt": b"s", "net.bin": b"\0\1"}
        new = {"train.py": b"import os\nlr = 0.2\nrun()\n", "new.txt": b"y\n", "same.txt": b"s", "net.bin": b"\0\2"}
        api.run("old", snapshot_id=make_snapshot(api, old))
        api.run("new", snapshot_id=make_snapshot(api, new))
        return api

    def test_which_lines(self, two):
        found = strict(two.owner.get("/runs/new/diff/old"))
        v.SourceDiff.model_validate(found)
        files = {file["path"]: file for file in found["files"]}
        assert {path: file["change"] for path, file in files.items()} == {
            "gone.txt": "removed", "net.bin": "changed", "new.txt": "added", "train.py": "changed",
        }  # fmt: skip
        assert found["same"] == 1
        assert files["train.py"]["diff"].splitlines() == [
            "--- train.py", "+++ train.py", "@@ -1,3 +1,3 @@", " import os", "-lr = 0.1", "+lr = 0.2", " run()",
        ]  # fmt: skip
        assert (files["net.bin"]["diff"], files["net.bin"]["why"]) == (None, "it is a binary file")
        assert (found["old"]["run"], found["new"]["run"]) == ("old", "new")

    def test_one_file_and_no_context(self, two):
        (file,) = strict(two.owner.get("/runs/new/diff/old?path=train.py&context=0"))["files"]
        assert file["diff"].splitlines()[2:] == ["@@ -2 +2 @@", "-lr = 0.1", "+lr = 0.2"]

    def test_large_files_are_bounded(self, api):
        api.run(
            "old",
            snapshot_id=make_snapshot(
                api, {"big.txt": b"x\n" * 400_000, "many.txt": b"".join(b"%d\n" % i for i in range(9000))}
            ),
        )
        api.run(
            "new",
            snapshot_id=make_snapshot(
                api, {"big.txt": b"y\n" * 400_000, "many.txt": b"".join(b"%d\n" % (i * 2) for i in range(9000))}
            ),
        )
        found = strict(api.owner.get("/runs/new/diff/old"))["files"]
        assert [file["path"] for file in found] == ["big.txt", "many.txt"]
        assert "larger" in found[0]["why"]
        assert found[1]["cut"]
        assert len(found[1]["diff"].splitlines()) <= 5000

    def test_what_is_wrong_is_refused(self, two):
        two.run("bare")
        assert two.owner.get("/runs/new/diff/bare").status_code == 404
        assert two.owner.get("/runs/new/diff/nobody").status_code == 404
        assert two.owner.get("/runs/new/diff/old?context=-1").status_code == 422


class TestReproduce:
    def test_the_same_again(self, api):
        snapshot = make_snapshot(api, {"train.py": b"print(1)\n"})
        api.run(snapshot_id=snapshot, arguments=["--lr", "0.1"], tags={"team": "a"}, display_name="first")
        found = strict(api.owner.get("/runs/run-1/reproduce"))
        v.Reproducible.model_validate(found)
        assert (found["possible"], found["why_not"], found["differences"]) == (True, [], [])
        assert any("snapshot" in words for words in found["same"])
        response = api.owner.post("/runs/run-1/reproduce", json={"display_name": "again", "tags": {"more": "yes"}})
        assert response.status_code == 201, response.text
        new = response.json()
        old = api.record.runs.get("run-1")
        assert new["id"] != "run-1"
        for same in ("snapshot_id", "script", "arguments", "environment", "compute", "variables"):
            assert new["spec"][same] == old["spec"][same]
        assert (new["display_name"], new["tags"]) == ("again", {"team": "a", "more": "yes"})
        assert new["properties"]["rookery.reproduces"] == "run-1"
        assert new["status"] == "Queued"
        assert len(api.owner.get("/runs").json()["runs"]) == 2

    def test_secrets_go_along_unseen(self, api):
        body = {**run_spec(variables={"KEY": "***"}, secrets=("KEY",)), "secret_values": {"KEY": "s3cret"}}
        assert api.owner.post("/runs", json=body).status_code == 201
        response = api.owner.post("/runs/run-1/reproduce", json={})
        assert response.status_code == 201, response.text
        assert "s3cret" not in response.text
        assert "s3cret" not in api.owner.get("/runs/run-1/reproduce").text
        assert api.record.secrets.of_run(response.json()["id"]) == {"KEY": "s3cret"}

    def test_with_other_arguments(self, api):
        api.run(arguments=["--lr", "0.1"])
        new = api.owner.post("/runs/run-1/reproduce", json={"arguments": ["--lr", "0.2"]}).json()
        assert new["spec"]["arguments"] == ["--lr", "0.2"]

    def test_what_cannot_be_is_said(self, api):
        api.run()
        api.run("child", kind="child", parent_id="run-1")
        found = strict(api.owner.get("/runs/child/reproduce"))
        assert (found["possible"], found["spec"]) == (False, None)
        assert "child" in found["why_not"][0]
        response = api.owner.post("/runs/child/reproduce", json={})
        assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")
        assert api.owner.post("/runs/run-1/reproduce", json={"compute": "gpu4"}).status_code == 409
        assert api.owner.post("/runs/run-1/reproduce", json={"colour": "red"}).status_code == 422
        assert api.owner.post("/runs/nobody/reproduce", json={}).status_code == 404

    def test_an_interpreter_that_is_gone(self, api):
        spec = run_spec()
        spec["environment"]["python"] = "/nowhere/bin/python"
        assert api.owner.post("/runs", json=spec).status_code == 201
        found = strict(api.owner.get("/runs/run-1/reproduce"))
        assert not found["possible"]
        assert "/nowhere/bin/python" in found["why_not"][0]


class TestModels:
    @pytest.fixture
    def net(self, api):
        api.run(properties={"azureml.git.commit": "abc"})
        for i in range(2):
            api.owner.put(f"/runs/run-1/artifacts/outputs/{i}.pt", content=b"%d" % i)
            api.owner.post("/models", json={"name": "net", "run_id": "run-1", "path": f"outputs/{i}.pt"})
        return api

    def test_names(self, net):
        (found,) = strict(net.owner.get("/model-names"))["models"]
        v.ModelName.model_validate(found)
        assert (found["name"], found["versions"], found["latest"]["version"]) == ("net", 2, 2)
        assert found["latest"]["run_id"] == "run-1"

    def test_aliases(self, net):
        response = net.owner.put("/model-names/net/aliases/champion", json={"version": 1})
        assert response.json() == {"aliases": {"champion": 1}}
        assert net.owner.put("/model-names/net/aliases/champion", json={"version": None}).json() == {"aliases": {}}
        assert net.owner.put("/model-names/net/aliases/champion", json={"version": 9}).status_code == 404
        assert net.owner.put("/model-names/nothing/aliases/champion", json={"version": 1}).status_code == 404
        assert net.owner.put("/model-names/net/aliases/v1", json={"version": 1}).status_code == 400
        assert net.owner.put("/model-names/net/aliases/a%20b", json={"version": 1}).status_code == 400

    def test_where_it_comes_from(self, net):
        net.record.inputs.add("run-1", [{"direction": "in", "kind": "dataset", "name": "birds", "digest": "d1"}])
        found = strict(net.owner.get("/models/net/1/lineage"))
        v.Lineage.model_validate(found)
        assert (found["run"]["id"], found["git"]) == ("run-1", {"commit": "abc"})
        assert found["data"] == [
            {"direction": "in", "kind": "dataset", "name": "birds", "digest": "d1", "context": None}
        ]
        assert found["siblings"] == [{"name": "net", "version": 2}]
        assert net.owner.get("/models/net/7/lineage").status_code == 404


class TestEnvironmentRuns:
    def test_who_used_it(self, api):
        for i in range(3):
            api.run(f"run-{i}")
        found = strict(api.owner.get("/environments/default-environment/runs?limit=2"))
        assert [run["id"] for run in found["runs"]] == ["run-2", "run-1"]
        assert strict(api.owner.get("/environments/nothing/runs")) == {"runs": []}
        assert api.owner.get("/environments/x/runs?limit=0").status_code == 422
