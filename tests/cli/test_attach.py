"""Targets on other machines from the command line: what is sent, and what is shown."""

from __future__ import annotations

import pytest
import yaml

from tests.cli.fake import make_compute

CHECKS = [
    {"check": "engine", "ok": True, "words": "ssh answers: 1 machine, 1 usable.", "advice": ""},
    {"check": "keeper", "ok": False, "words": "gpu1 cannot reach the keeper.", "advice": "Open TCP port 8788."},
]


def sent(keeper):
    return next(body for method, path, _query, body in reversed(keeper.asked) if method == "POST")


class TestAttach:
    def test_ssh(self, cli, keeper, tmp_path):
        made = cli("compute", "attach", "ssh", "me@gpu1.example.org", "-i", str(tmp_path / "key"), "--json")
        assert made.code == 0, made.err
        body = sent(keeper)
        assert (body["name"], body["check"]) == ("gpu1", True)
        assert body["spec"]["engine"] == "ssh"
        assert body["spec"]["options"] == {
            "address": "gpu1.example.org",
            "username": "me",
            "ssh_port": 22,
            "slots": 1,
            "private_key_file": str(tmp_path / "key"),
        }

    def test_several_machines(self, cli, keeper):
        words = ("--name", "pool", "-o", "extra=-oProxyJump=gate", "-o", "lost_after_s=60", "--no-check")
        assert cli("compute", "attach", "ssh", "a:2222", "b", *words).code == 0
        body = sent(keeper)
        options = body["spec"]["options"]
        assert options["addresses"] == ["a:2222", "b"]
        assert options["extra"] == ["-oProxyJump=gate"]
        assert options["lost_after_s"] == 60
        assert body["check"] is False

    def test_ray(self, cli, keeper):
        assert cli("compute", "attach", "ray", "head:6379", "--auth", "disabled", "-o", "resources=tpu=1").code == 0
        body = sent(keeper)
        assert body["name"] == "ray"
        assert body["spec"]["options"] == {"address": "head:6379", "auth": "disabled", "resources": {"tpu": 1.0}}
        assert cli("compute", "attach", "ray", "head:6379", "-o", 'resources={"a": 1, "b": 2}').code == 0
        assert sent(keeper)["spec"]["options"]["resources"] == {"a": 1.0, "b": 2.0}

    def test_slurm(self, cli, keeper):
        words = ("--partition", "main", "--time", "1:00:00", "--keeper-url", "http://me:1", "--no-shared-files")
        assert cli("compute", "attach", "slurm", *words, "-o", "requeue=no", "-o", "setup=module load cuda").code == 0
        spec = sent(keeper)["spec"]
        assert spec["options"] == {
            "partition": "main",
            "time_limit": "1:00:00",
            "requeue": False,
            "setup": ["module load cuda"],
        }
        assert (spec["reach"]["keeper_url"], spec["reach"]["shared_files"]) == ("http://me:1", False)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("ssh", "a", "-o", "colour=red"), "Known: address, addresses"),
            (("ssh", "a", "-o", "slots=many"), "'many' is no number"),
            (("ssh", "me@a", "you@b"), "same user"),
            (("ray", "head"), "HOST:PORT"),
            (("slurm", "-o", "requeue=perhaps"), "true or false"),
            (("ray", "head:1", "-o", "resources={broken"), "JSON"),
            (("slurm", "--transport", "pigeon"), "http, spool"),
        ],
    )
    def test_mistakes_are_named(self, cli, words, said):
        answer = cli("compute", "attach", *words)
        assert answer.code in (1, 2)
        assert said in answer.err

    def test_is_in_the_list_and_shown(self, cli, keeper):
        cli("compute", "attach", "slurm", "--partition", "main", "--no-check")
        listed = cli("compute", "list").out
        assert "slurm" in listed.splitlines()[-1]
        assert "all" in listed.splitlines()[-1].split()
        shown = cli("compute", "show", "slurm").out
        assert "partition=main" in shown
        assert "as many nodes as there are" in shown


class TestCheck:
    def test_prints_what_to_do(self, cli, keeper):
        keeper.compute.append(make_compute("pool", {"engine": "ssh"}))
        keeper.checks = CHECKS
        for verb in (("compute", "check", "pool"), ("doctor", "--compute", "pool")):
            answer = cli(*verb)
            assert answer.code == 1
            assert "broken  keeper" in answer.out
            assert "do: Open TCP port 8788." in answer.out
        assert cli("compute", "check", "pool", "--json").json == {"ok": False, "checks": CHECKS}

    def test_all_well(self, cli, keeper):
        keeper.checks = CHECKS[:1]
        assert cli("compute", "check", "pool").code == 0


class TestDetach:
    def test_forgets_it(self, cli, keeper):
        keeper.compute.append(make_compute("pool", {"engine": "ssh"}))
        assert cli("compute", "detach", "pool").out == "Detached compute target pool\n"
        assert ("DELETE", "/compute/pool") in [(m, p) for m, p, *_ in keeper.asked]

    def test_a_created_one_is_deleted_instead(self, cli, keeper):
        keeper.compute.append(make_compute("pool", {"engine": "embedded"}))
        assert "rookery compute delete pool" in cli("compute", "detach", "pool").err


class TestNodes:
    def test_shows_what_is_free_and_what_runs(self, cli, keeper):
        keeper.nodes = [
            {
                "id": "gpu1",
                "state": "running",
                "address": "10.0.0.2",
                "run_id": "birds_1",
                "cpus": [],
                "gpus": [],
                "since_utc": None,
                "num_cpus": 8,
                "num_gpus": 2,
                "free_cpus": 3,
                "free_gpus": 0,
                "memory_bytes": 16_000_000_000,
                "detail": "",
                "runs": [{"run_id": "birds_1"}, {"run_id": "birds_2"}],
            }
        ]
        row = cli("compute", "nodes", "pool").out.splitlines()[1]
        assert "birds_1, birds_2" in row
        assert "3/8" in row
        assert "0/2" in row


class TestKubernetes:
    WORDS = ("run", "--dry-run", "--compute", "k8s", "--k8s", "keeper_url=http://me:8788", "--k8s", "image=i")

    def test_prints_manifests_and_submits_nothing(self, cli, keeper, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "train.py").touch()
        answer = cli(*self.WORDS, "--nodes", "2", "train.py")
        secret, jobset = yaml.safe_load_all(answer.out)
        assert (secret["kind"], jobset["kind"]) == ("Secret", "JobSet")
        assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["completions"] == 2
        assert cli(*self.WORDS, "--json", "train.py").json["manifests"][1]["kind"] == "JobSet"
        assert not [m for m, *_ in keeper.asked if m != "GET"]

    def test_is_nowhere_to_send_runs_to(self, cli, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "train.py").touch()
        assert "--dry-run --compute k8s" in cli("run", "--compute", "k8s", "train.py").err

    def test_several_nodes_on_another_target(self, cli, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "train.py").touch()
        words = ("run", "--dry-run", "--nodes", "2", "--processes-per-node", "3")
        spec = cli(*words, "--json", "train.py").json["spec"]
        assert (spec["node_count"], spec["processes_per_node"], spec["launcher"]) == (2, 3, "per_process")
        assert "2 nodes, 3 processes each" in cli(*words, "train.py").out
        assert "torchrun" in cli(*words, "--command", "python train.py").err
