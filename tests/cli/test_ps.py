import pytest

from tests.cli.fake import make_run


@pytest.fixture
def runs(keeper):
    keeper.add(
        make_run(
            "birds_1_aaaa",
            "Queued",
            reason="waits for 1 of 2 nodes of 'pool', held by birds_0_ffff",
            started_utc=None,
        )
    )
    keeper.add(make_run("birds_2_bbbb", "Failed", display_name="évil \x1b[31m name"))
    keeper.add(make_run("birds_3_cccc", "Completed"))
    keeper.add(make_run("fish_4_dddd", "Running", experiment="fish"))
    return keeper


class TestPs:
    def test_live_runs_first_then_newest(self, cli, runs):
        said = cli("ps", "--json")
        assert [r["id"] for r in said.json["runs"]] == [
            "fish_4_dddd",
            "birds_1_aaaa",
            "birds_3_cccc",
            "birds_2_bbbb",
        ]
        assert (said.code, said.err) == (0, "")

    def test_plain_text_has_everything_and_no_escape(self, cli, runs):
        said = cli("ps")
        assert "waits for 1 of 2 nodes of 'pool', held by birds_0_ffff" in said.out
        assert "\x1b" not in said.out
        assert said.out.splitlines()[0].split() == [
            "RUN",
            "STATUS",
            "NAME",
            "EXPERIMENT",
            "COMPUTE",
            "CREATED",
            "TIME",
            "REASON",
        ]
        assert "Next:" not in said.out

    @pytest.mark.parametrize("columns", [120, 80, 40])
    def test_fits_the_terminal_and_never_hides_id_status_or_reason(self, cli, runs, columns, monkeypatch):
        monkeypatch.setenv("NO_COLOR", "1")
        said = cli("ps", columns=columns)
        table = [line for line in said.out.splitlines() if not line.startswith("Next") and ": waits" not in line]
        assert max(len(line.rstrip()) for line in table) <= columns
        assert "birds_1_aaaa" in said.out
        assert "Queued" in said.out
        assert "waits for 1 of 2 nodes of 'pool', held by birds_0_ffff" in said.out
        assert "\x1b" not in said.out
        assert all("…" not in line for line in table if "EXPERIMENT" not in line and columns > 100)
        assert said.out.splitlines()[-1] == "Next: rookery logs -f fish_4_dddd"

    def test_filters_by_experiment_and_status_whatever_the_case(self, cli, runs):
        assert [r["id"] for r in cli("ps", "--experiment", "fish", "--json").json["runs"]] == ["fish_4_dddd"]
        assert [r["id"] for r in cli("ps", "--status", "failed", "--json").json["runs"]] == ["birds_2_bbbb"]

    def test_refuses_a_status_that_does_not_exist(self, cli, runs):
        said = cli("ps", "--status", "Done")
        assert said.code == 2
        assert "Completed" in said.err

    def test_n_limits_what_ended_not_what_is_live(self, cli, runs):
        assert [r["id"] for r in cli("ps", "-n", "1", "--json").json["runs"]] == [
            "fish_4_dddd",
            "birds_1_aaaa",
            "birds_3_cccc",
        ]

    def test_children_only_with_all(self, cli, runs):
        runs.add(make_run("child", "Running", parent_id="fish_4_dddd"))
        assert "child" not in cli("ps").out
        assert "child" in cli("ps", "--all").out

    def test_says_how_to_start_when_there_is_nothing(self, cli, keeper):
        said = cli("ps", columns=80)
        assert "No runs yet." in said.out
        assert "rookery run SCRIPT" in said.out
