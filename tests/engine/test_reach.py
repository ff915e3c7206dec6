"""A target is looked at from one of its nodes: what is found is said, and kept."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rookery.engine.engines.base import NodeAnswer, NodeInfo
from rookery.engine.reach.check import Surroundings, check_reach
from rookery.engine.reach.probe import read_answer
from rookery.engine.reach.probe_program import MARK
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.protocol import PROTOCOL
from rookery.testing.fake_cluster import FakeCluster
from rookery.testing.fake_engine import FakeEngine

SPEC = ClusterSpec(engine="slurm", max_nodes=0)


class Hello(BaseHTTPRequestHandler):
    skew_s = 0.0

    def do_GET(self):
        told = {"service": "rookery", "protocol": PROTOCOL, "version": "0", "workspace": {"id": "guid", "name": "nest"}}
        body = json.dumps({**told, "time": time.time() + self.skew_s}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def keeper():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class Elsewhere(FakeEngine):
    """Its node sees other things than this machine does."""

    def __init__(self, cluster, **changes):
        super().__init__(cluster)
        self.changes = changes

    def run_on_node(self, program, timeout_s):
        told = read_answer(super().run_on_node(program, timeout_s).output)
        for name, value in self.changes.items():
            told[name] = {**told[name], **value} if isinstance(value, dict) else value
        return NodeAnswer("far-1", 0, "Welcome to far-1\n" + MARK + json.dumps(told) + "\nbye\n")


@pytest.fixture
def cluster():
    found = FakeCluster(2)
    yield found
    found.close()


@pytest.fixture
def around(paths, keeper, tmp_path):
    return Surroundings(paths, "guid", lambda facing: keeper, environments=str(tmp_path))


def by_name(checks):
    return {c.check: c for c in checks}


class TestCheck:
    def test_all_is_well_where_a_node_sees_everything(self, cluster, around, keeper):
        checks, reach = check_reach("far", SPEC, FakeEngine(cluster), around)
        assert [c.check for c in checks][:7] == ["engine", "node", "python", "files", "keeper", "clock", "disk"]
        assert all(c.ok and c.words for c in checks)
        assert (reach.transport, reach.keeper_url) == ("http", keeper)
        assert (reach.shared_files, reach.shared_environments) == (True, True)
        assert not [name for name in os.listdir(around.paths.root) if name.startswith(".reach-")]

    def test_without_shared_files_everything_is_sent(self, cluster, around):
        engine = Elsewhere(cluster, marks={"workspace": "No such file or directory", "environments": "No such file"})
        checks, reach = check_reach("far", SPEC, engine, around)
        assert "files are sent to it" in by_name(checks)["files"].words
        assert (reach.shared_files, reach.shared_environments, reach.transport) == (False, False, "http")

    def test_an_unreachable_keeper_is_named_with_what_to_open(self, cluster, around):
        away = replace(around, open_listener=lambda facing: "http://127.0.0.1:9")
        engine = Elsewhere(cluster, marks={"workspace": "No such file or directory"})
        checks, _ = check_reach("far", SPEC, engine, away)
        found = by_name(checks)["keeper"]
        assert not found.ok
        assert "cannot reach the keeper at http://127.0.0.1:9" in found.words
        assert "Open TCP port 9 of 127.0.0.1" in found.advice
        assert "far-1" in found.advice
        assert "keeper_url" in found.advice

    def test_with_shared_files_the_spool_takes_its_place(self, cluster, around):
        away = replace(around, open_listener=lambda facing: "http://127.0.0.1:9")
        checks, reach = check_reach("far", SPEC, FakeEngine(cluster), away)
        assert by_name(checks)["keeper"].ok
        assert "spool" in by_name(checks)["keeper"].words
        assert reach.transport == "spool"

    def test_a_stranger_at_the_address_is_not_the_keeper(self, cluster, around):
        checks, _ = check_reach(
            "far", SPEC, Elsewhere(cluster, marks={"workspace": "no"}), replace(around, workspace_id="x")
        )
        assert not by_name(checks)["keeper"].ok

    @pytest.mark.parametrize(
        ("changes", "check", "words"),
        [
            ({"python": [3, 6, 8]}, "python", "is Python 3.6.8; the agent needs 3.9"),
            ({"home": {"free_bytes": 1000}}, "disk", "0.0 GB are free"),
            ({"home": {"writable": False}}, "disk", "cannot be written"),
        ],
    )
    def test_says_what_a_node_lacks(self, cluster, around, changes, check, words):
        checks, _ = check_reach("far", SPEC, Elsewhere(cluster, **changes), around)
        found = by_name(checks)[check]
        assert not found.ok
        assert words in found.words
        assert found.advice

    def test_a_wrong_clock_is_said(self, cluster, around, monkeypatch):
        monkeypatch.setattr(Hello, "skew_s", -100.0)
        found = by_name(check_reach("far", SPEC, FakeEngine(cluster), around)[0])["clock"]
        assert not found.ok
        assert re.search(r"(9[0-9]|10[0-9]) s ahead of", found.words)  # the way there and back is not always the same

    def test_what_was_said_is_not_found_out(self, cluster, around):
        said = Reach(keeper_url="http://127.0.0.1:9", transport="http", shared_files=False)
        checks, reach = check_reach("far", replace(SPEC, reach=said), FakeEngine(cluster), around)
        assert not by_name(checks)["keeper"].ok  # it is asked at that address, and nowhere else
        assert reach.shared_files is False

    def test_an_engine_that_does_not_answer_is_the_end_of_it(self, cluster, around):
        cluster.is_away = True
        (found,) = check_reach("far", SPEC, FakeEngine(cluster), around)[0]
        assert (found.check, found.ok) == ("engine", False)
        assert "does not answer" in found.words

    def test_a_cluster_without_a_usable_machine(self, cluster, around):
        for name in list(cluster.machines):
            cluster.kill_node(name)
        engine = FakeEngine(cluster)
        engine.nodes = lambda: [NodeInfo("a", state="down")]
        assert not by_name(check_reach("far", SPEC, engine, around)[0])["engine"].ok


class TestAnswer:
    def test_is_found_among_other_words(self):
        assert read_answer(f"banner\n{MARK}{json.dumps({'a': 1})}\nbye") == {"a": 1}

    @pytest.mark.parametrize("output", ["", "Permission denied", MARK + "{half"])
    def test_that_is_none_is_shown(self, output):
        with pytest.raises(ComputeError, match="gave no answer"):
            read_answer(output)
