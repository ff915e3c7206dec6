"""Compute targets against a real keeper: the fake of test_compute.py must not be kinder than it."""

from __future__ import annotations

import pytest

from rookery.errors import ComputeError, ComputeNotFoundError, RookeryError
from rookery.sdk.aks_compute import AksCompute
from rookery.sdk.aml_compute import AmlCompute
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.compute_instance import ComputeInstance
from rookery.sdk.experiment import Experiment
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.workspace import Workspace


class TestLifeOfACluster:
    def test_from_create_to_delete(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        workspace = Workspace.create("birds")
        wanted = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", min_nodes="1", max_nodes="2")
        ComputeTarget.create(workspace, "two-nodes", wanted)
        target = ComputeTarget.create(workspace, "two-nodes", wanted)
        target.wait_for_completion(timeout_in_minutes=3)
        status = target.get_status()
        assert (status.provisioning_state, status.current_node_count) == ("Succeeded", 1)
        assert [node["nodeState"] for node in target.list_nodes()] == ["idle"]
        assert list(target.get_active_runs()) == []
        target.update(max_nodes=3)
        assert ComputeTarget(workspace, "two-nodes").scale_settings.maximum_node_count == 3
        with pytest.raises(ComputeError, match="exists already"):
            ComputeTarget.create(workspace, "two-nodes", wanted)
        assert [t.name for t in ComputeTarget.list(workspace)] == ["two-nodes"]
        target.delete()
        target.wait_for_completion(is_delete_operation=True, timeout_in_minutes=3)
        with pytest.raises(ComputeNotFoundError, match="Known: local"):
            ComputeTarget(workspace, "two-nodes")


class TestOtherKinds:
    def test_life_of_an_instance(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "hello.py").write_text("print('hello')")
        workspace = Workspace.create("birds")
        wanted = ComputeInstance.provisioning_configuration(vm_size="STANDARD_D3_V2", tags={"a": "b"})
        instance = ComputeTarget.create(workspace, "desk", wanted)
        instance.wait_for_completion(show_output=True)
        assert type(ComputeTarget(workspace, "desk")) is ComputeInstance
        assert (instance.type, instance.tags, instance.vm_size) == ("ComputeInstance", {"a": "b"}, "STANDARD_D3_V2")
        assert instance.get_status().serialize()["state"] == "Running"
        config = ScriptRunConfig(str(tmp_path / "source"), "hello.py", compute_target=instance)
        Experiment(workspace, "try").submit(config).wait_for_completion()
        instance.stop(wait_for_completion=True, show_output=True)
        assert ComputeTarget(workspace, "desk").status.state == "Stopped"
        with pytest.raises(RookeryError, match="desk"):
            Experiment(workspace, "try").submit(config)
        instance.start()
        assert instance.get_status().state == "Running"
        with pytest.raises(ComputeError, match="exists already"):
            ComputeTarget.create(workspace, "desk", AmlCompute.provisioning_configuration(max_nodes=1))
        instance.delete(wait_for_completion=True, show_output=True)
        assert "desk" not in workspace.compute_targets
        assert "Compute instance 'desk' stopped" in capsys.readouterr().out

    def test_a_cluster_for_services(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        workspace = Workspace.create("birds")
        made = ComputeTarget.create(workspace, "aks", AksCompute.provisioning_configuration(agent_count=3))
        made.wait_for_completion(show_output=True)
        assert (type(workspace.compute_targets["aks"]), made.type, made.get_status()) == (
            AksCompute,
            "AKS",
            "Succeeded",
        )
        attached = ComputeTarget.attach(workspace, "old", AksCompute.attach_configuration("group", "cluster"))
        assert type(attached) is AksCompute
        attached.detach()
        made.delete()
        made.wait_for_completion(is_delete_operation=True)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AksCompute.provisioning_configuration(agent_count=0), "agent_count=0"),
        (lambda: AksCompute.attach_configuration(cluster_purpose="Fun"), "Known: FastProd, DevTest"),
        (lambda: AksCompute.attach_configuration().enable_ssl(ssl_cname="x"), "ssl_key_pem_file"),
        (lambda: ComputeInstance.provisioning_configuration(vnet_name="x"), "missing: vnet_resourcegroup_name"),
        (lambda: ComputeInstance.provisioning_configuration(ssh_public_access=True), "admin_user_ssh_public_key"),
        (lambda: ComputeInstance.provisioning_configuration(assigned_user_object_id="x"), "assigned_user_tenant_id"),
    ],
)
def test_configurations_that_contradict_themselves(make, said):
    with pytest.raises(ComputeError, match=said):
        make()
