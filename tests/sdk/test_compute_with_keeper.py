"""Compute targets against a real keeper: the fake of test_compute.py must not be kinder than it."""

from __future__ import annotations

import pytest

from rookery.errors import ComputeError, ComputeNotFoundError
from rookery.sdk.aml_compute import AmlCompute
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.workspace import Workspace


class TestLifeOfACluster:
    def test_from_create_to_delete(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        workspace = Workspace.create("birds")
        wanted = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", min_nodes="1", max_nodes="2")
        ComputeTarget.create(workspace, "two-nodes", wanted)
        target = ComputeTarget.create(workspace, "two-nodes", wanted)
        target.wait_for_completion(timeout_in_minutes=1)
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
        target.wait_for_completion(is_delete_operation=True, timeout_in_minutes=1)
        with pytest.raises(ComputeNotFoundError, match="Known: local"):
            ComputeTarget(workspace, "two-nodes")
