"""Entry scripts as v1 describes them: the app root, the models, schemas, whole requests; on old and new Pythons."""

from __future__ import annotations

import glob
import json
import os
import sys

import pytest

from tests.serve.conftest import ask, score

pytestmark = pytest.mark.slow

OTHERS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")))
PYTHONS = list(dict.fromkeys([*OTHERS[-1:], *[p for p in OTHERS if "/3.6" in p], sys.executable]))

LAYOUT = """
import json, os
import beside
from azureml.core.model import Model

def init():
    global found
    folder = os.environ["AZUREML_MODEL_DIR"]
    models = sorted(os.path.relpath(os.path.join(h, f), folder) for h, _, files in os.walk(folder) for f in files)
    with open("./my source/data/extra.json") as f:
        extra = json.load(f)
    found = {"models": models, "extra": extra, "cwd": os.getcwd() == os.environ["AML_APP_ROOT"], "beside": beside.NAME,
             "tail": os.path.relpath(folder, os.getcwd()), "path": os.path.relpath(Model.get_model_path("one"), os.getcwd())}

def run(data):
    return found
"""

SCHEMA = """
from inference_schema.schema_decorators import input_schema, output_schema
from inference_schema.parameter_types.standard_py_parameter_type import StandardPythonParameterType as Plain

@input_schema("rows", Plain([[1, 2]]))
@input_schema("factor", Plain(2.5))
@output_schema(Plain({"sum": 1.0}))
def run(rows, factor):
    if factor < 0:
        raise ValueError("a negative factor")
    return {"sum": sum(map(sum, rows)) * factor}
"""

RAW = """
from azureml.contrib.services.aml_request import AMLRequest, rawhttp
from azureml.contrib.services.aml_response import AMLResponse

def init():
    pass

@rawhttp
def run(request):
    if request.method == "GET":
        return AMLResponse({"q": request.args.get("q"), "agent": request.headers.get("X-Mine")}, 200, json_str=True)
    if request.files:
        return AMLResponse(request.files["picture"].read()[::-1], 201, {"X-Name": request.files["picture"].filename})
    if request.method == "OPTIONS":
        return AMLResponse("", 204, {"Access-Control-Allow-Origin": "*"})
    data = request.get_data()
    if not data:
        return AMLResponse("bad request", 500, run_function_failed=True)
    return AMLResponse(data[::-1], 200)
"""


class TestScripts:
    def test_the_app_root(self, coop):
        coop.model("one", {"weights.bin": b"1"})
        coop.model("two", {"net/a.bin": b"2", "net/b.bin": b"3"})
        files = {"score/main.py": LAYOUT, "score/beside.py": "NAME = 'me'\n", "data/extra.json": "[1]"}
        inference = {"entry_script": "score/main.py", "source_name": "my source", "snapshot_id": coop.source(files)}
        body = {"inference": inference, "models": [{"name": "one"}]}
        told = score(coop.deploy("layout", **body), {}).json()
        assert told == {
            "models": ["weights.bin"],
            "extra": [1],
            "cwd": True,
            "beside": "me",
            "tail": "azureml-models/one/1",
            "path": "azureml-models/one/1/weights.bin",
        }
        coop.ask("PATCH", "/endpoints/layout", {"models": [{"name": "one"}, {"name": "two", "version": 1}]})
        told = score(coop.settled("layout"), {}).json()
        assert told["tail"] == "azureml-models"
        assert told["models"] == ["one/1/weights.bin", "two/1/net/a.bin", "two/1/net/b.bin"]

    @pytest.mark.parametrize("python", PYTHONS)
    def test_schemas_and_whole_requests(self, coop, python):
        environment = {"name": "theirs", "user_managed": True, "python": python}
        found = coop.deploy("schema", inference=coop.script(SCHEMA, environment=environment))
        assert found["state"] == "Healthy", found["error"]
        assert score(found, {"rows": [[1, 2], [3]], "factor": 2}).json() == {"sum": 12.0}
        for rubbish in (
            [], "x", {}, {"rows": [[1]]}, {"rows": [[1]], "factor": "2"}, {"rows": 3, "factor": 1}, {"rows": [[1]], "factor": 1, "more": 1},
        ):  # fmt: skip
            assert score(found, rubbish).status == 400, rubbish
        assert ask(found["scoring_uri"], b"{rubbish").status == 400
        failed = score(found, {"rows": [[1]], "factor": -1})
        assert (failed.status, failed.text) == (500, "a negative factor")
        swagger = ask(found["swagger_uri"] + "?version=2").json()
        assert sorted(swagger["definitions"]["ServiceInput"]["properties"]) == ["factor", "rows"]

        raw = coop.deploy("raw", inference=coop.script(RAW, environment=environment))
        assert raw["state"] == "Healthy", raw["error"]
        url = raw["scoring_uri"]
        assert ask(url, b"\xff\x00abc").body == b"cba\x00\xff"
        assert ask(url + "?q=a%20b", headers={"X-Mine": "me"}).json() == {"q": "a b", "agent": "me"}
        assert ask(url, method="OPTIONS").headers["Access-Control-Allow-Origin"] == "*"
        failed = ask(url, b"")
        assert (failed.status, failed.headers["x-ms-run-function-failed"]) == (500, "True")
        form = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nabc\r\n--x--\r\n'
        answered = ask(url, form, {"Content-Type": "multipart/form-data; boundary=x"})
        assert (answered.status, answered.body, answered.headers["X-Name"]) == (201, b"cba", "a.png")

    def test_what_run_returns(self, coop):
        text = "import json\ndef run(data):\n    return eval(json.loads(data))\n"
        found = coop.deploy(inference=coop.script(text))
        for value, wanted in (("[1, None, 'é']", [1, None, "é"]), ("3.5", 3.5), ("None", None), ("'text'", "text")):
            assert score(found, value).json() == wanted
        answered = score(found, "b'\\x00\\xff'")
        assert (answered.headers["Content-Type"], answered.body) == ("application/octet-stream", b"\x00\xff")
        failed = score(found, "object()")
        assert (failed.status, "no JSON" in failed.text) == (500, True)


class TestLatency:
    def test_requests_are_counted(self, coop):
        found = coop.deploy()
        for number in range(12):
            score(found, {"raise": "x"} if number < 2 else {})
        coop.until(lambda: coop.ask("GET", "/endpoints/echo"), lambda e: (e["requests"], e["errors"]) == (12, 2))
        told = coop.ask("GET", "/endpoints/echo/latency", seconds=600, points=60)
        assert (told["total"]["requests"], told["total"]["errors"]) == (12, 2)
        assert 0 < told["total"]["p50_ms"] <= told["total"]["p95_ms"] <= told["total"]["p99_ms"]
        [series] = told["series"]
        assert (series["version"], sum(series["requests"])) == ("default", 12)


class TestProfilesAndPackages:
    def test_a_profile(self, coop):
        body = {
            "name": "quick",
            "inference": coop.script(),
            "inputs": [json.dumps({"n": n}) for n in range(30)] + ["rubbish"],
            "cpu": 1,
        }
        assert coop.ask("POST", "/model-profiles", body)["state"] == "Running"
        told = coop.until(lambda: coop.ask("GET", "/model-profiles/quick"), lambda p: p["state"] != "Running")
        assert (told["state"], told["total_queries"], told["success_queries"]) == ("Succeeded", 31, 30)
        assert 0 < told["latency_p50_ms"] <= told["latency_p99_ms"]
        assert told["max_utilized_memory_gb"] > 0
        broken = coop.script("def init():\n    raise OSError('no such bird')\ndef run(data):\n    pass\n")
        coop.ask("POST", "/model-profiles", {"name": "quick", "inference": broken, "inputs": ["{}"]})
        told = coop.until(lambda: coop.ask("GET", "/model-profiles/quick"), lambda p: p["state"] != "Running")
        assert told["state"] == "Failed"
        assert "no such bird" in told["error"]["summary"]
        coop.until(lambda: os.listdir(coop.paths.serve), lambda left: left == [])

    def test_a_package_scores_as_the_endpoint_does(self, coop, tmp_path):
        """What the Dockerfile's CMD would start, started from the unpacked folder."""
        import io
        import re
        import subprocess
        import zipfile

        coop.model("one", {"weights.bin": b"1"})
        body = {"inference": coop.script(), "models": [{"name": "one"}]}
        packed = coop.client.raw(
            "POST", "/model-packages", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        folder = tmp_path / "package"
        with zipfile.ZipFile(io.BytesIO(packed[2])) as z:
            z.extractall(folder)
        recipe = (folder / "Dockerfile").read_text()
        assert "EXPOSE 5001" in recipe
        scoring = re.search(r"ROOKERY_SCORING='(.*)'", recipe).group(1).replace("/var/azureml-app", str(folder / "app"))
        variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder / "scoring"), "ROOKERY_SCORING": scoring}
        variables["ROOKERY_OFFERED"] = str(folder / "offered")
        command = [sys.executable, "-m", "_rookery_scoring", "--http", "0"]
        with subprocess.Popen(
            command, env=variables, cwd=folder / "app", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            try:
                line = next(line for line in process.stderr if b"answers on port" in line)
                url = f"http://127.0.0.1:{int(line.split()[-1])}"
                assert ask(url + "/").body == b"Healthy"
                assert ask(url + "/score", b'{"a": 1}').json()["asked"] == {"a": 1}
                assert ask(url + "/score", b'{"raise": "x"}').status == 500
                assert ask(url + "/swagger.json?version=2").json()["swagger"] == "2.0"
            finally:
                process.kill()
