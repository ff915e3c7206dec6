"""The smaller verbs."""

import os

import pytest

from rookery.cli import session
from tests.cli.fake import DRIVER, EARLY, LATE, make_model, make_run


class TestStop:
    def test_stops_what_lives_and_leaves_what_ended(self, cli, keeper):
        keeper.add(make_run("a_1", "Running"))
        keeper.add(make_run("b_2", "Completed"))
        said = cli("stop", "a_1", "b_2")
        assert said.out == "Stopping a_1\nb_2 had ended already: Completed\n"
        assert [a[1] for a in keeper.asked if a[0] == "POST"] == ["/runs/a_1/cancel"]

    def test_all_means_every_live_one(self, cli, keeper):
        keeper.add(make_run("a_1", "Running"))
        keeper.add(make_run("b_2", "Queued"))
        keeper.add(make_run("c_3", "Failed"))
        assert {r["id"] for r in cli("stop", "--all", "--json").json["runs"]} == {"a_1", "b_2"}

    def test_nothing_to_stop(self, cli, keeper):
        said = cli("stop", "--all")
        assert (said.code, said.out) == (0, "Nothing runs.\n")

    def test_stops_none_when_one_is_unknown(self, cli, keeper):
        keeper.add(make_run("a_1", "Running"))
        assert cli("stop", "a_1", "zzz").code == 1
        assert not any(a[0] == "POST" for a in keeper.asked)


class TestDownload:
    @pytest.fixture(autouse=True)
    def run(self, keeper):
        odd = {"outputs/model.pt": b"m" * 10, "outputs/a b/it's é.txt": b"odd", "plot.png": b"p"}
        keeper.add(make_run("birds_1_aaaa"), log=b"hello\n", artifacts=odd)

    def test_all_artifacts_into_a_folder_named_for_the_run(self, cli, tmp_path):
        said = cli("download", "@last", "--json")
        assert {f["name"] for f in said.json["files"]} == {
            "outputs/model.pt",
            "outputs/a b/it's é.txt",
            "plot.png",
        }
        assert (tmp_path / "birds_1_aaaa/outputs/a b/it's é.txt").read_bytes() == b"odd"
        assert not [n for n in os.listdir(tmp_path / "birds_1_aaaa") if n.startswith(".rookery")]

    @pytest.mark.parametrize(
        ("path", "count"),
        [
            ("outputs", 2),
            ("outputs/", 2),
            ("./plot.png", 1),
            ("*.png", 1),
            (DRIVER, 1),
            ("user_logs/std_log.txt", 1),
            (".", 4),
        ],
    )
    def test_a_file_a_folder_a_pattern_a_log(self, cli, path, count):
        assert len(cli("download", "@last", path, "--to", "x y", "--json").json["files"]) == count

    def test_names_what_there_is(self, cli):
        said = cli("download", "@last", "nope")
        assert said.code == 1
        assert "plot.png" in said.err

    def test_a_name_that_leads_out_is_refused(self, cli, keeper, tmp_path):
        keeper.artifacts["birds_1_aaaa"] = {"../evil": b"x"}
        assert cli("download", "@last", "--to", "in").code == 1
        assert not (tmp_path / "evil").exists()

    def test_a_link_that_leads_out_is_refused(self, cli, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "out").mkdir()
        os.symlink(tmp_path / "out", tmp_path / "in" / "outputs")
        assert "symbolic link" in cli("download", "@last", "outputs/model.pt", "--to", "in").err
        assert os.listdir(tmp_path / "out") == []

    def test_damage_on_the_way_is_noticed_and_leaves_no_file(self, cli, keeper, monkeypatch, tmp_path):
        monkeypatch.setattr(
            "tests.cli.fake._files",
            lambda c: [{"name": n, "size": len(d), "sha256": "0" * 64} for n, d in c.items()],
        )
        said = cli("download", "@last", "plot.png", "--to", "in")
        assert "arrived damaged" in said.err
        assert os.listdir(tmp_path / "in") == []


class TestCompute:
    def test_create_sends_the_whole_spec(self, cli, keeper):
        said = cli(
            "compute",
            "create",
            "pool",
            "--max-nodes",
            "4",
            "--vm-size",
            "STANDARD_NC6",
            "--tag",
            "a=b",
            "--json",
        )
        assert said.json["spec"]["max_nodes"] == 4
        assert said.json["spec"]["tags"] == {"a": "b"}

    @pytest.mark.parametrize(
        "words", [["local"], ["x"], ["pool", "--min-nodes", "3"], ["pool", "--vm-priority", "cheap"]]
    )
    def test_create_refuses_before_asking(self, cli, keeper, words):
        assert cli("compute", "create", *words).code == 1
        assert keeper.asked == []

    def test_list_show_update_nodes_delete(self, cli, keeper):
        cli("compute", "create", "pool")
        keeper.nodes = [
            {
                "id": "n0",
                "state": "running",
                "address": "127.0.0.1",
                "run_id": "a_1",
                "cpus": [0, 1],
                "gpus": 0,
                "since_utc": EARLY,
            }
        ]
        assert "0-1" in cli("compute", "list").out
        assert "0 to 1 nodes" in cli("compute", "show", "pool").out
        assert cli("compute", "update", "pool", "--max-nodes", "2", "--json").json["spec"]["max_nodes"] == 2
        assert cli("compute", "nodes", "pool").out.splitlines()[1].split()[:5] == [
            "n0",
            "running",
            "a_1",
            "2",
            "0",
        ]
        assert cli("compute", "delete", "pool").out == "Deleted compute target pool\n"
        assert "Known: local" in cli("compute", "show", "nope").err


class TestModels:
    @pytest.fixture(autouse=True)
    def models(self, keeper):
        keeper.models = [
            make_model("birds", 2, run_id="birds_1_aaaa", experiment="birds", tags={"a": "b"}),
            make_model("birds", 1),
        ]
        keeper.add(make_run("birds_1_aaaa"))

    def test_list_and_show(self, cli):
        assert [m["id"] for m in cli("models", "list", "--json").json["models"]] == ["birds:2", "birds:1"]
        assert "birds_1_aaaa" in cli("models", "show", "birds").out
        assert cli("models", "show", "birds:1", "--json").json["version"] == 1
        assert cli("models", "show", "fish").code == 1

    def test_register_from_a_run(self, cli, keeper):
        cli("models", "register", "birds", "--run", "@last", "--path", "outputs/model.pt", "--tag", "x=y")
        body = next(a for a in keeper.asked if a[0] == "POST")[3]
        assert body == {
            "name": "birds",
            "run_id": "birds_1_aaaa",
            "path": "outputs/model.pt",
            "tags": {"x": "y"},
            "properties": {},
        }

    def test_download(self, cli, tmp_path):
        assert cli("models", "download", "birds", "--json").json["folder"] == str(tmp_path / "birds-2")
        assert (tmp_path / "birds-2" / "model.pt").read_bytes() == b"abc"

    def test_delete_needs_a_yes_where_nobody_can_answer(self, cli, keeper):
        assert cli("models", "delete", "birds:1").code == 2
        assert not any(a[0] == "DELETE" for a in keeper.asked)
        assert cli("models", "delete", "birds:1", "--yes").out == "Deleted model birds:1\n"


class TestExperiments:
    @pytest.fixture(autouse=True)
    def experiments(self, keeper):
        keeper.experiments = [
            {
                "id": "e1",
                "name": "birds",
                "created_utc": EARLY,
                "archived_utc": LATE,
                "tags": {"a": "b"},
                "run_count": 5,
                "shown_count": 3,
                "child_count": 2,
            }
        ]

    def test_list_and_show(self, cli):
        assert cli("experiments", "list").out.splitlines()[1].split()[:3] == ["birds", "3", "2"]
        assert "a=b" in cli("experiments", "show", "birds").out

    @pytest.mark.parametrize(
        ("words", "body"),
        [
            (["archive", "birds"], {"archived": True}),
            (["reactivate", "birds", "--new-name", "owls"], {"archived": False, "name": "owls"}),
        ],
    )
    def test_archive_and_reactivate(self, cli, keeper, words, body):
        assert cli("experiments", *words).code == 0
        assert keeper.asked[-1][3] == body

    def test_delete_says_why_not(self, cli):
        assert "has runs" in cli("experiments", "delete", "birds").err


class TestToken:
    def test_of_a_run(self, cli, keeper):
        keeper.add(make_run("birds_1_aaaa"))
        assert cli("token", "--run", "birds").out == "rkr_birds_1_aaaa\n"

    def test_the_owners(self, cli, keeper, monkeypatch):
        monkeypatch.setattr(session, "owner_token", lambda: "rko_x")
        assert cli("token").out == "rko_x\n"
        assert cli("token", "--json").json["token"] == "rko_x"


class TestKeeper:
    def test_status(self, cli, keeper, monkeypatch):
        monkeypatch.setattr(session, "describe_workspace", lambda: "here")
        assert "pid 42" in cli("keeper", "status").out
        assert cli("keeper", "status", "--json").json["running"] is True

    def test_status_starts_none_and_makes_no_workspace(self, cli, home):
        assert cli("keeper", "status", "--json").json == {"running": False}
        assert not home.exists()


class TestVersion:
    def test_both_ways(self, cli):
        assert cli("version").out == cli("--version").out
        assert cli("version", "--json").json["protocol"] == 1
        assert cli("--json", "--version").json["protocol"] == 1
