import os
import sys
import threading

import pytest

from rookery.cli import run as run_verb
from rookery.cli import watch
from rookery.cli.submission import Request, source_and_script
from rookery.cli.watch import exit_code
from rookery.errors import UserError
from tests.cli.fake import DRIVER, Event, make_run
from tests.cli.test_show import CAUSE


@pytest.fixture
def submitted(keeper, monkeypatch, tmp_path):
    """What was asked for, instead of submitting it; the keeper has the run `birds_1_aaaa` and its events."""
    asked = []

    def submit(request):
        asked.append(request)
        return keeper.runs[0]

    monkeypatch.setattr(run_verb, "_submit", submit)
    (tmp_path / "train.py").write_text("print('hi')\n")
    return asked


def play(keeper, status, **changes):
    run = keeper.add(make_run("birds_1_aaaa", status, **changes))
    base = {"run": run["id"], "reason": "", "attempt": 1, "time": "", "error": None}
    keeper.events[run["id"]] = [
        Event("status", 1, {**base, "status": "Queued", "reason": "pool is full"}),
        Event("status", 2, {**base, "status": "Queued", "reason": "pool is full"}),
        Event("status", 3, {**base, "status": "Running"}),
        Event("log", 4, {"run": run["id"], "name": DRIVER, "offset": 0, "text": "epoch 1\nepoch 2"}),
        Event("log", 5, {"run": run["id"], "name": "logs/tensorboard", "offset": 0, "text": "binary"}),
        Event("status", 6, {**base, "status": status}),
        Event("end", 7, {}),
    ]
    return run


class TestRun:
    def test_stdout_is_the_scripts_and_stderr_ours(self, cli, keeper, submitted):
        play(keeper, "Completed")
        said = cli("run", "train.py")
        assert said.out == "epoch 1\nepoch 2"
        assert said.err == "Run birds_1_aaaa\nCompleted after 7.2s\n"
        assert said.code == 0

    def test_says_what_it_waits_for_when_that_takes_a_while(self, cli, keeper, submitted, monkeypatch):
        monkeypatch.setattr(watch, "PATIENCE_S", 0.01)
        run = play(keeper, "Completed")
        heard = threading.Event()
        monkeypatch.setattr(watch, "note", lambda text, note=watch.note: (note(text), "pool" in text and heard.set()))

        def slow(path, query, after):
            yield from keeper.events[run["id"]][:2]
            assert heard.wait(60)
            yield from keeper.events[run["id"]][2:]

        keeper.stream = slow
        assert cli("run", "train.py").err == "Run birds_1_aaaa\nQueued: pool is full\nCompleted after 7.2s\n"

    def test_everything_after_the_script_is_the_scripts(self, cli, keeper, submitted):
        play(keeper, "Completed")
        cli(
            "run",
            "--detach",
            "--tag",
            "a=b=c",
            "train.py",
            "--json",
            "-c",
            "x",
            "--help",
            "--",
            "-C",
            "--detach",
        )
        assert submitted[0].arguments == ("--json", "-c", "x", "--help", "--", "-C", "--detach")
        assert submitted[0].tags == {"a": "b=c"}

    def test_detached_prints_the_id_alone(self, cli, keeper, submitted):
        play(keeper, "Queued", reason="pool is full")
        said = cli("run", "-d", "train.py")
        assert (said.code, said.out) == (0, "birds_1_aaaa\n")
        assert "pool is full" in said.err

    def test_a_failed_run_gives_its_exit_code_and_its_cause(self, cli, keeper, submitted):
        play(keeper, "Failed", error=CAUSE)
        said = cli("run", "train.py")
        assert said.code == 3
        assert said.out == "epoch 1\nepoch 2"
        assert "error: Run birds_1_aaaa failed after 7.2s\nThe script raised ValueError." in said.err
        assert "Look at the shapes." in said.err

    def test_an_open_line_is_ended_on_a_terminal(self, cli, keeper, submitted):
        play(keeper, "Completed")
        assert "epoch 2\n" in cli("run", "train.py", columns=80).out

    def test_json_lines_from_first_to_last(self, cli, keeper, submitted):
        play(keeper, "Failed", error=CAUSE)
        said = cli("run", "--json", "train.py")
        assert [line["event"] for line in said.lines] == [
            "submitted",
            "status",
            "status",
            "status",
            "log",
            "status",
            "end",
        ]
        assert said.lines[-1]["exit_code"] == said.code == 3
        assert said.err == ""

    def test_ctrl_c_leaves_the_run_alone_and_says_so(self, cli, keeper, submitted):
        run = play(keeper, "Running")

        def interrupted(path, query, after):
            yield keeper.events[run["id"]][3]
            raise KeyboardInterrupt

        keeper.stream = interrupted
        said = cli("run", "train.py")
        assert said.code == 130
        assert "The run goes on." in said.err
        assert f"rookery stop {run['id']}" in said.err
        assert f"rookery logs -f {run['id']}" in said.err
        assert not any(method == "POST" for method, *_ in keeper.asked)
        assert cli("run", "--json", "train.py").lines[-1]["event"] == "interrupted"

    def test_suggests_a_script_of_a_near_name(self, cli, keeper, submitted):
        said = cli("run", "trian.py")
        assert said.code == 1
        assert "Did you mean 'train.py'?" in said.err


class TestExitCode:
    @pytest.mark.parametrize(
        ("status", "error", "code"),
        [
            ("Completed", None, 0),
            ("Failed", {"exit_code": 7}, 7),
            ("Failed", {"exit_code": None}, 1),
            ("Failed", None, 1),
            ("Failed", {"exit_code": 0}, 1),
            ("Failed", {"exit_code": -9}, 1),
            ("Failed", {"exit_code": 256}, 1),
            ("Failed", {"exit_code": None, "signal": "SIGSEGV"}, 139),
            ("Failed", {"exit_code": None, "signal": "signal 72"}, 1),
            ("Canceled", {"exit_code": 3}, 1),
        ],
    )
    def test_is_the_ranks_or_one(self, status, error, code):
        assert exit_code({"status": status, "error": error}) == code


class TestSourceAndScript:
    @pytest.fixture(autouse=True)
    def tree(self, tmp_path, monkeypatch):
        here = tmp_path / 'my "pro\'ject" é'
        (here / "deep").mkdir(parents=True)
        (here / "train.py").write_text("")
        (here / "deep" / "job.py").write_text("")
        (tmp_path / "away").mkdir()
        (tmp_path / "away" / "far.py").write_text("")
        os.symlink(tmp_path / "away" / "far.py", here / "link.py")
        monkeypatch.chdir(here)
        self.here, self.away = str(here), str(tmp_path / "away")

    def test_a_script_below_here_takes_this_folder(self):
        assert source_and_script("train.py", None) == (self.here, "train.py")
        assert source_and_script("./deep/job.py", None) == (self.here, "deep/job.py")
        assert source_and_script("link.py", None) == (self.here, "link.py")

    def test_a_script_elsewhere_takes_its_own(self):
        assert source_and_script("../away/far.py", None) == (self.away, "far.py")

    def test_source_given(self):
        assert source_and_script("deep/job.py", "deep") == (os.path.join(self.here, "deep"), "job.py")
        assert source_and_script("job.py", "deep") == (os.path.join(self.here, "deep"), "job.py")
        assert source_and_script(None, "deep") == (os.path.join(self.here, "deep"), None)

    @pytest.mark.parametrize(
        ("script", "source", "why"),
        [
            ("nope.py", None, "does not exist"),
            ("deep", None, "is a folder"),
            ("train.py", "deep", "not inside"),
            ("train.py", "no", "not a folder"),
        ],
    )
    def test_refuses(self, script, source, why):
        with pytest.raises(UserError, match=why):
            source_and_script(script, source)


class TestExperimentName:
    @pytest.mark.parametrize(
        ("script", "name"),
        [
            ("train.py", "train"),
            ("a/my script (2).py", "my-script-2"),
            ("__main__.py", "main"),
            ("vögel.py", "v-gel"),
            ("é.py", "run"),
            ("x" * 300 + ".py", "x" * 100),
        ],
    )
    def test_is_the_scripts_stem_made_valid(self, script, name):
        assert Request("/", script).experiment_name == name

    def test_of_a_command_is_its_program(self):
        assert Request("/", None, command="/usr/bin/env python -V").experiment_name == "env"


class TestDryRun:
    @pytest.fixture(autouse=True)
    def project(self, tmp_path):
        (tmp_path / "train.py").write_text("print(1)\n")
        (tmp_path / "big.bin").write_bytes(b"0" * 5000)
        (tmp_path / ".amlignore").write_text("*.tmp\n")
        (tmp_path / "x.tmp").write_text("")

    def test_shows_the_spec_and_the_files_and_asks_nobody(self, cli, keeper):
        said = cli(
            "run",
            "--dry-run",
            "--json",
            "--python",
            sys.executable,
            "--env-var",
            "A=1",
            "--max-seconds",
            "60",
            "--name",
            "n",
            "train.py",
            "-x",
        )
        plan = said.json
        assert plan["spec"]["arguments"] == ["-x"]
        assert plan["spec"]["environment"]["python"] == sys.executable
        assert plan["spec"]["variables"] == {"A": "1"}
        assert plan["spec"]["max_duration_s"] == 60
        assert plan["spec"]["display_name"] == "n"
        files = {f["path"]: f["size"] for f in plan["files"]}
        assert files["big.bin"] == 5000
        assert "x.tmp" not in files
        assert keeper.asked == []

    def test_for_people(self, cli, keeper):
        said = cli("run", "--dry-run", "-c", "python train.py && echo done")
        assert "Nothing is submitted" in said.out
        assert "python train.py && echo done" in said.out
        assert "big.bin" in said.out
        assert "5.0 kB" in said.out

    def test_a_python_that_is_none(self, cli, keeper):
        assert "--python '/no/python'" in cli("run", "--dry-run", "--python", "/no/python", "train.py").err
