"""`rookery env …` and `rookery run --env`, against a keeper in memory."""

from __future__ import annotations

import pytest

from rookery.cli import run as run_verb
from rookery.cli import session
from rookery.cli.environment_choice import choose_environment
from rookery.cli.submission import Request, build_config
from rookery.errors import EnvironmentNotFoundError, NotFoundError, UserError
from rookery.sdk.secret import Secret
from tests.cli.fake import EARLY, LATE, Event, FakeKeeper, make_run

KEY, OTHER = "ab12" * 8, "cd34" * 8
BUILD = "azureml-logs/20_image_build_log.txt"


def make_built(key=KEY, **changes):
    built = {
        "key": key, "name": "birds", "python_version": "3.11.7", "num_packages": 3, "built_utc": EARLY, "last_used_utc": EARLY,
        "build_s": 3.25, "own_bytes": 1_500_000, "shared_bytes": 800_000_000, "in_use_by": [], "deviations": [], "path": "/e/" + key,
    }  # fmt: skip
    built.update(changes)
    return built


class Keeper(FakeKeeper):
    """One that also knows environments."""

    def __init__(self):
        super().__init__()
        self.built = [make_built(), make_built(OTHER, name="b\x1b[2Jd", in_use_by=["run_1"])]
        self.named = [
            {"name": "own", "version": "2", "definition": {"name": "own", "python": {"condaDependencies": {
                "dependencies": ["python=3.9", {"pip": ["torch"]}]}}}, "labels": ["prod"], "created_utc": EARLY,
                "created_by": "mia", "curated": False},
            {"name": "AzureML-Minimal", "version": "1", "definition": {"name": "AzureML-Minimal"}, "labels": [],
             "created_utc": None, "created_by": "rookery", "curated": True, "maps_to": "Python and the SDK."},
        ]  # fmt: skip
        self.build = {"id": "b1", "status": "Succeeded", "error": "", "created_utc": EARLY, "ended_utc": LATE,
                      "built": {"python": "/e/bin/python", "bin_dir": "/e/bin", "deviations": ["3.6.2 became 3.6.15"], "key": KEY}}  # fmt: skip
        self.build_events = [
            Event("log", 5, {"build": "b1", "offset": 0, "text": "Resolving 1 requirements for Python\n"}),
            Event("log", 9, {"build": "b1", "offset": 5, "base64": "/w=="}),
            Event("status", 10, {"id": "b1", "status": "Succeeded"}),
            Event("end", 10, {"build": "b1"}),
        ]

    def stream(self, path, query=None, after=None):
        if path == "/environments/builds/b1/events":
            return Closing(self.build_events)
        return super().stream(path, query, after)

    def _routes(self):
        return [
            ("GET /built-environments", lambda **_: {"environments": self.built, "disk_bytes": 900_000_000, "cache_bytes": 5_000_000}),
            ("GET /built-environments/([^/]+)", self._one_built),
            ("POST /built-environments/prune", self._prune),
            ("POST /environments/specifications", self._read),
            ("POST /environments/builds", lambda **_: self.build),
            ("GET /environments/builds/b1", lambda **_: self.build),
            ("GET /environments", lambda **_: {"environments": self.named}),
            ("GET /environments/([^/]+)", self._one_named),
            *super()._routes(),
        ]  # fmt: skip

    def _one_built(self, key, **_):
        for one in self.built:
            if one["key"].startswith(key):
                return {**one, "python_requested": "3.11", "platform": "linux", "asked": ["torch"], "notes": ["a note"],
                        "lock": "torch==2.9.0 \\\n    --hash=sha256:00\n", "conda": ["zlib=1.2=h0"], "log": "Built in 1 s\n"}  # fmt: skip
        raise NotFoundError(f"Environment key '{key}': there is none.")

    def _one_named(self, name, query, body):
        for one in self.named:
            if one["name"] == name and query.get("version") in (None, one["version"]):
                return one
        raise EnvironmentNotFoundError(f"There is no environment '{name}'.")

    def _read(self, query, body):
        if "refused" in body["text"]:
            raise UserError(f"{body['file']}: it is refused.")
        return {
            "conda": {"name": "environment", "dependencies": [{"pip": body["text"].split()}]},
            "notes": ["--pre has no effect"],
        }

    def _prune(self, query, body):
        gone = [one for one in self.built if not one["in_use_by"]]
        kept = [{"key": o["key"], "name": o["name"], "reason": "in use by run_1"} for o in self.built if o["in_use_by"]]
        if not body.get("dry_run"):
            self.built = [one for one in self.built if one["in_use_by"]]
        freed = 5_000_000 if body.get("cache") else 0
        return {"removed": gone, "kept": kept if body.get("keys") else [], "freed_bytes": sum(o["own_bytes"] for o in gone) + freed,
                "cache_bytes": freed, "dry_run": bool(body.get("dry_run"))}  # fmt: skip


class Closing(list):
    def close(self):
        pass


@pytest.fixture
def keeper(monkeypatch):
    fake = Keeper()
    monkeypatch.setattr(session, "client", lambda: fake)
    monkeypatch.setattr(session, "running_client", lambda workspace: fake)
    monkeypatch.setattr(session, "sdk_workspace", lambda: type("Ws", (), {"client": fake})())
    return fake


class TestList:
    def test_what_is_built_with_its_disk_use(self, cli, keeper):
        said = cli("env", "list")
        assert said.out.splitlines()[0].split() == [
            "KEY",
            "NAME",
            "PYTHON",
            "PACKAGES",
            "USED",
            "OWN",
            "SHARED",
            "IN",
            "USE",
            "BY",
        ]
        assert "ab12ab12ab12  birds" in said.out
        assert "1.5 MB  800 MB" in said.out
        assert "2 environments, 900 MB on disk in all, 5.0 MB of it packages kept for the next" in said.out
        assert "\x1b[2J" not in said.out
        assert cli("env", "list", "--json").json["environments"][0]["key"] == KEY

    def test_none_yet(self, cli, keeper):
        keeper.built = []
        assert "No environment is built" in cli("env", "list").out

    def test_those_known_by_name(self, cli, keeper):
        said = cli("env", "list", "--registered")
        assert "own                    2  registered" in said.out
        assert "python=3.9, torch" in said.out
        assert "Python and the SDK." in said.out
        assert [e["name"] for e in cli("env", "list", "--registered", "--json").json["environments"]] == [
            "own",
            "AzureML-Minimal",
        ]


class TestShow:
    def test_a_built_one_by_the_beginning_of_its_key(self, cli, keeper):
        said = cli("env", "show", "ab12ab12")
        for text in ("3.11.7 (asked for: 3.11)", "torch==2.9.0\n", "zlib=1.2=h0", "note: a note", "1.5 MB of its own"):
            assert text in said.out
        assert "--hash" not in said.out
        assert "Built in" not in said.out
        assert "Built in 1 s" in cli("env", "show", KEY, "--log").out
        assert cli("env", "show", KEY, "--json").json["log"] == "Built in 1 s\n"

    def test_one_by_its_name_and_version(self, cli, keeper):
        assert "python=3.9, torch" in cli("env", "show", "own:2").out
        assert "Python and the SDK." in cli("env", "show", "AzureML-Minimal").out
        said = cli("env", "show", "own:3", "--json")
        assert (said.code, said.json["error"]["code"]) == (1, "environment_not_found")

    def test_a_name_may_look_like_a_key(self, cli, keeper):
        keeper.named.append({**keeper.named[0], "name": "beef"})
        assert "beef:2" in cli("env", "show", "beef").out
        said = cli("env", "show", "0000")
        assert (said.code, "there is none" in said.err) == (1, True)


class TestBuild:
    def test_log_on_stderr_and_the_answer_on_stdout(self, cli, keeper, tmp_path):
        (tmp_path / "requirements.txt").write_text("rich\n")
        said = cli("env", "build", "requirements.txt")
        assert said.code == 0
        assert said.out.endswith(" is built: /e/bin/python  (7.2s)\n")
        assert "Resolving 1 requirements for Python\n\ufffd" in said.err
        assert "warning: 3.6.2 became 3.6.15" in said.err
        assert "note: --pre has no effect" in said.err
        spec = next(body for method, path, _, body in keeper.asked if path == "/environments/builds")["spec"]
        assert spec["conda"]["dependencies"] == [{"pip": ["rich"]}]

    def test_a_bar_on_a_terminal(self, cli, keeper, tmp_path):
        (tmp_path / "r.txt").write_text("rich\n")
        said = cli("env", "build", "r.txt", columns=100)
        assert "% resolving 1 requirement, 0 s" in said.err
        assert "%" not in said.out

    def test_json_lines(self, cli, keeper):
        said = cli("env", "build", "AzureML-Minimal", "--json")
        assert [line["event"] for line in said.lines] == ["submitted", "log", "log", "end"]
        assert said.lines[-1]["build"]["built"]["key"] == KEY
        assert said.err == ""

    def test_a_failure_is_an_error(self, cli, keeper):
        keeper.build.update(status="Failed", error="package 'nope': no index has it.", built=None)
        said = cli("env", "build", "own")
        assert (said.code, said.out) == (1, "")
        assert "error: package 'nope': no index has it." in said.err
        assert cli("env", "build", "own", "--json").code == 1

    def test_a_missing_file_and_an_unknown_name(self, cli, keeper):
        assert "is not a file that exists" in cli("env", "build", "missing.yml").err
        assert "There is no environment 'nope'" in cli("env", "build", "nope").err


class TestPrune:
    def test_dry_run_removes_nothing(self, cli, keeper):
        said = cli("env", "prune", "--older-than", "30d", "--dry-run")
        assert "Would remove ab12ab12ab12  birds" in said.out
        assert "1.5 MB would be freed" in said.out
        assert keeper.asked[-1][3] == {"older_than_s": 30 * 86400.0, "dry_run": True}
        assert len(keeper.built) == 2

    def test_asks_where_somebody_can_answer_and_refuses_elsewhere(self, cli, keeper):
        said = cli("env", "prune")
        assert (said.code, "Give --yes" in said.err) == (2, True)
        assert len(keeper.built) == 2
        said = cli("env", "prune", "-y", "--cache", KEY[:6], OTHER[:6])
        assert "Removed ab12ab12ab12" in said.out
        assert "kept cd34cd34cd34" in said.err
        assert "6.5 MB are freed" in said.out
        assert keeper.asked[-1][3] == {"older_than_s": 0.0, "keys": [KEY[:6], OTHER[:6]], "cache": True}
        assert len(keeper.built) == 1

    def test_nothing_to_do(self, cli, keeper):
        keeper.built = []
        said = cli("env", "prune")
        assert (said.code, said.out) == (0, "There is nothing to remove.\n")
        assert cli("env", "prune", "--yes", "--json").json["removed"] == []

    @pytest.mark.parametrize("text", ["30", "d", "-3d", "1y", "1e9d", "\u0663d", ""])
    def test_odd_ages(self, cli, keeper, text):
        said = cli("env", "prune", "--dry-run", f"--older-than={text}")
        assert (said.code, "30d" in said.err) == (2, True)
        assert keeper.asked == []


class TestRunWithEnv:
    def test_the_file_becomes_the_runs_environment(self, cli, keeper, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "env.yml").write_text("rich")
        (tmp_path / "train.py").write_text("")
        request = Request(str(tmp_path), "train.py", env="env.yml", variables={"A": "b"}, secrets={"TOKEN": "s3cret"})
        config = build_config(request)
        assert config.run_config.environment.python.conda_dependencies.as_dict()["dependencies"] == [{"pip": ["rich"]}]
        assert config.run_config.environment_variables == {"A": "b", "TOKEN": Secret("s3cret")}
        assert "s3cret" not in repr(request)
        said = cli("run", "--env", "env.yml", "--secret", "TOKEN=s3cret", "--dry-run", "train.py")
        assert "env: rich" in said.out
        assert "s3cret" not in said.out + said.err

    def test_a_secret_without_a_value_is_taken_from_here(self, cli, keeper, tmp_path, monkeypatch):
        (tmp_path / "train.py").write_text("")
        asked = []
        monkeypatch.setattr(
            run_verb, "_submit", lambda request: asked.append(request) or keeper.add(make_run("birds_1_aaaa"))
        )
        monkeypatch.setenv("TOKEN", "from here")
        assert cli("run", "-d", "--secret", "TOKEN", "train.py").code == 0
        assert asked[0].secrets == {"TOKEN": "from here"}
        said = cli("run", "-d", "--secret", "NOT_SET", "train.py")
        assert (said.code, "NOT_SET is not set here" in said.err) == (2, True)

    def test_env_and_python_contradict(self, cli, keeper, tmp_path):
        (tmp_path / "train.py").write_text("")
        said = cli("run", "--env", "x", "--python", "python3", "train.py")
        assert (said.code, "not both" in said.err) == (2, True)

    @pytest.mark.parametrize(
        ("file", "name"), [("birds.yml", "birds"), ("requirements.txt", "proj"), ("a b.txt", "a-b")]
    )
    def test_is_named_after_the_file_or_its_folder(self, keeper, tmp_path, file, name):
        folder = tmp_path / "proj"
        folder.mkdir()
        (folder / file).write_text("rich")
        assert choose_environment(str(folder / file)).name == name

    def test_what_is_no_text_is_refused_before_it_travels(self, keeper, tmp_path):
        (tmp_path / "r.txt").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(UserError, match="UTF-8"):
            choose_environment(str(tmp_path / "r.txt"))
        with open(tmp_path / "huge.txt", "wb") as f:
            f.truncate(1 << 40)
        with pytest.raises(UserError, match="no specification needs"):
            choose_environment(str(tmp_path / "huge.txt"))
        (tmp_path / "bad.txt").write_text("refused")
        with pytest.raises(UserError, match=r"bad\.txt"):
            choose_environment(str(tmp_path / "bad.txt"))

    def test_the_build_log_is_not_the_scripts_output(self, cli, keeper, tmp_path, monkeypatch):
        (tmp_path / "train.py").write_text("")
        run = keeper.add(make_run("birds_1_aaaa"))
        monkeypatch.setattr(run_verb, "_submit", lambda request: run)
        base = {"run": run["id"], "reason": "", "attempt": 1, "time": "", "error": None}
        keeper.events[run["id"]] = [
            Event("status", 1, {**base, "status": "Preparing", "reason": "environment 'x' is being prepared"}),
            Event("log", 2, {"run": run["id"], "name": BUILD, "offset": 0, "text": "Resolving 2 requirements\n"}),
            Event("status", 3, {**base, "status": "Queued"}),
            Event(
                "log", 4, {"run": run["id"], "name": "azureml-logs/70_driver_log.txt", "offset": 0, "text": "epoch 1\n"}
            ),
            Event("end", 5, {}),
        ]
        said = cli("run", "train.py")
        assert said.out == "epoch 1\n"
        assert "Resolving 2 requirements\n" in said.err
        assert "\x1b" not in said.err
        assert "resolving 2 requirements, 0 s" in cli("run", "train.py", columns=100).err
