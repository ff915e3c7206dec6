"""`rookery user`, `token`, `login`, `logout` and `audit`, by the real program against a real `rookery server`."""

from __future__ import annotations

import json
import os
import re
import stat

import pytest

from tests.cli.program import Program
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

PASSWORD = "a long and good one"


class Team:
    """The machine of the server (`here`: its owner's account), and people elsewhere who have logged in."""

    def __init__(self, folder, here, url):
        self.folder, self.here, self.url = folder, here, url

    def person(self, name, **variables):
        return Program(self.folder / f"{name}'s folder", self.folder / f"home of {name}", **variables)

    def logged_in(self, name):
        person = self.person(name)
        person("login", self.url, "--user", name, "--password-stdin", given=PASSWORD + "\n")
        return person


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    folder = tmp_path_factory.mktemp("te am")
    here = Program(folder / "co'op", folder / "home")
    here("init", "--name", "coop")
    with here.server() as url:
        for name, role in (("ann", "owner"), ("bob", "contributor"), ("cleo", "reader")):
            here("user", "add", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
        yield Team(folder, here, url)
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def people(team):
    return {name: team.logged_in(name) for name in ("ann", "bob", "cleo")}


class TestUser:
    def test_add_list_role_remove(self, team):
        here = team.here
        assert here("user", "add", "dan").stdout == "Added dan as contributor, without a password\n"
        made = here.json("user", "add", "Eve", "--role", "reader", "--no-password", "--token")
        assert (made["name"], made["role"], made["has_password"]) == ("Eve", "reader", False)
        assert made["token"].startswith("rku_")
        assert made["expires_utc"] > "2026"
        listed = here("user", "list").stdout.splitlines()
        assert re.match(r"NAME +ROLE +PASSWORD +TOKENS", listed[0])
        assert [line.split()[:4] for line in listed[1:] if line.startswith(("dan", "Eve"))] == [
            ["Eve", "reader", "no", "1"],
            ["dan", "contributor", "no", "0"],
        ]
        assert {u["name"] for u in here.json("user", "list")["users"]} >= {"dan", "Eve", "ann"}
        assert here("user", "role", "dan", "reader").stdout == "dan is reader now\n"
        assert here.json("user", "role", "dan", "owner")["role"] == "owner"
        assert here.json("user", "remove", "eve") == {"removed": "eve"}
        assert here("user", "remove", "dan").stdout == "Removed dan; their tokens and sessions have ended.\n"
        assert not {u["name"] for u in here.json("user", "list")["users"]} & {"dan", "Eve"}

    def test_a_token_is_alone_on_stdout(self, team):
        done = team.here("user", "add", "fay", "--token")
        assert re.fullmatch(r"rku_\S{43}\n", done.stdout)
        assert "shown this once" in done.stderr
        team.here("user", "remove", "fay")

    @pytest.mark.parametrize(
        ("words", "said", "code"),
        [
            (("add", "ann"), "exists already", "conflict"),
            (("add", "two words"), "cannot be a user's name", "user_error"),
            (("add", "owner"), "cannot be a user's name", "user_error"),
            (("add", "gus", "--role", "king"), "Known: reader, contributor, owner", "user_error"),
            (("role", "ann", "contributer"), "Known: reader, contributor, owner", "user_error"),
            (("role", "nobody-there", "owner"), "`rookery user list` shows all", "not_found"),
            (("remove", "nobody-there"), "`rookery user list` shows all", "not_found"),
            (("remove", "../../workspace"), "does not exist", "not_found"),
        ],
    )
    def test_what_cannot_be_is_said(self, team, words, said, code):
        message, found = team.here.fails("user", *words)
        assert said in message
        assert found == code

    def test_passwords(self, team):
        assert "8 to 1024" in team.here.fails("user", "add", "hal", "--password-stdin", given="short\n")[0]
        assert "--password-stdin" in team.here("user", "password", "ann", code=2).stderr
        assert "8 to 1024" in team.here.fails("user", "password", "cleo", "--password-stdin", given="short\n")[0]
        done = team.here("user", "password", "cleo", "--password-stdin", given=PASSWORD + "\n")
        assert PASSWORD not in done.stdout + done.stderr
        assert "hal" not in team.here("user", "list").stdout

    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            (("user", "romove", "ann"), "remove"),
            (("usr", "list"), "user"),
            (("users", "list"), "user"),
            (("token", "lst"), "list"),
        ],
    )
    def test_typos_get_a_suggestion(self, team, words, meant):
        said = team.here(*words, code=2).stderr
        assert "Did you mean" in said
        assert f"'{meant}'" in said

    def test_without_a_verb_it_says_which_there_are(self, team):
        assert "password" in team.here("user", code=2).stderr


class TestLogin:
    def test_keeps_a_token_and_leads_here(self, team):
        ida = team.person("ida")
        team.here("user", "add", "ida", "--password-stdin", given=PASSWORD + "\n")
        said = ida("login", team.url, "--user", "ida", "--password-stdin", given=PASSWORD + "\n").stdout
        assert said.splitlines()[0] == f"Logged in to {team.url} as ida (contributor)"
        kept = os.path.join(ida.env["ROOKERY_HOME"], "tokens.json")
        assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
        with open(kept) as f:
            assert list(json.load(f)) == [team.url]
        config = json.loads((ida.folder / ".azureml" / "config.json").read_text())
        assert config["workspace_name"] == "coop"
        assert config["rookery"] == {"format": 1, "url": team.url}
        assert ida.json("ps")["runs"] == []
        assert team.url in ida("logout", team.url).stdout
        assert ida.fails("ps")[1] == "authentication"

    def test_json(self, team):
        jo = team.person("jo")
        given = {"given": PASSWORD + "\n"}
        answer = jo.json("login", team.url + "/", "--user", "cleo", "--password-stdin", "--no-config", **given)
        assert (answer["url"], answer["name"], answer["role"], answer["config"]) == (team.url, "cleo", "reader", None)
        assert not (jo.folder / ".azureml").exists()
        assert jo.json("logout", team.url)["url"] == team.url

    def test_with_a_token(self, team):
        token = team.here.json("token", "create", "--user", "bob")["token"]
        kim = team.person("kim")
        assert kim.json("login", team.url, "--token", given=token + "\n")["name"] == "bob"
        assert kim.json("ps")["runs"] == []
        assert team.person("lou").fails("login", team.url, "--token", given="rku_nonsense\n")[1] == "authentication"

    def test_what_is_wrong_is_said(self, team):
        mia = team.person("mia")
        wrong = mia.fails("login", team.url, "--user", "bob", "--password-stdin", given="wrong one\n")
        assert wrong == ("The name or the password is wrong.", "authentication")
        assert "--password-stdin" in mia.fails("login", team.url, "--user", "bob")[0]
        assert "--user NAME" in mia.fails("login", team.url)[0]
        away = mia.fails("login", "http://127.0.0.1:9", "--user", "bob", "--password-stdin", given=PASSWORD)
        assert away[1] == "keeper_unavailable"
        assert not (mia.folder / ".azureml").exists()
        assert not os.path.exists(os.path.join(mia.env["ROOKERY_HOME"], "tokens.json"))

    def test_another_workspace_s_config_is_left_alone(self, team):
        ned = team.person("ned")
        ned("init", "--name", "nest")
        before = (ned.folder / ".azureml" / "config.json").read_text()
        done = ned("login", team.url, "--user", "bob", "--password-stdin", given=PASSWORD + "\n")
        assert "leads elsewhere and stays" in done.stderr
        assert (ned.folder / ".azureml" / "config.json").read_text() == before


class TestToken:
    def test_create_list_revoke(self, team, people):
        bob = people["bob"]
        made = bob.json("token", "create", "--name", "build machine", "--days", "2")
        assert (made["user"], made["name"]) == ("bob", "build machine")
        plain = bob("token", "create", "--name", "second")
        assert re.fullmatch(r"rku_\S{43}\n", plain.stdout)
        assert "shown this once" in plain.stderr
        listed = bob.json("token", "list")["tokens"]
        assert {t["user"] for t in listed} == {"bob"}
        assert "token" not in listed[0]
        assert "build machine" in bob("token", "list").stdout
        robot = team.person("robot", ROOKERY_TOKEN=made["token"])
        robot("login", team.url, "--token", given=made["token"] + "\n")
        assert robot.json("ps")["runs"] == []
        assert bob("token", "revoke", made["id"]).stdout == f"Revoked {made['id']}\n"
        assert robot.fails("ps")[1] == "authentication"
        second = next(t["id"] for t in listed if t["name"] == "second")
        assert bob.json("token", "revoke", second) == {"revoked": second}

    def test_of_others_is_the_owner_s(self, team, people):
        bob, ann = people["bob"], people["ann"]
        assert bob.fails("token", "create", "--user", "ann")[1] == "authentication"
        assert bob.fails("token", "list", "--user", "ann")[1] == "authentication"
        of_ann = ann.json("token", "list", "--user", "ann")["tokens"][0]["id"]
        assert bob.fails("token", "revoke", of_ann)[1] == "not_found"
        assert ann.json("token", "create", "--user", "bob", "--days", "1")["user"] == "bob"
        assert {t["user"] for t in ann.json("token", "list")["tokens"]} >= {"ann", "bob", "cleo"}

    def test_what_cannot_be_is_said(self, team, people):
        bob = people["bob"]
        assert "`rookery token list`" in bob.fails("token", "revoke", "0123")[0]
        assert "days" in bob.fails("token", "create", "--days", "99999")[0]
        assert "at most" in bob.fails("token", "create", "--days", "0")[0]
        assert team.here.fails("token", "create", "--user", "nobody-there")[1] == "not_found"
        assert "--user NAME" in team.here.fails("token", "create")[0]  # the socket's owner is no user
        assert "number" in team.here("token", "create", "--days", "many", code=2).stderr
        assert team.here.fails("token", "--run", "nope")[1] == "run_not_found"


class TestRights:
    @pytest.mark.parametrize(
        "words",
        [
            ("user", "list"), ("user", "add", "zed"), ("user", "role", "bob", "owner"), ("user", "remove", "ann"), ("audit",),
            ("webhook", "list"), ("webhook", "add", "http://127.0.0.1:9/"), ("gc", "--dry-run"), ("compute", "create", "pool", "--max-nodes", "1"),
        ],
    )  # fmt: skip
    def test_a_contributor_is_told_what_is_missing(self, people, words):
        said = people["bob"](*words, code=1).stderr
        assert "needs the role owner" in said
        assert "rookery user role bob owner" in said

    def test_an_owner_elsewhere_may_all_of_it(self, team, people):
        ann = people["ann"]
        assert "bob" in ann("user", "list").stdout
        assert ann.json("user", "add", "zed")["created_by"] == "ann"
        ann("user", "remove", "zed")
        assert ann.json("gc", "--dry-run")["kinds"]

    def test_a_reader_reads(self, people, tmp_path):
        cleo = people["cleo"]
        assert cleo.json("ps")["runs"] == []
        (cleo.folder / "train.py").write_text("print(1)\n")
        assert "needs the role contributor" in cleo("run", "train.py", code=1).stderr
        answer = json.loads(cleo("run", "--json", "train.py", code=1).stdout)
        assert answer["error"]["code"] == "authentication"

    @pytest.mark.parametrize("words", [("db", "status"), ("db", "backup"), ("db", "upgrade"), ("server",)])
    def test_what_needs_the_workspace_s_folder_says_so(self, people, words):
        assert "is on the server" in people["ann"].fails(*words)[0]

    def test_a_removed_user_is_out_at_once(self, team):
        team.here("user", "add", "oda", "--password-stdin", given=PASSWORD + "\n")
        oda = team.logged_in("oda")
        assert oda.json("ps")["runs"] == []
        team.here("user", "remove", "oda")
        assert oda.fails("ps")[1] == "authentication"


class TestAudit:
    def test_shows_who_did_what(self, team, people):
        people["ann"]("user", "add", "pia")
        people["ann"]("user", "remove", "pia")
        people["bob"].fails("user", "add", "pia")
        entries = people["ann"].json("audit", "--who", "ann")["entries"]
        assert [(e["action"], e["status"]) for e in entries[:2]] == [
            ("DELETE /users/{name}", 200),
            ("POST /users", 201),
        ]
        assert {e["who"] for e in entries} == {"ann"}
        refused = people["ann"].json("audit", "--who", "bob", "-n", "1")["entries"]
        assert [(e["action"], e["status"]) for e in refused] == [("POST /users", 403)]
        lines = team.here("audit", "-n", "3").stdout.splitlines()
        assert lines[0].split()[:4] == ["TIME", "WHO", "STATUS", "ACTION"]
        assert len(lines) == 4

    def test_nobody_s_is_empty_and_a_bad_number_is_refused(self, team):
        assert team.here("audit", "--who", "nobody-there").stdout == "Nothing has been changed yet.\n"
        assert team.here.json("audit", "--who", "nobody-there") == {"entries": []}
        assert "greater" in team.here("audit", "-n", "0", code=2).stderr
