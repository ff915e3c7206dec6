"""What a run left, to look at: folders, previews of every kind, pictures that can do no harm, and the same of snapshots and models."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from rookery.server import answer_views as v
from rookery.server.preview import kind_of, preview_file
from tests.server.test_search import strict

FILES = Path(__file__).with_name("files")


def png(width=3, height=2):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def put(api):
    api.run()

    def put(name, data):
        response = api.owner.put(f"/runs/run-1/artifacts/{name}", content=data)
        assert response.status_code == 201, response.text

    return put


def preview(api, name, **query):
    response = api.owner.get(f"/runs/run-1/preview/{name}", params=query)
    assert response.status_code == 200, response.text
    found = strict(response)
    v.Preview.model_validate(found)
    return found


class TestTree:
    def test_a_folder_at_a_time(self, api, put):
        for name in ("outputs/net/a.pt", "outputs/net/deep/b.pt", "outputs/log.txt", "top.csv"):
            put(name, name.encode())
        top = strict(api.owner.get("/runs/run-1/tree"))
        v.Tree.model_validate(top)
        assert top["folders"] == [{"name": "outputs", "path": "outputs", "files": 3, "bytes": 52}]
        assert [(f["name"], f["path"], f["preview"]) for f in top["files"]] == [("top.csv", "top.csv", "table")]
        below = strict(api.owner.get("/runs/run-1/tree?path=outputs"))
        assert [f["path"] for f in below["folders"]] == ["outputs/net"]
        assert [f["path"] for f in below["files"]] == ["outputs/log.txt"]
        assert api.owner.get("/runs/run-1/tree?path=outputs/nothing").status_code == 404
        assert api.owner.get("/runs/run-1/tree?limit=0").status_code == 422
        cut = strict(api.owner.get("/runs/run-1/tree?limit=1"))
        assert (len(cut["folders"]), len(cut["files"]), cut["more"]) == (1, 0, True)

    def test_an_empty_one(self, api):
        api.run()
        assert strict(api.owner.get("/runs/run-1/tree")) == {"path": "", "folders": [], "files": [], "more": False}


class TestZip:
    def test_all_files_or_one_folder(self, api, put):
        for name in ("outputs/net/a.pt", "outputs/log.txt", "outputs-old/x.txt"):
            put(name, name.encode())
        answered = api.owner.get("/runs/run-1/zip")
        assert answered.headers["content-disposition"] == 'attachment; filename="run-1-files.zip"'
        with zipfile.ZipFile(io.BytesIO(answered.content)) as archive:
            assert sorted(archive.namelist()) == ["outputs-old/x.txt", "outputs/log.txt", "outputs/net/a.pt"]
            assert archive.read("outputs/net/a.pt") == b"outputs/net/a.pt"
        with zipfile.ZipFile(io.BytesIO(api.owner.get("/runs/run-1/zip?path=outputs/").content)) as archive:
            assert sorted(archive.namelist()) == ["outputs/log.txt", "outputs/net/a.pt"]

    def test_nothing_there(self, api, put):
        assert "has no files" in api.owner.get("/runs/run-1/zip").json()["error"]["message"]
        assert api.owner.get("/runs/run-1/zip?path=nothing").status_code == 404
        assert api.owner.get("/runs/no/zip").status_code == 404


class TestPreview:
    def test_text(self, api, put):
        put("a.py", "print('grün')\n".encode())
        assert preview(api, "a.py") == {
            "name": "a.py",
            "size": 15,
            "kind": "text",
            "text": "print('grün')\n",
            "cut": False,
        }
        put("long.txt", b"line\n" * 200_000)
        found = preview(api, "long.txt")
        assert found["cut"]
        assert len(found["text"]) <= 256 * 1024
        assert found["text"].endswith("\n")

    def test_json(self, api, put):
        put("a.json", b'{"a": 1}')
        assert (preview(api, "a.json")["text"], preview(api, "a.json")["valid"]) == ('{"a": 1}', True)
        put("b.json", b"{" * 100_000)
        assert preview(api, "b.json")["valid"] is False

    def test_tables(self, api, put):
        put("a.csv", b'id,name,score\n1,"a, b",0.5\n2,c,1e3\n')
        found = preview(api, "a.csv")
        assert found["columns"] == [
            {"name": "id", "type": "number"}, {"name": "name", "type": "text"}, {"name": "score", "type": "number"},
        ]  # fmt: skip
        assert found["rows"] == [["1", "a, b", "0.5"], ["2", "c", "1e3"]]
        assert (found["total_rows"], found["cut"]) == (2, False)
        assert preview(api, "a.csv", rows=1)["rows"] == [["1", "a, b", "0.5"]]
        assert preview(api, "a.csv", rows=1)["cut"]
        put("b.tsv", b"x\ty\n1\t2\n1\t2\t3\n")
        assert preview(api, "b.tsv")["rows"] == [["1", "2", ""], ["1", "2", "3"]]
        put("c.jsonl", b'{"a": 1}\n{"b": [2]}\nrubbish\n')
        found = preview(api, "c.jsonl")
        assert [c["name"] for c in found["columns"]] == ["a", "b", "line"]
        assert found["rows"] == [[1, None, None], [None, "[2]", None], [None, None, "rubbish"]]

    def test_pictures(self, api, put):
        put("a.png", png())
        found = preview(api, "a.png")
        assert (found["kind"], found["content_type"], found["width"], found["height"]) == ("image", "image/png", 3, 2)
        put("b.dat", png())
        assert preview(api, "b.dat")["kind"] == "image"
        put("c.png", b"<svg onload='alert(1)'/>")
        assert preview(api, "c.png")["kind"] == "text"

    def test_binary_files(self, api, put):
        put("a.pt", b"PK\x03\x04")
        put("b.txt", b"\0\1\2" * 100)
        put("c.txt", bytes(range(128, 256)) * 10)
        for name in ("a.pt", "b.txt", "c.txt"):
            assert preview(api, name)["kind"] == "none"
            assert preview(api, name)["why"]

    def test_active_content_is_text(self, api, put):
        for name in ("a.html", "a.svg"):
            put(name, b"<script>alert(1)</script>")
            response = api.owner.get(f"/runs/run-1/preview/{name}")
            assert response.headers["content-type"] == "application/json"
            assert response.json()["kind"] == "text"

    def test_what_is_wrong_is_refused(self, api, put):
        assert api.owner.get("/runs/run-1/preview/nothing.txt").status_code == 404
        assert api.owner.get("/runs/nobody/preview/a.txt").status_code == 404
        put("a.txt", b"x")
        assert api.owner.get("/runs/run-1/preview/a.txt?rows=0").status_code == 422


class TestOnnx:
    def test_a_model_without_its_weights(self, api, put):
        put("net.onnx", (FILES / "net.onnx").read_bytes())
        model = preview(api, "net.onnx")["model"]
        assert (model["graph"], model["producer"], model["ir_version"]) == ("chickens", "rookery-test", 8)
        assert model["opsets"] == [{"domain": "", "version": 17}]
        assert model["inputs"] == [{"name": "x", "type": "float32", "shape": ["batch", 3]}]
        assert model["outputs"] == [{"name": "y", "type": "float32", "shape": ["batch", 4]}]
        assert (model["num_nodes"], model["num_initializers"], model["num_parameters"], model["weights_bytes"]) == (
            3,
            2,
            16,
            64,
        )
        assert [node["op"] for node in model["nodes"]] == ["Gemm", "Relu", "Softmax"]
        assert model["nodes"][0]["inputs"] == ["x", "w", "b"]
        assert model["metadata"] == {"classes": "chicken,turkey"}

    def test_a_damaged_one_harms_nobody(self):
        whole = (FILES / "net.onnx").read_bytes()
        for data in (
            b"",
            b"hello",
            b"\xff" * 50,
            b"\x3a\xff\xff\xff\xff\x0f",
            *(whole[:n] for n in range(0, len(whole), 7)),
        ):
            found = _preview("net.onnx", data)
            assert found["kind"] in ("onnx", "none")
        for place in range(len(whole)):
            _preview("net.onnx", whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])


class TestParquet:
    def test_the_first_rows(self):
        for file in ("snappy.parquet", "gzip-v2.parquet"):
            found = _preview(file, (FILES / file).read_bytes(), 250)
            assert (found["total_rows"], len(found["rows"]), found["cut"]) == (300, 250, True)
            names = [column["name"] for column in found["columns"]]
            assert names[:6] == ["id", "name", "score", "ok", "day", "at"]
            assert found["rows"][0][:6] == [0, None, 0.0, True, "2026-11-01", "2026-11-16T08:00:00+00:00"]
            assert found["rows"][243][:6] == [
                243, "bird 3", 60.75, False, "2026-11-20", "2026-11-16T08:00:00.000243+00:00",
            ]  # fmt: skip
            assert [row[1] for row in found["rows"]] == [None if i % 7 == 0 else f"bird {i % 5}" for i in range(250)]
            assert "nested" in found["columns"][6]["why"]

    def test_what_cannot_be_read_is_said(self):
        found = _preview("zstd.parquet", (FILES / "zstd.parquet").read_bytes())
        assert found["rows"][0][0] is None
        assert "zstd" in found["columns"][0]["why"]

    def test_a_damaged_one_harms_nobody(self):
        whole = (FILES / "snappy.parquet").read_bytes()
        for data in (b"PAR1", b"PAR1" * 4, whole[:100] + whole[-100:], whole[: len(whole) // 2]):
            assert _preview("x.parquet", data)["kind"] == "none"
        for place in range(4, len(whole), 13):
            found = _preview("x.parquet", whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            json.dumps(found)
            assert len(found.get("rows", [])) <= 100


class TestPicture:
    def test_it_is_shown_and_can_do_nothing(self, api, put):
        put("a.png", png())
        response = api.owner.get("/runs/run-1/picture/a.png")
        assert response.content == png()
        assert response.headers["content-type"] == "image/png"
        assert response.headers["content-disposition"] == "inline"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in response.headers["content-security-policy"]
        assert "default-src 'none'" in response.headers["content-security-policy"]

    @pytest.mark.parametrize(
        "data", [b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"<html>", b"", b"%PDF-1.7", b"GIF8"]
    )
    def test_nothing_else_is(self, api, put, data):
        put("a.png", data)
        assert api.owner.get("/runs/run-1/picture/a.png").status_code == 400

    def test_a_download_is_never_shown(self, api, put):
        put("a.html", b"<script>alert(1)</script>")
        response = api.owner.get("/runs/run-1/artifacts/a.html")
        assert response.headers["content-disposition"].startswith("attachment")
        assert response.headers["content-type"] == "application/octet-stream"


class TestSnapshotsAndModels:
    def test_a_snapshot_is_looked_through(self, api):
        snapshot = make_snapshot(api, {"src/train.py": b"print(1)\n", "README": b"hello\n"})
        top = strict(api.owner.get(f"/snapshots/{snapshot}/tree"))
        assert [f["path"] for f in top["folders"]] == ["src"]
        assert [f["name"] for f in top["files"]] == ["README"]
        found = strict(api.owner.get(f"/snapshots/{snapshot}/preview/src/train.py"))
        assert (found["kind"], found["text"]) == ("text", "print(1)\n")
        assert api.owner.get(f"/snapshots/{snapshot}/preview/src/nothing.py").status_code == 404
        assert api.owner.get("/snapshots/nothing/tree").status_code == 404

    def test_pictures_of_both(self, api, put):
        snapshot = make_snapshot(api, {"docs/a.png": png(), "README": b"hello\n"})
        shown = api.owner.get(f"/snapshots/{snapshot}/picture/docs/a.png")
        assert (shown.content, shown.headers["content-type"]) == (png(), "image/png")
        assert "sandbox" in shown.headers["content-security-policy"]
        assert api.owner.get(f"/snapshots/{snapshot}/picture/README").status_code == 400
        assert api.owner.get(f"/snapshots/{snapshot}/picture/docs/b.png").status_code == 404
        put("outputs/a.png", png())
        api.owner.post("/models", json={"name": "net", "run_id": "run-1", "path": "outputs/a.png"})
        assert api.owner.get("/models/net/1/picture/a.png").content == png()
        assert api.owner.get("/models/net/1/picture/b.png").status_code == 404

    def test_a_file_of_a_model(self, api, put):
        put("outputs/net.onnx", (FILES / "net.onnx").read_bytes())
        api.owner.post("/models", json={"name": "net", "run_id": "run-1", "path": "outputs/net.onnx"})
        found = strict(api.owner.get("/models/net/1/preview/net.onnx"))
        assert found["model"]["graph"] == "chickens"
        assert api.owner.get("/models/net/1/preview/x").status_code == 404


class TestKinds:
    def test_names(self):
        assert [kind_of(name) for name in ("a/b.PNG", "x.csv", "Makefile", ".gitignore", "net.pt", "events.out.tfevents.1")] == [
            "image", "table", "text", "text", "none", "none",
        ]  # fmt: skip


def make_snapshot(api, files):
    entries = []
    for path, data in sorted(files.items()):
        sha256 = hashlib.sha256(data).hexdigest()
        assert api.owner.put(f"/content/{sha256}", content=data).status_code == 201
        entries.append({"path": path, "sha256": sha256, "size": len(data), "mode": 0o644, "link": None})
    response = api.owner.post("/snapshots", json={"entries": entries})
    assert response.status_code == 201, response.text
    return response.json()["id"]


def _preview(name, data, rows=100):
    import io

    return preview_file(name, len(data), lambda: io.BytesIO(data), rows)
