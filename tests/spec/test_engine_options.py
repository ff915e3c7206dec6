"""What a target says to its engine: read, checked by name, and refused in words."""

from __future__ import annotations

import pytest

from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach, check_cluster_spec
from rookery.spec.engine_options import (
    RayOptions,
    SlurmOptions,
    SshOptions,
    options_to_plain,
    read_options,
)
from rookery.spec.plain import from_plain, to_plain


class TestReadOptions:
    def test_gives_each_engine_its_own(self):
        assert read_options("ray", {"address": "head:6379"}) == RayOptions("head:6379")
        assert read_options("slurm", {"partition": "gpu", "extra": ["--switches=1"]}) == SlurmOptions(
            "gpu", extra=("--switches=1",)
        )
        assert read_options("ssh", {"address": "box", "ssh_port": 2222}) == SshOptions("box", ssh_port=2222)
        assert read_options("embedded", {}) is None

    @pytest.mark.parametrize(
        ("engine", "options", "words"),
        [
            ("cloud", {}, "engine='cloud' does not exist. Known: embedded, ray, slurm, ssh"),
            ("embedded", {"address": "x"}, "has no options"),
            ("ray", {}, "address is missing"),
            ("ray", {"address": "auto"}, "address='auto' is not HOST:PORT"),
            ("ray", {"address": "h:6379", "strategy": "wide"}, "Known: strict_spread, spread, pack"),
            ("ray", {"address": "h:6379", "auth": "none"}, "Known: token, disabled"),
            ("ray", {"address": "h:6379", "resources": {"CPU": 1}}, "cpus_per_node"),
            ("ray", {"address": "h:6379", "resources": {"tpu": 0}}, "more than 0"),
            ("ray", {"address": "h:6379", "token": "s"}, "token_path"),
            ("ray", {"address": "h:6379", "ray_version": "new"}, "Give it as 2.60.0"),
            ("slurm", {"time_limit": "a day"}, "time_limit='a day' is no time"),
            ("slurm", {"mem": "lots"}, "mem='lots' is no amount"),
            ("slurm", {"cpus_per_task": 0}, "cpus_per_task=0"),
            ("slurm", {"signal_s": -1}, "signal_s=-1"),
            ("slurm", {"partition": "--uid=0"}, "must not begin with '-'"),
            ("slurm", {"account": "a b"}, "nor hold spaces"),
            ("slurm", {"extra": ["switches=1"]}, "is no option of sbatch"),
            ("slurm", {"extra": ["--nodes=4"]}, "is set by the run's node_count"),
            ("slurm", {"extra": ["-pgpu"]}, "is set by the field partition"),
            ("slurm", {"setup": ["module load a\nrm -r b"]}, "more than one line"),
            ("slurm", {"partitions": "gpu"}, "unknown field partitions"),
            ("slurm", {"nice": "very"}, "SlurmOptions.nice: expected int"),
            ("ssh", {}, "Give the machine's name or address"),
            ("ssh", {"address": "me@box"}, "the user as username"),
            ("ssh", {"address": "-oProxyCommand=x"}, "is no machine's name"),
            ("ssh", {"address": "box", "ssh_port": 0}, "between 1 and 65535"),
            ("ssh", {"address": "box", "password": "secret"}, "ssh-copy-id"),
            ("ssh", {"address": "box", "private_key_passphrase": "secret"}, "ssh-add"),
            ("ssh", {"address": "box", "host_key_check": "no"}, "Known: accept-new, strict"),
        ],
    )
    def test_refuses_by_name(self, engine, options, words):
        with pytest.raises(ComputeError) as caught:
            read_options(engine, options)
        assert words in caught.value.message
        assert "secret" not in caught.value.message

    @pytest.mark.parametrize("time_limit", ["90", "1:30:00", "2-12", "1-02:03:04", "UNLIMITED"])
    def test_takes_every_time_of_slurm(self, time_limit):
        assert read_options("slurm", {"time_limit": time_limit}).time_limit == time_limit

    def test_says_only_what_was_said(self):
        assert options_to_plain(SlurmOptions(partition="gpu")) == {"partition": "gpu"}
        assert options_to_plain(None) == {}


class TestClusterSpec:
    def test_travels_whole(self):
        spec = ClusterSpec(engine="slurm", max_nodes=0, options={"partition": "gpu"}, reach=Reach(shared_files=True))
        assert from_plain(ClusterSpec, to_plain(spec)) == check_cluster_spec(spec)

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"reach": Reach(transport="pigeon")}, "Known: http, spool"),
            ({"reach": Reach(transport="spool", shared_files=False)}, "needs files that the nodes share"),
            ({"reach": Reach(keeper_url="10.0.0.1:80")}, "must begin with http"),
            ({"reach": Reach(python="-c")}, "is no program"),
            ({"reach": Reach(node_home="node")}, "absolute path"),
            ({"cpus_per_node": 0}, "cpus_per_node=0 must be 1 or more"),
            ({"options": {"x": 1}}, "unknown field x"),
        ],
    )
    def test_on_other_machines_is_checked(self, fields, words):
        with pytest.raises(ComputeError, match=words):
            check_cluster_spec(ClusterSpec(engine="slurm", **fields))
