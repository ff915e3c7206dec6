"""The API of data: what people and runs may, uploads that are hostile, previews, who used what."""

from __future__ import annotations

import io
import json
import stat
import zipfile

import pytest

from rookery.data import complete_outputs, prepare_inputs
from rookery.errors import DataError
from rookery.spec.data import DataInput, DataOutput
from rookery.spec.plain import from_plain
from rookery.spec.run import RunSpec

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def pack(files):
    return b"".join(json.dumps({"path": p, "size": len(d)}).encode() + b"\n" + d for p, d in files.items())


def zipped(files, mode=0o644):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)
    return target.getvalue()


def put(api, files, path="in"):
    answer = api.owner.post("/datastores/workspaceblobstore/pack", params={"path": path}, content=pack(files))
    assert answer.status_code == 201, answer.text
    return answer.json()


def register(api, name="birds", path="in", **more):
    definition = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": path}], **more}
    answer = api.owner.post("/datasets", json={"name": name, "definition": definition, "create_new_version": True})
    assert answer.status_code == 201, answer.text
    return answer.json()


class TestUploads:
    def test_a_folder_becomes_a_version(self, api):
        body = pack({"birds/a.png": PNG, "birds/sub/b.txt": b"b", "birds/none/": b""})
        made = api.owner.post("/datasets/birds/uploads", content=body).json()
        assert (made["name"], made["version"], made["files"]) == ("birds", 1, 2)
        again = api.owner.post("/datasets/birds/uploads", content=pack({"x.txt": b"x"})).json()
        assert again["version"] == 2
        folder = api.owner.get("/datasets/birds/1/folder").json()
        assert [(e["name"], e["is_folder"]) for e in folder["entries"]] == [
            ("none", True), ("sub", True), ("a.png", False)
        ]  # fmt: skip

    def test_a_zip_becomes_a_version(self, api):
        body = zipped({"top/a.txt": b"a", "top/ü/b.txt": b"b", "__MACOSX/top/._a": b"junk"})
        made = api.owner.post("/datasets/z/uploads", params={"format": "zip"}, content=body).json()
        assert made["files"] == 2
        assert api.owner.get("/datasets/z/1/files/ü/b.txt").content == b"b"

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (zipped({"../out": b"x"}), "leads out"),
            (zipped({"/abs": b"x"}), "leads out"),
            (zipped({"a/../../out": b"x"}), "leads out"),
            (zipped({"C:/x": b"x"}), "leads out"),
            (zipped({"link": b"/etc/passwd"}, stat.S_IFLNK | 0o777), "link"),
            (zipped({"zeros": b"\0" * 60_000_000}), "thousand times"),
            (b"PK nonsense", "no zip"),
            (zipped({"a": b"x"})[:-30], "no zip"),
            (zipped({}), "no file"),
        ],
    )
    def test_a_hostile_zip_leaves_nothing(self, api, body, words):
        answer = api.owner.post("/datasets/z/uploads", params={"format": "zip"}, content=body)
        assert answer.status_code == 400, answer.text
        assert words in answer.json()["error"]["message"]
        assert api.owner.get("/datasets").json() == {"datasets": []}
        assert api.owner.get("/datastores/workspaceblobstore/files").json()["total"] == 0

    def test_a_pack_that_breaks_off_leaves_nothing(self, api):
        body = pack({"a.txt": b"a"}) + b'{"path": "b.txt", "size": 100}\nonly this'
        answer = api.owner.post("/datasets/z/uploads", content=body)
        assert answer.status_code == 400
        assert api.owner.get("/datasets").json() == {"datasets": []}
        assert api.owner.get("/datastores/workspaceblobstore/files").json()["total"] == 0

    def test_too_many_files(self, api, monkeypatch):
        monkeypatch.setenv("ROOKERY_UPLOAD_MAX_FILES", "2")
        files = {f"{i}.txt": b"x" for i in range(3)}
        for form, body in (("pack", pack(files)), ("zip", zipped(files))):
            answer = api.owner.post("/datasets/z/uploads", params={"format": form}, content=body)
            assert answer.status_code == 400
            assert "upload_max_files" in answer.json()["error"]["message"]


class TestPreview:
    def test_pictures_are_shown_and_nothing_else_is(self, api):
        put(api, {"a.png": PNG, "b.svg": b"<svg onload='x'/>", "c.html": b"<script>"})
        register(api)
        picture = api.owner.get("/datasets/birds/1/files/a.png", params={"inline": True})
        assert picture.headers["content-type"] == "image/png"
        assert picture.headers["content-disposition"] == "inline"
        for name in ("b.svg", "c.html"):
            other = api.owner.get(f"/datasets/birds/1/files/{name}", params={"inline": True})
            assert other.headers["content-type"] == "application/octet-stream"
            assert other.headers["content-disposition"] == "attachment"
        assert api.owner.get("/datasets/birds/1/folder").json()["pictures"] == 1

    def test_a_page_of_a_folder(self, api):
        put(api, {f"{i:03}.txt": b"x" for i in range(30)})
        register(api)
        page = api.owner.get("/datasets/birds/1/folder", params={"first": 10, "limit": 5}).json()
        assert (page["total"], [e["name"] for e in page["entries"]]) == (30, [f"{i:03}.txt" for i in range(10, 15)])
        assert api.owner.get("/datasets/birds/1/folder", params={"path": "none"}).status_code == 400

    def test_a_table(self, api):
        put(api, {"t.csv": b'name,age\n"a, b",1\nc,2\n', "t.jsonl": b'{"x": 1}\n{"x": 2, "y": "z"}\n'})
        steps = [{"op": "drop_columns", "columns": ["age"]}]
        source = [{"datastore": "workspaceblobstore", "path": "in/t.csv"}]
        for name, more in (("t", {}), ("fewer", {"steps": steps})):
            definition = {"kind": "tabular", "sources": source, "format": {"type": "delimited"}, **more}
            api.owner.post("/datasets", json={"name": name, "definition": definition})
        told = api.owner.get("/datasets/t/1/table").json()
        assert told == {"columns": ["name", "age"], "rows": [["a, b", "1"], ["c", "2"]], "is_whole": True}
        assert api.owner.get("/datasets/fewer/1/table").json()["columns"] == ["name"]
        one = api.owner.get("/datasets/t/1/table", params={"rows": 1}).json()
        assert (len(one["rows"]), one["is_whole"]) == (1, False)
        lines = {"kind": "tabular", "format": {"type": "json_lines"}}
        lines["sources"] = [{"datastore": "workspaceblobstore", "path": "in/t.jsonl"}]
        api.owner.post("/datasets", json={"name": "lines", "definition": lines})
        told = api.owner.get("/datasets/lines/1/table").json()
        assert (told["columns"], told["rows"]) == (["x", "y"], [[1, None], [2, "z"]])

    def test_a_table_of_files_is_none(self, api):
        put(api, {"a": b"1"})
        register(api)
        assert api.owner.get("/datasets/birds/1/table").status_code == 400


class TestVersions:
    def test_the_same_again_is_the_same_version(self, api):
        put(api, {"a": b"1"})
        assert register(api)["version"] == register(api)["version"] == 1
        put(api, {"b": b"2"})
        assert register(api)["version"] == 2
        told = api.owner.get("/datasets/birds/versions").json()["datasets"]
        assert [d["version"] for d in told] == [2, 1]
        assert [d["latest_version"] for d in told] == [2, 2]

    def test_a_name_that_is_taken(self, api):
        put(api, {"a": b"1", "b": b"2"})
        register(api)
        definition = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": "in/a"}]}
        answer = api.owner.post("/datasets", json={"name": "birds", "definition": definition})
        assert answer.status_code == 409
        assert "create_new_version" in answer.json()["error"]["message"]

    def test_tags_and_forgetting(self, api):
        put(api, {"a": b"1"})
        register(api)
        changed = api.owner.patch("/datasets/birds/1", json={"tags": {"x": "1"}, "description": "d"}).json()
        assert (changed["tags"], changed["description"]) == ({"x": "1"}, "d")
        assert len(api.owner.get("/datasets", params={"tag": "x=1"}).json()["datasets"]) == 1
        assert api.owner.get("/datasets", params={"tag": "x=2"}).json()["datasets"] == []
        assert api.owner.patch("/datasets/birds/1", json={"remove_tags": ["x"]}).json()["tags"] == {}
        assert api.owner.delete("/datasets/birds").status_code == 200
        assert api.owner.get("/datasets/birds").status_code == 404
        assert register(api)["version"] == 2  # a number is not given again

    def test_unknown_ones_are_404_with_a_hint(self, api):
        put(api, {"a": b"1"})
        register(api)
        told = api.owner.get("/datasets/brids").json()["error"]
        assert (told["code"], "Did you mean 'birds'" in told["message"]) == ("dataset_not_found", True)
        told = api.owner.get("/datastores/workspaceblobstor").json()["error"]
        assert (told["code"], "Did you mean" in told["message"]) == ("datastore_not_found", True)
        assert api.owner.get("/data/manifests/none").status_code == 404


class TestRights:
    def test_only_owners_name_places_of_the_keeper(self, api):
        people = api.record.people
        people.add("c", "contributor", None, "test")
        client = api.tcp(people.make_token("c", "t", 600)["token"])
        for url in ("file:///etc", "s3://bucket/x"):
            definition = {"kind": "file", "sources": [{"url": url}]}
            assert client.post("/data/definitions", json={"definition": definition}).status_code == 403
            assert client.post("/datasets", json={"name": "x", "definition": definition}).status_code == 403
        new = {"name": "d", "kind": "folder", "spec": {"folder": "/etc"}}
        assert client.post("/datastores", json=new).status_code == 403
        put(api, {"a": b"1"})
        definition = {"kind": "file", "sources": [{"datastore": "workspaceblobstore", "path": "in"}]}
        assert client.post("/datasets", json={"name": "mine", "definition": definition}).status_code == 201

    def test_credentials_are_never_told(self, api):
        new = {"name": "s", "kind": "s3", "spec": {"bucket": "b"}, "credentials": {"key": "k1", "secret": "s3cr3t-x"}}
        made = api.owner.post("/datastores", json={**new, "check": False})
        assert made.status_code == 201
        told = made.text + api.owner.get("/datastores").text + api.owner.get("/datastores/s").text
        assert "s3cr3t-x" not in told
        wrong = api.owner.post("/datastores", json={**new, "name": "t", "credentials": {"sceret": "s3cr3t-x"}})
        assert wrong.status_code == 400
        assert "s3cr3t-x" not in wrong.text
        for url in ("https://u:s3cr3t-x@host/f", "https://host/f?sig=s3cr3t-x"):
            definition = {"kind": "file", "sources": [{"url": url}]}
            answer = api.owner.post("/datasets", json={"name": "x", "definition": definition})
            assert answer.status_code == 400
            assert "s3cr3t-x" not in answer.text

    def test_secrets_of_the_keyvault(self, api, token):
        api.run()
        assert api.owner.put("/keyvault/password", json={"value": "x"}).status_code == 200
        assert api.owner.get("/keyvault").json() == {"names": ["password"]}
        assert api.tcp(token()).get("/keyvault/password").json() == {"value": "x"}
        assert api.owner.delete("/keyvault/password").status_code == 200
        assert api.owner.get("/keyvault/password").status_code == 404


class TestRuns:
    def spec(self, api, run_id, **fields):
        return from_plain(RunSpec, api.run(run_id, **fields)["spec"])

    def test_what_a_run_used_is_recorded_and_stays(self, api):
        put(api, {"a": b"1"})
        made = register(api)
        given = DataInput("birds", made["id"], "mount", data_name="birds", data_version=1)
        spec = self.spec(api, "run-1", inputs=(given,))
        first = prepare_inputs(api.record, spec)["birds"]
        assert first.fingerprint == made["fingerprint"]
        put(api, {"b": b"2"})
        assert prepare_inputs(api.record, spec)["birds"].manifest_id == first.manifest_id  # every attempt has the same
        (row,) = api.owner.get("/runs/run-1/data").json()["data"]
        assert (row["data_name"], row["data_version"], row["files"]) == ("birds", 1, 1)
        (run,) = api.owner.get("/datasets/birds/1/runs").json()["runs"]
        assert (run["run_id"], run["direction"], run["by_name"]) == ("run-1", "in", True)
        assert api.owner.get("/datasets/birds").json()["used_by_runs"] == 1

    def test_a_version_that_has_changed_is_a_warning(self, api):
        put(api, {"a": b"1"})
        made = register(api)
        put(api, {"b": b"2"})
        given = DataInput("birds", made["id"], "mount", data_name="birds", data_version=1)
        prepare_inputs(api.record, self.spec(api, "run-1", inputs=(given,)))
        (warning,) = api.owner.get("/runs/run-1").json()["warnings"]
        assert "have changed since" in warning

    def test_an_input_that_is_gone_is_named(self, api):
        put(api, {"a": b"1"})
        made = register(api)
        spec = self.spec(api, "run-1", inputs=(DataInput("birds", made["id"]),))
        api.record.datastores.opening("workspaceblobstore")
        import shutil

        shutil.rmtree(api.record.paths.datastore("workspaceblobstore") + "/in")
        with pytest.raises(DataError, match="Input 'birds' cannot be had"):
            prepare_inputs(api.record, spec)

    def test_outputs_become_versions_once(self, api, token):
        output = DataOutput("out", register_as="made", tags={"a": "b"})
        api.run("run-1", outputs=(output,))
        agent = api.tcp(token("run-1", "agent"))
        answer = agent.post("/agent/run-1/1/0/outputs/out", content=pack({"r/x.csv": b"a\n1\n", "y": b"2"}))
        assert answer.status_code == 201, answer.text
        assert api.tcp(token("run-1")).post("/agent/run-1/1/0/outputs/out", content=b"").status_code == 403
        assert agent.post("/agent/run-1/1/0/outputs/none", content=b"").status_code == 404
        (made,) = complete_outputs(api.record, "run-1")
        assert (made["name"], made["version"], made["files"], made["run_id"]) == ("made", 1, 2, "run-1")
        assert complete_outputs(api.record, "run-1") == []
        assert api.owner.get("/datasets/made/1/files/r/x.csv").content == b"a\n1\n"
        (row,) = api.owner.get("/runs/run-1/data").json()["data"]
        assert (row["direction"], row["data_name"], row["data_version"]) == ("out", "made", 1)
        api.run("run-2", outputs=(output,))
        api.tcp(token("run-2", "agent")).post("/agent/run-2/1/0/outputs/out", content=pack({"y": b"2"}))
        assert complete_outputs(api.record, "run-2")[0]["version"] == 2

    def test_an_output_without_files_is_no_version(self, api):
        api.run("run-1", outputs=(DataOutput("out", register_as="made"),))
        assert complete_outputs(api.record, "run-1") == []
        assert "holds no file" in api.owner.get("/runs/run-1").json()["warnings"][0]
        assert api.owner.get("/datasets").json()["datasets"] == []


class TestBytes:
    def test_many_files_in_one_answer_or_a_cut_connection(self, api):
        import httpx

        put(api, {f"{i}": b"%d" % i * 3000 for i in range(20)})
        made = register(api)
        manifest = api.owner.get(f"/data/manifests/{made['manifest_id']}").json()
        route = f"/data/manifests/{made['manifest_id']}/bytes"
        whole = api.owner.get(route, params={"first": 2, "count": 3}).content
        assert whole == b"".join(e[0].encode() * 3000 for e in manifest["entries"][2:5])
        folder = api.record.paths.datastore("workspaceblobstore") + "/in/"
        with open(folder + manifest["entries"][3][0], "ab") as f:
            f.write(b"more")
        with pytest.raises(httpx.RemoteProtocolError):
            api.owner.get(route, params={"first": 2, "count": 3})
        told = api.owner.get(f"/data/manifests/{made['manifest_id']}/files/3")
        assert (told.status_code, "changed" in told.json()["error"]["message"]) == (400, True)
        part = api.owner.get(f"/data/manifests/{made['manifest_id']}/files/2", headers={"Range": "bytes=10-19"})
        assert (part.status_code, len(part.content)) == (206, 10)
