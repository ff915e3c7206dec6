"""What is checked before anything travels: deployment configurations, InferenceConfig, models."""

from __future__ import annotations

import inspect

import pytest

from rookery.azureml.core.image import ContainerImage, Image
from rookery.azureml.core.model import InferenceConfig, Model
from rookery.azureml.core.webservice import AciWebservice, AksEndpoint, AksWebservice, LocalWebservice
from rookery.azureml.core.webservice.aci import EncryptionProperties, VnetConfiguration
from rookery.azureml.core.webservice.aks import AksServiceAccessToken, AutoScaler, DataCollection
from rookery.azureml.core.webservice.webservice import ContainerResourceRequirements, LivenessProbeRequirements
from rookery.azureml.exceptions import WebserviceException
from rookery.errors import ModelError, UnsupportedError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.deploy import model_bodies
from rookery.sdk.environment import Environment
from rookery.sdk.model_profile import profile_model
from rookery.sdk.scoring import decode_answer, guess_type

SCORE = "def init():\n    pass\n\n\ndef run(data):\n    return data\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "it's a source"
    folder.mkdir()
    (folder / "score.py").write_text(SCORE)
    (tmp_path / "alone.py").write_text(SCORE)
    return folder


class TestConfigurations:
    def test_in_the_keepers_words(self):
        config = AksWebservice.deploy_configuration(
            cpu_cores=2,
            num_replicas=3,
            max_request_wait_time=500,
            tags={"a": 1},
            description="d",
            enable_app_insights=True,
        )
        assert config.to_body() == {
            "kind": "aks",
            "description": "d",
            "tags": {"a": "1"},
            "config": {"cpu_cores": 2, "num_replicas": 3, "max_request_wait_ms": 500, "enable_app_insights": True},
        }

    def test_the_smallest_number_of_an_autoscaler_is_the_number(self):
        config = AksWebservice.deploy_configuration(
            autoscale_enabled=True, autoscale_min_replicas=2, autoscale_max_replicas=4
        )
        assert config.to_body()["config"]["num_replicas"] == 2

    def test_keys_and_files_of_certificates_are_no_part_of_a_version(self):
        config = AciWebservice.deploy_configuration(
            auth_enabled=True, primary_key="p", secondary_key="s", ssl_enabled=True, ssl_cert_pem_file="c", ssl_key_pem_file="k",
            ssl_cname="n",
        )  # fmt: skip
        body = config.to_body()
        assert (body["primary_key"], body["secondary_key"], body["auth_enabled"]) == ("p", "s", True)
        assert body["config"] == {"ssl_enabled": True, "ssl_cname": "n"}

    def test_an_endpoint_names_its_first_version(self):
        body = AksEndpoint.deploy_configuration(version_name="green", traffic_percentile=80).to_body()
        assert (body["version_name"], body["traffic"], body["config"]) == ("green", 80, {})

    def test_local(self):
        assert LocalWebservice.deploy_configuration(port=8890).to_body() == {
            "kind": "local",
            "port": 8890,
            "config": {},
        }
        assert LocalWebservice.deploy_configuration().to_body() == {"kind": "local", "config": {}}

    @pytest.mark.parametrize(
        ("kind", "count", "first"),
        [
            (AciWebservice, 21, "cpu_cores"),
            (AksWebservice, 31, "autoscale_enabled"),
            (AksEndpoint, 32, "autoscale_enabled"),
        ],
    )
    def test_signatures_are_the_originals(self, kind, count, first):
        parameters = list(inspect.signature(kind.deploy_configuration).parameters)
        assert (len(parameters), parameters[0]) == (count, first)

    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: AciWebservice.deploy_configuration(cpu_cores=0), "cpu_cores=0 is not allowed"),
            (lambda: AciWebservice.deploy_configuration(memory_gb="1"), "memory_gb='1' is not allowed"),
            (lambda: AciWebservice.deploy_configuration(ssl_enabled=True), "ssl_enabled needs"),
            (lambda: AciWebservice.deploy_configuration(vnet_name="v"), "both vnet_name and subnet_name"),
            (lambda: AciWebservice.deploy_configuration(cmk_key_name="k"), "cmk_key_version"),
            (lambda: AksWebservice.deploy_configuration(auth_enabled=True, token_auth_enabled=True), "keys or tokens"),
            (lambda: AksWebservice.deploy_configuration(autoscale_enabled=True, num_replicas=2), "autoscale_min"),
            (lambda: AksWebservice.deploy_configuration(autoscale_min_replicas=3, autoscale_max_replicas=2), "more than"),
            (lambda: AksWebservice.deploy_configuration(autoscale_target_utilization=101), "percent"),
            (lambda: AksWebservice.deploy_configuration(cpu_cores=2, cpu_cores_limit=1), "less than cpu_cores=2"),
            (lambda: AksEndpoint.deploy_configuration(traffic_percentile=101), "0 to 100"),
            (lambda: LocalWebservice.deploy_configuration(port=0), "1 to 65535"),
        ],
    )  # fmt: skip
    def test_what_cannot_be(self, make, said):
        with pytest.raises(WebserviceException, match=said):
            make()

    def test_printed_without_keys(self, capsys):
        AciWebservice.deploy_configuration(cpu_cores=1, primary_key="secret").print_deploy_configuration()
        assert capsys.readouterr().out == "cpu_cores: 1\n"


class TestInferenceConfig:
    def test_of_a_folder_and_of_a_file(self, source):
        assert InferenceConfig("score.py", source_directory=str(source)).entry_script == "score.py"
        assert InferenceConfig(entry_script="alone.py").source_directory is None

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"entry_script": "score.txt"}, r"Give the path of a \.py file"),
            ({"entry_script": "none.py"}, r"entry_script 'none\.py' does not exist"),
            ({"entry_script": "score.py", "source_directory": "none"}, "source_directory 'none' is no folder"),
            ({"entry_script": "../alone.py", "source_directory": "it's a source"}, "is outside source_directory"),
            ({"entry_script": "alone.py", "runtime": "perl"}, "runtime='perl' does not exist"),
            ({"entry_script": "alone.py", "environment": "x"}, "environment is str"),
        ],
    )
    def test_what_cannot_be(self, source, options, said):
        with pytest.raises(ModelError, match=said):
            InferenceConfig(**options)

    def test_an_environment_counts_alone(self, source):
        with pytest.raises(ModelError, match="together with conda_file"):
            InferenceConfig("alone.py", conda_file="x.yml", environment=Environment("e"))

    def test_the_script_must_be_python_with_two_functions(self, source):
        (source / "broken.py").write_text("def init(:\n")
        (source / "half.py").write_text("def init():\n    pass\n")
        for name, said in (("broken.py", "is not Python"), ("half.py", "has no run function")):
            with pytest.raises(ModelError, match=said):
                InferenceConfig(name, source_directory=str(source)).validation_script_content()

    def test_a_warning_where_v1_would_lack_its_own_packages(self, source):
        environment = Environment("mine")
        environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["six"])
        with pytest.warns(UserWarning, match="azureml-defaults is not among"):
            InferenceConfig("alone.py", environment=environment)


class TestModels:
    def test_objects_ids_and_names(self):
        class Known:
            name, version = "owls", 2

        assert model_bodies([Known(), "birds:3", "nets"]) == [
            {"name": "owls", "version": 2},
            {"name": "birds", "version": 3},
            {"name": "nets"},
        ]
        assert model_bodies("birds") == [{"name": "birds"}]
        assert model_bodies(None) == []

    def test_something_else(self):
        with pytest.raises(ModelError, match="models holds 3"):
            model_bodies([3])

    def test_a_profile_stays_within_its_limits(self):
        with pytest.raises(ModelError, match=r"cpu=4 is not allowed\. Give a number from 0\.1 to 3\.5"):
            profile_model(None, "p", [], None, [], cpu=4)
        with pytest.raises(ModelError, match="input_dataset is int"):
            profile_model(None, "p", [], None, 3)

    def test_print_configuration(self, source, capsys):
        Model.print_configuration(
            ["birds:3"], InferenceConfig("alone.py"), LocalWebservice.deploy_configuration(port=80), None
        )
        assert capsys.readouterr().out == "Models: birds:3\nEntry script: alone.py\nport: 80\n"


class TestAnswers:
    def test_decoded(self):
        assert decode_answer("s", (200, {"content-type": "application/json"}, b'{"a": 1}')) == {"a": 1}
        assert decode_answer("s", (200, {"content-type": "text/plain"}, b"fine")) == "fine"
        assert decode_answer("s", (200, {"content-type": "image/png"}, b"\x89PNG")) == b"\x89PNG"

    def test_a_refusal_carries_its_status(self):
        with pytest.raises(WebserviceException, match="Response Code: 400") as caught:
            decode_answer("s", (400, {}, b"no tensor"))
        assert caught.value.status_code == 400

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"\x93NUMPY\x01", "application/x-npy"),
            (b"{}", "application/json"),
            (b"", "application/json"),
        ],
    )
    def test_what_a_body_looks_like(self, body, kind):
        assert guess_type(body) == kind


class TestLeftovers:
    def test_images_are_none(self):
        assert Image.list(None) == []
        with pytest.raises(ModelError, match="there is no image 'x'"):
            Image(None, "x")
        with pytest.raises(UnsupportedError, match=r"Model\.package"):
            ContainerImage.create(None, "x", [], None)

    def test_an_images_configuration_is_an_inference_configuration(self, source, tmp_path):
        (tmp_path / "env.yml").write_text("dependencies:\n- python=3.11\n")
        (tmp_path / "helper.py").write_text("x = 1\n")
        config = ContainerImage.image_configuration("alone.py", "python", "env.yml", dependencies=["helper.py"])
        made = config.to_inference_config()
        assert (made.entry_script, made.conda_file, made.keeps_folder_name) == ("alone.py", "env.yml", False)
        with pytest.raises(ModelError, match=r"no file or folder 'none\.py'"):
            ContainerImage.image_configuration("alone.py", dependencies=["none.py"]).to_inference_config()

    @pytest.mark.parametrize(
        "part",
        [
            ContainerResourceRequirements(1, 2, gpu=1),
            LivenessProbeRequirements(1, 2, 3, 4, 5),
            AutoScaler(True, 3, 1, 10, 70),
            DataCollection(True, False),
            EncryptionProperties("u", "n", "v"),
            VnetConfiguration("v", "s"),
        ],
    )
    def test_parts_are_read_back(self, part):
        again = type(part).deserialize(part.serialize())
        assert vars(again) == vars(part)
        assert type(part).deserialize(None) is None

    def test_a_token(self):
        token = AksServiceAccessToken("t", "Bearer", 1000, 2000)
        assert token.serialize()["refreshAfter"] == 1000
        assert AksServiceAccessToken.deserialize(token.serialize()).expiry_on == token.expiry_on
