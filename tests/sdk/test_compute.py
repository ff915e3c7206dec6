from __future__ import annotations

import pytest

from rookery.errors import ComputeError, ComputeNotFoundError, UnsupportedError, UserError
from rookery.sdk.aml_compute import AmlCompute
from rookery.sdk.aml_compute_status import AmlComputeStatus
from rookery.sdk.compute import ComputeTarget, HDInsightCompute, KubernetesCompute
from tests.sdk.fake_compute import FakeWorkspace, fail


def create(workspace, name="gpu-cluster", **options):
    options = {"vm_size": "STANDARD_NC6", "max_nodes": 4, **options}
    return ComputeTarget.create(workspace, name, AmlCompute.provisioning_configuration(**options))


class TestProvisioningConfiguration:
    def test_strings_are_numbers(self):
        made = AmlCompute.provisioning_configuration(
            min_nodes="0", max_nodes="4", idle_seconds_before_scaledown="300"
        ).cluster_spec()
        assert (made.min_nodes, made.max_nodes, made.idle_seconds_before_scaledown) == (0, 4, 300)

    def test_defaults(self):
        made = AmlCompute.provisioning_configuration(max_nodes=1).cluster_spec()
        assert (made.min_nodes, made.vm_priority, made.idle_seconds_before_scaledown) == (
            0,
            "dedicated",
            1800,
        )

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({}, "max_nodes is missing"),
            ({"max_nodes": -1}, "max_nodes=-1"),
            ({"max_nodes": 1, "min_nodes": 2}, "smaller than min_nodes"),
            ({"max_nodes": "many"}, "max_nodes='many'"),
            ({"max_nodes": 1.5}, "max_nodes=1.5"),
            ({"max_nodes": 1, "vm_priority": "cheap"}, "dedicated, lowpriority"),
            ({"max_nodes": 1, "vnet_name": "v"}, "vnet_resourcegroup_name, subnet_name"),
            ({"max_nodes": 1, "admin_username": "u"}, "admin_user_password"),
            ({"max_nodes": 1, "identity_id": ["x"]}, "UserAssigned"),
        ],
    )
    def test_contradictions_are_named(self, options, said):
        with pytest.raises(ComputeError) as caught:
            AmlCompute.provisioning_configuration(**options)
        assert said in str(caught.value)

    def test_a_whole_network_is_fine(self):
        AmlCompute.provisioning_configuration(max_nodes=1, vnet_resourcegroup_name="r", vnet_name="v", subnet_name="s")


class TestFind:
    def test_the_factory_gives_the_concrete_class(self):
        workspace = FakeWorkspace()
        create(workspace)
        for made in (
            ComputeTarget(workspace=workspace, name="gpu-cluster"),
            AmlCompute(workspace, "gpu-cluster"),
        ):
            assert type(made) is AmlCompute
            assert (made.type, made.name, made.vm_size, made.provisioning_errors) == (
                "AmlCompute",
                "gpu-cluster",
                "STANDARD_NC6",
                None,
            )

    def test_an_unknown_name_lists_the_known_ones(self):
        workspace = FakeWorkspace()
        create(workspace, "cpu")
        with pytest.raises(ComputeNotFoundError, match="Known: local, cpu"):
            ComputeTarget(workspace, "gp")

    def test_odd_names_stay_one_path_segment(self):
        workspace = FakeWorkspace()
        with pytest.raises(ComputeNotFoundError):
            ComputeTarget(workspace, "a/../b?c")
        assert workspace.sent[0][1] == "/compute/a%2F..%2Fb%3Fc"

    def test_local_is_no_object(self):
        with pytest.raises(ComputeNotFoundError, match="compute_target='local'"):
            ComputeTarget(FakeWorkspace(), "local")

    def test_list_leaves_local_out(self):
        workspace = FakeWorkspace()
        create(workspace, "one")
        create(workspace, "two")
        assert [t.name for t in ComputeTarget.list(workspace)] == ["one", "two"]


class TestCreate:
    @pytest.mark.parametrize("name", ["local", "amlcompute", "ContainerInstance", "a b", "", "1a"])
    def test_reserved_and_impossible_names(self, name):
        with pytest.raises(UserError):
            create(FakeWorkspace(), name)

    def test_the_same_again_is_the_same(self):
        workspace = FakeWorkspace()
        create(workspace, tags={"a": 1})
        assert create(workspace, tags={"a": 1}).name == "gpu-cluster"

    def test_another_of_that_name_is_refused(self):
        workspace = FakeWorkspace()
        create(workspace)
        with pytest.raises(ComputeError, match=r"max_nodes 4 \(asked for 8\)"):
            create(workspace, max_nodes=8)

    def test_something_else_is_refused(self):
        with pytest.raises(ComputeError, match=r"AmlCompute\.provisioning_configuration"):
            ComputeTarget.create(FakeWorkspace(), "cpu", {"max_nodes": 4})

    def test_attaching_something_else_is_refused(self):
        with pytest.raises(ComputeError, match=r"RemoteCompute\.attach_configuration"):
            ComputeTarget.attach(FakeWorkspace(), "my-vm", None)


class TestWait:
    def test_says_each_state_once_and_returns_with_the_nodes(self, capsys):
        target = create(FakeWorkspace(), min_nodes=2)
        target.wait_for_completion(show_output=True, min_node_count=None, timeout_in_minutes=20)
        assert target.status.current_node_count == 2
        said = capsys.readouterr().out.splitlines()
        assert said[:2] == ["Creating", "Succeeded"]
        assert said[-1] == "Minimum number of nodes requested have been provisioned"

    def test_is_silent_when_asked(self, capsys):
        create(FakeWorkspace()).wait_for_completion()
        assert capsys.readouterr().out == ""

    def test_does_not_wait_for_nodes_that_only_a_run_brings(self):
        target = create(FakeWorkspace())
        target.wait_for_completion(min_node_count=3, timeout_in_minutes=20)
        assert target.status.current_node_count == 0

    def test_a_timeout_says_the_state(self, capsys):
        target = create(FakeWorkspace(looks=10**6))
        target.wait_for_completion(show_output=True, timeout_in_minutes=0.001)
        assert "timeout has been reached" in capsys.readouterr().out

    def test_a_failed_one_is_not_waited_for(self, capsys):
        workspace = FakeWorkspace()
        target = create(workspace, min_nodes=1)
        fail(workspace, "gpu-cluster")
        target.wait_for_completion(show_output=True)
        assert "Provisioning state: Failed" in capsys.readouterr().out

    def test_until_it_is_deleted(self):
        workspace = FakeWorkspace()
        target = create(workspace)
        target.delete()
        target.wait_for_completion(is_delete_operation=True)
        assert workspace.clusters == {}


class TestUse:
    def test_status_is_printed_in_the_documented_shape(self):
        target = create(FakeWorkspace(), min_nodes=1, idle_seconds_before_scaledown=120)
        target.wait_for_completion()
        shown = target.get_status().serialize()
        assert shown["scaleSettings"] == {
            "minNodeCount": 1,
            "maxNodeCount": 4,
            "nodeIdleTimeBeforeScaleDown": "PT120S",
        }
        assert shown["nodeStateCounts"]["idleNodeCount"] == 1
        assert (shown["provisioningState"], shown["allocationState"]) == ("Succeeded", "Steady")
        assert (shown["vmPriority"], shown["vmSize"], shown["errors"]) == ("Dedicated", "STANDARD_NC6", None)
        assert AmlComputeStatus.deserialize(shown).serialize() == shown == target.status.serialize()

    def test_nodes(self):
        target = create(FakeWorkspace(), min_nodes=2)
        target.wait_for_completion()
        assert [(n["nodeId"], n["nodeState"]) for n in target.list_nodes()] == [
            ("n0", "idle"),
            ("n1", "idle"),
        ]

    def test_update_changes_only_what_is_given(self):
        workspace = FakeWorkspace()
        target = create(workspace)
        target.update(max_nodes="8")
        assert workspace.sent[-1] == ("PATCH", "/compute/gpu-cluster", {"max_nodes": 8})
        assert target.scale_settings.maximum_node_count == 8

    def test_update_is_checked_against_the_rest(self):
        with pytest.raises(ComputeError, match="smaller than"):
            create(FakeWorkspace()).update(min_nodes=5)

    def test_delete_of_a_busy_one(self):
        workspace = FakeWorkspace()
        target = create(workspace)
        workspace.busy.add("gpu-cluster")
        with pytest.raises(ComputeError, match="has 1 run"):
            target.delete()

    def test_detach_points_to_delete(self):
        with pytest.raises(ComputeError, match="delete"):
            create(FakeWorkspace()).detach()


class TestOtherKinds:
    @pytest.mark.parametrize("kind", [HDInsightCompute, KubernetesCompute])
    def test_using_one_names_it(self, kind):
        for use in (lambda: kind(None, "x"), lambda: kind.attach_configuration(username="u")):
            with pytest.raises(UnsupportedError, match=kind.__name__):
                use()
