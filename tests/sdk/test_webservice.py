"""Model.deploy to delete, with a real keeper and real scoring processes."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request

import pytest

from rookery.azureml.core import Experiment, Model, ScriptRunConfig, Webservice, Workspace
from rookery.azureml.core.image import ContainerImage
from rookery.azureml.core.model import InferenceConfig
from rookery.azureml.core.profile import ModelProfile
from rookery.azureml.core.webservice import AciWebservice, AksEndpoint, AksWebservice, LocalWebservice
from rookery.azureml.exceptions import WebserviceException
from rookery.client import Client
from rookery.errors import UnsupportedError

SCORE = """
import json, os

def init():
    global known
    path = os.path.join(os.environ["AZUREML_MODEL_DIR"], "words.json")
    with open(path) as file:
        known = json.load(file)
    with open("./it's a source/extra.json") as file:
        known["extra"] = json.load(file)
    print("I have come up")

def run(data):
    asked = json.loads(data)
    if asked == "break":
        raise ValueError("broken on purpose")
    return {"said": [known.get(key) for key in asked]}
"""
ALONE = "def init():\n    pass\n\ndef run(data):\n    return data.upper()\n"


@pytest.fixture
def ws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "it's a source"
    source.mkdir()
    (source / "score.py").write_text(SCORE)
    (source / "extra.json").write_text('"more"')
    (tmp_path / "alone.py").write_text(ALONE)
    (tmp_path / "words.json").write_text('{"a": "first"}')
    workspace = Workspace.create("nest")
    Model.register(workspace, "words.json", "words")
    return workspace


def scripted():
    return InferenceConfig("score.py", source_directory="it's a source")


def ask(uri, body, key=None):
    """(status, text), over the wire, as somebody else's program asks."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(uri, body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def eventually(found, wanted):
    """Until `found()` is what is wanted: a change may take a moment to reach the process that holds the port."""
    deadline = time.monotonic() + 180
    while (told := found()) != wanted:
        assert time.monotonic() < deadline, told
        time.sleep(0.1)


class TestLocal:
    def test_from_deploy_to_delete(self, ws, capsys):
        service = Model.deploy(ws, "mine", [Model(ws, "words")], scripted(), LocalWebservice.deploy_configuration())
        assert isinstance(service, LocalWebservice)
        service.wait_for_deployment(True)
        assert service.state == "running"
        assert "Succeeded" in capsys.readouterr().out
        assert service.run('["a", "extra", "b"]') == {"said": ["first", "more", None]}
        status, text = ask(service.scoring_uri, '["a"]')
        assert (status, json.loads(text)) == (200, {"said": ["first"]})
        assert service.port == int(service.scoring_uri.rpartition(":")[2].partition("/")[0])
        eventually(lambda: "I have come up" in service.get_logs(), True)
        with pytest.raises(WebserviceException, match="broken on purpose") as caught:
            service.run('"break"')
        assert caught.value.status_code == 500
        for refused in (service.get_keys, service.get_token, lambda: service.regen_key("Primary")):
            with pytest.raises(NotImplementedError):
                refused()
        assert service.serialize()["modelIds"] == ["words:1"]
        assert [model.id for model in service.models] == ["words:1"]
        with open("words.json", "w") as file:
            json.dump({"a": "second"}, file)
        service.update(models=[Model.register(ws, "words.json", "words")], wait=True)
        assert service.run('["a"]') == {"said": ["second"]}
        service.reload(wait=True)
        assert service.run('["a"]') == {"said": ["second"]}
        assert list(ws.webservices) == ["mine"]
        assert Webservice(ws, "mine").scoring_uri == service.scoring_uri
        service.delete()
        assert service.state == "deleted"
        assert dict(ws.webservices) == {}
        with pytest.raises(WebserviceException, match=r"WebserviceNotFound.*Known: none"):
            Webservice(ws, "mine")

    def test_names_failures_and_package(self, ws, tmp_path):
        (tmp_path / "bad.py").write_text(
            "def init():\n    raise RuntimeError('no such bird')\n\ndef run(data):\n    pass\n"
        )
        bad = Model.deploy(ws, "bad", ["words"], InferenceConfig("bad.py"), LocalWebservice.deploy_configuration())
        with pytest.raises(WebserviceException, match="no such bird"):
            bad.wait_for_deployment()
        assert bad.state == "failed"
        with pytest.raises(WebserviceException, match="already a service with name bad"):
            Model.deploy(ws, "bad", ["words"], InferenceConfig("alone.py"), LocalWebservice.deploy_configuration())
        good = Model.deploy(
            ws, "bad", ["words"], InferenceConfig("alone.py"), LocalWebservice.deploy_configuration(), overwrite=True
        )
        good.wait_for_deployment()
        assert good.run("quiet") == "QUIET"
        with pytest.raises(WebserviceException, match="is of kind Local, not ACI"):
            AciWebservice(ws, "bad")
        with pytest.raises(WebserviceException, match="input is dict"):
            good.run({"a": 1})
        package = Model.package(ws, [Model(ws, "words")], scripted(), generate_dockerfile=True)
        package.wait_for_creation(True)
        package.save(str(tmp_path / "package"))
        found = {
            os.path.relpath(os.path.join(top, name), tmp_path / "package")
            for top, _, names in os.walk(tmp_path / "package")
            for name in names
        }
        assert "Dockerfile" in found
        assert any(name.endswith("words.json") for name in found)
        assert any(name.endswith("score.py") for name in found)


class TestCloudKinds:
    def test_keys_of_a_container_instance(self, ws, capsys):
        config = AciWebservice.deploy_configuration(
            cpu_cores=1,
            memory_gb=1,
            auth_enabled=True,
            tags={"area": "birds"},
            description="tells",
            primary_key="one-key-of-mine",
        )
        service = Model.deploy(ws, "aci", [Model(ws, "words")], InferenceConfig("alone.py"), config)
        assert "runs on the machine of the workspace's keeper" in capsys.readouterr().err
        service.wait_for_deployment(show_output=True)
        assert service.state == "Healthy"
        assert service.scoring_uri.endswith("/api/v1/service/aci/score")
        assert service.run("x") == "X"
        assert ask(service.scoring_uri, "x")[0] == 401
        assert ask(service.scoring_uri, "x", "one-key-of-mine")[0] == 200
        service.regen_key("Primary")
        first, second = service.get_keys()
        assert first != "one-key-of-mine"
        assert ask(service.scoring_uri, "x", "one-key-of-mine")[0] == 401
        assert [ask(service.scoring_uri, "x", key)[0] for key in (first, second)] == [200, 200]
        assert service.run("x") == "X"
        service.add_tags({"more": 1})
        service.remove_tags(["area"])
        assert Webservice(ws, "aci").tags == {"more": "1"}
        assert [each.name for each in Webservice.list(ws, compute_type="ACI", model_name="words")] == ["aci"]
        assert Webservice.list(ws, compute_type="AKS") == Webservice.list(ws, model_id="words:7") == []
        with pytest.raises(UnsupportedError, match="takes no tokens"):
            service.get_token()
        with pytest.raises(TypeError, match="no 'cpu_coers'"):
            service.update(cpu_coers=2)
        service.update(auth_enabled=False, description="open")
        service.wait_for_deployment()
        eventually(lambda: ask(service.scoring_uri, "x")[0], 200)
        assert service.description == "open"
        service.delete()
        assert service.state == "Deleted"

    def test_a_cluster_with_tokens_and_a_profile(self, ws):
        config = AksWebservice.deploy_configuration(token_auth_enabled=True, auth_enabled=False, num_replicas=2)
        service = Model.deploy(ws, "aks", [Model(ws, "words")], InferenceConfig("alone.py"), config)
        service.wait_for_deployment()
        assert service.num_replicas == 2
        token, refresh_after = service.get_token()
        assert ask(service.scoring_uri, "x", token) == (200, '"X"')
        assert service.get_access_token().refresh_after >= refresh_after
        assert ask(service.scoring_uri, "x", "wrong")[0] == 401
        assert service.run("x") == "X"
        profile = Model.profile(ws, "quick", [Model(ws, "words")], InferenceConfig("alone.py"), ["a", "b"], cpu=1)
        profile.wait_for_completion()
        details = ModelProfile(ws, "quick").get_details()
        assert details["successRate"] in (1, 100)
        assert details["averageLatencyInMs"] > 0
        with pytest.raises(WebserviceException, match="no profile 'none'"):
            ModelProfile(ws, "none")

    def test_versions_share_the_traffic(self, ws, tmp_path):
        (tmp_path / "quiet.py").write_text(ALONE.replace("upper", "lower"))
        config = AksEndpoint.deploy_configuration(version_name="loud", traffic_percentile=100, auth_enabled=False)
        endpoint = Model.deploy(ws, "both", [Model(ws, "words")], InferenceConfig("alone.py"), config)
        endpoint.wait_for_deployment()
        assert isinstance(endpoint, AksEndpoint)
        assert endpoint.run("Ab") == "AB"
        endpoint.create_version(
            "quiet", models=["words"], inference_config=InferenceConfig("quiet.py"), traffic_percentile=50
        )
        endpoint.wait_for_deployment()
        shares = {name: version.traffic_percentile for name, version in endpoint.versions.items()}
        assert shares == {"loud": 50, "quiet": 50}
        eventually(lambda: {endpoint.run("Ab") for _ in range(60)}, {"AB", "ab"})
        with pytest.raises(WebserviceException, match="Known: loud, quiet"):
            endpoint.update_version("none", traffic_percentile=1)
        endpoint.update_version("quiet", traffic_percentile=0)
        endpoint.wait_for_deployment()
        eventually(lambda: {endpoint.run("Ab") for _ in range(20)}, {"AB"})
        with pytest.raises(WebserviceException):
            endpoint.delete_version("loud")
        endpoint.delete_version("quiet")
        assert list(Webservice(ws, "both").versions) == ["loud"]
        endpoint.delete()


class TestOlderWays:
    def test_from_files_an_image_configuration_and_a_local_service(self, ws, tmp_path):
        (tmp_path / "greeting.txt").write_text("good morning")
        (tmp_path / "beside.py").write_text(
            "def init():\n    pass\n\ndef run(data):\n    return open('greeting.txt').read() + ', ' + data\n"
        )
        image = ContainerImage.image_configuration("beside.py", "python", dependencies=["greeting.txt"])
        local = Webservice.deploy_local_from_model(ws, "old", [Model(ws, "words")], image, wait=True)
        assert local.run("rook") == "good morning, rook"
        cloud = local.deploy_to_cloud("older", AciWebservice.deploy_configuration(cpu_cores=1))
        cloud.wait_for_deployment()
        assert (cloud.compute_type, cloud.run("crow")) == ("ACI", "good morning, crow")
        with pytest.raises(WebserviceException, match="already a service with name old"):
            Webservice.check_for_existing_webservice(ws, "old")
        with pytest.raises(UnsupportedError, match="services run without images"):
            Webservice.deploy_from_image(ws, "none", None)
        with pytest.raises(UnsupportedError, match="instead of image"):
            cloud.update(image="x")
        again = Webservice.deploy(ws, "files", ["words.json"], image)
        again.wait_for_deployment()
        assert [model.name for model in again.models] == ["words.json"]
        assert Webservice.deserialize(ws, again.serialize()).name == "files"


class TestFromElsewhere:
    def test_from_within_a_run_and_over_the_network(self, ws, tmp_path):
        service = Model.deploy(
            ws, "shared", ["words"], InferenceConfig("alone.py"), AksWebservice.deploy_configuration(auth_enabled=True)
        )
        service.wait_for_deployment()
        source = tmp_path / "asks"
        source.mkdir()
        (source / "ask.py").write_text(
            "from azureml.core import Run, Webservice\n"
            "run = Run.get_context()\n"
            "run.log('said', Webservice(run.experiment.workspace, 'shared').run('rook'))\n"
        )
        run = Experiment(ws, "asking").submit(ScriptRunConfig(str(source), "ask.py"))
        told = ws.client.request("GET", "/keeper")
        with open(os.path.join(ws.root, "keeper", "token")) as file:
            client = Client.for_url(told["url"], file.read().strip())
        assert Webservice(Workspace._of_client(client), "shared").run("crow") == "CROW"
        run.wait_for_completion()
        assert run.get_metrics() == {"said": "ROOK"}
