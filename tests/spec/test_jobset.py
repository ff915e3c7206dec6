"""Manifests of Kubernetes: what they say, and that the published schema takes every word of it."""

from __future__ import annotations

import copy

import pytest

from rookery.errors import ComputeError, RunConfigError
from rookery.spec.engine_options import KubernetesOptions, read_options
from rookery.spec.jobset import make_manifests
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.testing.jobset_models import schema_models

URL = "http://keeper.example:8788"
OPTIONS = KubernetesOptions(
    image="python:3.11",
    namespace="birds",
    cpus="4",
    memory="16Gi",
    gpus=2,
    shared_memory="8Gi",
    service_account="trainer",
    queue="day",
)


def run(**changes):
    return RunSpec(**{"run_id": "birds_1794787300_8aa0233f", "experiment": "birds", "script": "train.py", **changes})


def pod(jobset):
    return jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    with schema_models(str(tmp_path_factory.mktemp("models"))) as found:
        yield found


@pytest.mark.slow
class TestSchema:
    """A field that the schema does not know is dropped by its models, so what comes back differs."""

    @pytest.mark.parametrize("options", [OPTIONS, KubernetesOptions(image="i")])
    @pytest.mark.parametrize("nodes", [1, 4])
    def test_takes_all_of_it(self, models, options, nodes):
        secret, jobset = make_manifests(run(node_count=nodes), options, URL, boot="print('boot')")
        assert models.JobsetV1alpha2JobSet.from_dict(copy.deepcopy(jobset)).to_dict() == jobset
        assert models.IoK8sApiCoreV1PodSpec.from_dict(copy.deepcopy(pod(jobset))).to_dict() == pod(jobset)
        assert set(secret) == {"apiVersion", "kind", "metadata", "type", "stringData"}

    def test_would_notice_a_wrong_field(self, models):
        _, jobset = make_manifests(run(), OPTIONS, URL)
        wrong = copy.deepcopy(jobset)
        wrong["spec"]["replicatedJobs"][0]["template"]["spec"]["backOffLimit"] = 0
        assert models.JobsetV1alpha2JobSet.from_dict(copy.deepcopy(wrong)).to_dict() != wrong
        wrong = copy.deepcopy(jobset)
        wrong["spec"]["replicatedJobs"][0]["replicas"] = "one"
        with pytest.raises(ValueError, match="replicas"):
            models.JobsetV1alpha2JobSet.from_dict(wrong)


class TestManifests:
    def test_one_pod_per_node_and_no_second_try(self):
        _, jobset = make_manifests(run(node_count=3), OPTIONS, URL)
        job = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
        assert (job["parallelism"], job["completions"], job["completionMode"]) == (3, 3, "Indexed")
        assert job["backoffLimit"] == 0
        assert jobset["spec"]["failurePolicy"]["maxRestarts"] == 0
        assert pod(jobset)["restartPolicy"] == "Never"

    def test_the_program_comes_from_the_secret_on_standard_input(self):
        secret, jobset = make_manifests(run(), OPTIONS, URL, boot="print('a token')")
        assert secret["stringData"] == {"boot.py": "print('a token')"}
        assert pod(jobset)["volumes"][0]["secret"]["secretName"] == secret["metadata"]["name"]
        assert pod(jobset)["containers"][0]["command"][-1] == "/run/rookery/boot/boot.py"
        assert "a token" not in str(jobset)

    def test_a_dry_run_says_that_it_is_one(self):
        secret, _ = make_manifests(run(), OPTIONS, URL)
        with pytest.raises(SystemExit, match="dry run"):
            exec(secret["stringData"]["boot.py"], {})

    def test_a_pod_knows_its_node(self):
        _, jobset = make_manifests(run(), OPTIONS, URL)
        name = jobset["metadata"]["name"]
        told = {v["name"]: v for v in pod(jobset)["containers"][0]["env"]}
        assert "job-completion-index" in told["ROOKERY_NODE"]["valueFrom"]["fieldRef"]["fieldPath"]
        assert told["ROOKERY_NODE_ADDRESS"]["value"] == f"{name}-nodes-0-$(ROOKERY_NODE).{name}"
        assert list(told).index("ROOKERY_NODE") < list(told).index("ROOKERY_NODE_ADDRESS")  # it is expanded in order
        assert jobset["spec"]["network"]["subdomain"] == name

    def test_resources_are_limits(self):
        _, jobset = make_manifests(run(), OPTIONS, URL)
        limits = pod(jobset)["containers"][0]["resources"]["limits"]
        assert limits == {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "2"}

    def test_the_image_is_the_environments(self):
        environment = EnvironmentSpec(docker={"baseImage": "registry.example/torch:2"})
        _, jobset = make_manifests(run(environment=environment), KubernetesOptions(), URL)
        assert pod(jobset)["containers"][0]["image"] == "registry.example/torch:2"

    @pytest.mark.parametrize("run_id", ["Ünïcode_RUN", "1_2_3", "x" * 200 + "_8aa0233f", "-_-a"])
    def test_names_are_allowed_ones(self, run_id):
        import re

        name = make_manifests(run(run_id=run_id), OPTIONS, URL)[1]["metadata"]["name"]
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
        assert len(f"{name}-nodes-0-99999-abcde") <= 63

    def test_every_attempt_has_objects_of_its_own(self):
        first, second = (make_manifests(run(), OPTIONS, URL, attempt=n) for n in (1, 2))
        assert {m["metadata"]["name"] for m in first}.isdisjoint({m["metadata"]["name"] for m in second})

    def test_what_is_missing_is_named(self):
        with pytest.raises(RunConfigError, match="keeper_url=http://HOST:PORT"):
            make_manifests(run(), KubernetesOptions(image="i"), "")
        with pytest.raises(RunConfigError, match="image="):
            make_manifests(run(), KubernetesOptions(), URL)
        with pytest.raises(ComputeError, match="colour"):
            read_options("kubernetes", {"colour": "red"})
        with pytest.raises(ComputeError, match="gpus=-1"):
            read_options("kubernetes", {"gpus": -1})
