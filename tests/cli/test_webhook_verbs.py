"""`rookery webhook …`, by the real program, with a real receiver."""

from __future__ import annotations

import json
import time

import pytest

from tests.cli.program import TIMEOUT_S, Program
from tests.conftest import stop_keepers
from tests.server.test_webhooks import Receiver

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def coop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("we b")
    program = Program(folder / "co'op", folder / "home", ROOKERY_WEBHOOK_RETRY_S="0.05")
    program("init", "--name", "coop")
    (program.folder / "train.py").write_text("print('hello')\n")
    yield program
    stop_keepers(str(folder))


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.stop()


def wait_for(receiver, event):
    deadline = time.monotonic() + TIMEOUT_S
    while event not in receiver.events():
        assert time.monotonic() < deadline, receiver.events()
        time.sleep(0.05)


def deliveries(coop, webhook, state, tries=1):
    """Once the newest is in that state: a receiver has it a moment before the keeper knows."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        found = coop.json("webhook", "deliveries", webhook)["deliveries"]
        if found and found[0]["state"] == state and found[0]["tries"] >= tries:
            return found
        assert time.monotonic() < deadline, found


class TestWebhook:
    def test_from_add_to_remove(self, coop, receiver):
        made = coop.json("webhook", "add", receiver.url, "--events", "run.completed, model.registered")
        assert made["events"] == ["run.completed", "model.registered"]
        assert made["secret"]
        listed = coop.json("webhook", "list")["webhooks"]
        assert [w["id"] for w in listed] == [made["id"]]
        assert "secret" not in listed[0]
        assert receiver.url in coop("webhook", "list").stdout
        assert coop("webhook", "ping", made["id"]).stdout.startswith("Delivery ")
        wait_for(receiver, "ping")
        coop("run", "train.py")
        wait_for(receiver, "run.completed")
        sent = deliveries(coop, made["id"], "delivered")
        assert [d["event"] for d in sent] == ["run.completed", "ping"]
        shown = coop("webhook", "deliveries", made["id"], "-n", "1").stdout.splitlines()
        assert shown[0].split()[:4] == ["ID", "EVENT", "STATE", "TRIES"]
        assert shown[1].split()[1:4] == ["run.completed", "delivered", "1"]
        assert len(shown) == 2
        before = len(receiver.came)
        coop("webhook", "deliveries", made["id"], "--again", str(sent[1]["id"]))
        deadline = time.monotonic() + TIMEOUT_S
        while len(receiver.came) == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert json.loads(receiver.came[-1][1])["event"] == "ping"
        assert coop("webhook", "remove", made["id"]).stdout == f"Removed {made['id']}\n"
        assert coop.json("webhook", "list") == {"webhooks": []}
        assert coop("webhook", "list").stdout == "No webhooks.\n"

    def test_a_secret_is_alone_on_stdout(self, coop):
        done = coop("webhook", "add", "http://127.0.0.1:9/")
        assert done.stdout.count("\n") == 1
        assert "shown this once" in done.stderr
        made = coop.json("webhook", "list")["webhooks"][0]
        assert made["events"] == ["run.completed", "run.failed", "run.canceled"]
        assert coop.json("webhook", "remove", made["id"]) == {"removed": made["id"]}

    def test_nobody_there_is_tried_again_and_shown(self, coop):
        made = coop.json("webhook", "add", "http://127.0.0.1:9/", "--events", "run.failed")
        assert coop.json("webhook", "ping", made["id"])["id"]
        found = deliveries(coop, made["id"], "waiting", tries=2)
        assert "refused" in found[0]["error"]
        coop("webhook", "remove", made["id"])

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("add", "ftp://host/x"), "https://host/path"),
            (("add", "http://127.0.0.1:9/", "--events", "run.oops"), "Known: run.queued"),
            (("add", "http://127.0.0.1:9/", "--events", ","), "Known: run.queued"),
            (("ping", "0123"), "`rookery webhook list` shows all"),
            (("remove", "0123"), "`rookery webhook list` shows all"),
            (("deliveries", "0123"), "`rookery webhook list` shows all"),
        ],
    )
    def test_what_cannot_be_is_said(self, coop, words, said):
        assert said in coop.fails("webhook", *words)[0]

    def test_typos_get_a_suggestion(self, coop):
        assert "'deliveries'" in coop("webhook", "delivery", "x", code=2).stderr
        assert "'webhook'" in coop("webhooks", "list", code=2).stderr
        assert "deliveries" in coop("webhook", code=2).stderr
