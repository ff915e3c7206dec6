"""Targets that are attached: what is sent to the keeper, and what comes of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import rookery
from rookery.errors import ComputeError, ComputeNotFoundError, UnsupportedError, UserError
from rookery.sdk import AmlCompute, ComputeTarget, RayCompute, RemoteCompute, SlurmCompute
from tests.sdk.fake_compute import FakeWorkspace, fail


@pytest.fixture
def workspace(tmp_path):
    made = FakeWorkspace(looks=1)
    made.root = str(tmp_path)
    return made


def machine(**options):
    return RemoteCompute.attach_configuration(**{"address": "gpu1", "username": "me", **options})


class TestConfiguration:
    def test_of_v1(self):
        spec = RemoteCompute.attach_configuration("me", address="gpu1", ssh_port="2222").cluster_spec()
        assert (spec.engine, spec.max_nodes) == ("ssh", 0)
        assert spec.options["address"] == "gpu1"
        assert spec.options["ssh_port"] == 2222
        assert spec.options["username"] == "me"

    def test_keys_are_absolute_paths(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        assert machine(private_key_file="key").options["private_key_file"] == str(tmp_path / "key")

    def test_several_machines(self):
        given = RemoteCompute.attach_configuration(addresses=["a", "b:2222"], slots=2, node_python="python3.12")
        spec = given.cluster_spec()
        assert spec.options["addresses"] == ["a", "b:2222"]
        assert spec.reach.python == "python3.12"

    def test_of_ray_and_slurm(self):
        ray = RayCompute.attach_configuration("head:6379", gpus_per_node=1, keeper_url="http://me:1").cluster_spec()
        assert (ray.engine, ray.gpus_per_node, ray.reach.keeper_url) == ("ray", 1, "http://me:1")
        slurm = SlurmCompute.attach_configuration(partition="main", qos="high", max_nodes=4, setup=["module load x"])
        spec = slurm.cluster_spec()
        assert (spec.engine, spec.max_nodes) == ("slurm", 4)
        assert spec.options == {"partition": "main", "qos": "high", "setup": ["module load x"]}

    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: RemoteCompute.attach_configuration("me").cluster_spec(), "address=gpu1.example.org"),
            (lambda: machine(address="me@gpu1").cluster_spec(), "username"),
            (lambda: machine(host_key_check="no").cluster_spec(), "accept-new, strict"),
            (lambda: RayCompute.attach_configuration("head").cluster_spec(), "HOST:PORT"),
            (lambda: SlurmCompute.attach_configuration(time_limit="soon").cluster_spec(), "time_limit='soon'"),
            (lambda: SlurmCompute.attach_configuration(partitions="main").cluster_spec(), "partitions"),
        ],
    )
    def test_contradictions_are_named(self, make, said):
        with pytest.raises(ComputeError) as caught:
            make()
        assert said in str(caught.value)

    def test_a_port_that_is_no_number(self):
        with pytest.raises(UserError, match="ssh_port='ssh'"):
            machine(ssh_port="ssh")

    def test_azure_resources_are_not_looked_up(self):
        with pytest.raises(UnsupportedError, match="Give address"):
            machine(resource_id="/subscriptions/x")


class TestAttach:
    def test_gives_the_class_of_its_engine(self, workspace):
        ComputeTarget.attach(workspace, "my-vm", machine())
        ComputeTarget.attach(workspace, "my-ray", RayCompute.attach_configuration("head:6379"))
        ComputeTarget.attach(workspace, "my-slurm", SlurmCompute.attach_configuration("main"))
        ComputeTarget.create(workspace, "mine", AmlCompute.provisioning_configuration(max_nodes=1))
        assert [type(t) for t in ComputeTarget.list(workspace)] == [RemoteCompute, RayCompute, SlurmCompute, AmlCompute]
        assert isinstance(ComputeTarget(workspace, "my-ray"), RayCompute)
        assert isinstance(ComputeTarget(workspace, "my-vm"), rookery.RemoteCompute)

    def test_the_older_spelling(self, workspace):
        made = RemoteCompute.attach(workspace, "my-vm", "me", "gpu1", 2222)
        assert made.options["ssh_port"] == 2222
        assert RemoteCompute.attach(workspace, "my-vm", made_of(made)).name == "my-vm"

    def test_the_same_again_is_the_same(self, workspace):
        ComputeTarget.attach(workspace, "my-vm", machine())
        assert ComputeTarget.attach(workspace, "my-vm", machine()).name == "my-vm"
        with pytest.raises(ComputeError, match="Detach it first"):
            ComputeTarget.attach(workspace, "my-vm", machine(address="gpu2"))

    def test_secrets_go_into_private_files_and_nowhere_else(self, workspace):
        made = ComputeTarget.attach(workspace, "my-vm", machine(password="sesame", private_key_passphrase="open"))
        for name, value in (("password_file", "sesame"), ("passphrase_file", "open")):
            path = made.options[name]
            assert path.startswith(workspace.root)
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
            assert Path(path).read_text() == value + "\n"
        assert "sesame" not in repr(workspace.sent)
        made.detach()
        assert not os.path.exists(made.options["password_file"])

    def test_secrets_of_what_could_not_be_attached_are_gone(self, workspace, monkeypatch):
        monkeypatch.setattr("tests.sdk.fake_compute.FakeWorkspace._create", lambda self, body: 1 / 0)
        given = machine(password="sesame")
        with pytest.raises(ZeroDivisionError):
            ComputeTarget.attach(workspace, "my-vm", given)
        assert not os.path.exists(given.options["password_file"])

    def test_secrets_are_not_sent_to_a_server(self, workspace):
        workspace.root = None
        with pytest.raises(ComputeError, match="private_key_file"):
            ComputeTarget.attach(workspace, "my-vm", machine(password="sesame"))
        assert not workspace.sent

    def test_waits_and_says_how_it_came_out(self, workspace, capsys):
        target = ComputeTarget.attach(workspace, "my-vm", machine())
        target.wait_for_completion(show_output=True)
        assert capsys.readouterr().out.splitlines() == [
            "Creating",
            "Succeeded",
            'Provisioning operation finished, operation "Succeeded"',
        ]
        assert target.get_status() == "Succeeded"
        fail(workspace, "my-vm")
        workspace.clusters["my-vm"]["problem"] = "Nothing answers at gpu1."
        target.wait_for_completion(show_output=True)
        assert capsys.readouterr().out.splitlines()[-1] == "Nothing answers at gpu1."

    def test_detaches(self, workspace):
        target = ComputeTarget.attach(workspace, "my-vm", machine())
        with pytest.raises(ComputeError, match=r"detach\(\)"):
            target.delete()
        target.detach()
        target.wait_for_completion(is_delete_operation=True)
        with pytest.raises(ComputeNotFoundError):
            ComputeTarget(workspace, "my-vm")

    def test_tells_its_nodes(self, workspace):
        target = ComputeTarget.attach(workspace, "my-vm", machine())
        workspace.clusters["my-vm"]["nodes"] = 1
        (node,) = target.list_nodes()
        assert node["nodeId"] == "n0"
        assert node["privateIpAddress"] == "127.0.0.1"

    def test_serializes(self, workspace):
        data = ComputeTarget.attach(workspace, "my-vm", machine()).serialize()
        assert data["properties"]["computeType"] == "VirtualMachine"
        assert ComputeTarget.deserialize(workspace, data).name == "my-vm"


def made_of(target):
    return RemoteCompute.attach_configuration(
        **{k: target.options[k] for k in ("username", "address", "ssh_port")},
    )
