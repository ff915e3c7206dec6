"""Files: snapshots brought in, ./outputs and ./logs brought out, uploads."""

from __future__ import annotations

import hashlib
import os

import pytest

from rookery.agent.snapshot import materialise
from rookery.errors import SnapshotError
from rookery.spec.snapshot import entry

READS_ALL = "import os; print(open('data/ä b.txt').read(), os.access('run.sh', os.X_OK), os.readlink('link'))"


def stored(keeper, path, data, mode=0o644, link=None):
    sha = hashlib.sha256(data).hexdigest()
    keeper.content[sha] = data
    return entry(path, sha, len(data), mode, link)


class TestSnapshot:
    def test_modes_links_and_odd_names(self, bench):
        keeper = bench.keeper
        keeper.snapshots["s1"] = [
            stored(keeper, "train.py", READS_ALL.encode()),
            stored(keeper, "data/ä b.txt", b"odd"),
            stored(keeper, "run.sh", b"#!/bin/sh\n", 0o755),
            stored(keeper, "link", b"", link="data/ä b.txt"),
            stored(keeper, "evil", b"", link="../../../etc/passwd"),
        ]
        bench.run(bench.job(snapshot_id="s1"))
        assert bench.log() == "odd True data/ä b.txt\n"
        assert any("evil" in w for w in bench.keeper.wait_for("finished", 0)["warnings"])

    def test_content_is_copied_from_the_store_where_it_can_be_read(self, bench):
        root = os.path.join(bench.folder, "content")
        made = stored(bench.keeper, "train.py", b"open('train.py', 'a').write('changed'); print('local')")
        sha = made["sha256"]
        os.makedirs(os.path.join(root, sha[:2]))
        with open(os.path.join(root, sha[:2], sha), "wb") as f:
            f.write(bench.keeper.content.pop(sha))
        bench.keeper.snapshots["s"] = [made]
        bench.run(bench.job(snapshot_id="s", content_root=root))
        assert bench.log() == "local\n"
        with open(os.path.join(root, sha[:2], sha), "rb") as f:
            assert hashlib.sha256(f.read()).hexdigest() == sha, "a script must not change the store"

    @pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\0b"])
    def test_paths_that_leave_the_folder_fail_the_run(self, bench, path):
        class Asked:
            def request(self, method, route):
                return {"entries": [entry(path, "0" * 64, 0, 0o644)]}

        with pytest.raises(SnapshotError, match=r"could not be brought"):
            materialise(Asked(), bench.job(snapshot_id="s"), lambda text: None)  # type: ignore[arg-type]

    def test_missing_content_fails_the_run_with_a_system_error(self, bench):
        bench.keeper.snapshots["s"] = [entry("train.py", "0" * 64, 0, 0o644)]
        outcome = bench.run(bench.job(snapshot_id="s"))
        assert outcome["result"] == "failed"
        assert outcome["cause"]["kind"] == "SystemError"


class TestOutputs:
    def test_links_out_of_the_folder_are_left_out(self, bench):
        script = (
            "import os\nos.makedirs('outputs/deep')\nopen('outputs/deep/a', 'w').write('a')\n"
            "os.symlink('/etc/passwd', 'outputs/passwd')\nos.symlink('/etc', "
            "'outputs/etc')\nos.symlink('deep/a', 'outputs/b')\n"
        )
        bench.run(bench.job(script))
        assert bench.keeper.artifacts[bench.run_id] == {"outputs/deep/a": b"a", "outputs/b": b"a"}
        warnings = bench.keeper.wait_for("finished", 0)["warnings"]
        assert sum("leads out of the folder" in w for w in warnings) == 2

    def test_content_is_sent_once(self, bench):
        bench.run(bench.job("for n in 'abc': open('outputs/' + n, 'w').write('same')"))
        assert len(bench.keeper.artifacts[bench.run_id]) == 3
        assert bench.keeper.uploads == 1

    def test_many_small_files_travel_together(self, bench):
        script = "for n in range(1200): open('outputs/%d' % n, 'w').write(str(n))\nopen('outputs/big', 'w').write('x' * 900000)"
        bench.run(bench.job(script, heartbeat_s=60.0))  # beats are requests too, and come while it takes
        stored = bench.keeper.artifacts[bench.run_id]
        assert {name: data for name, data in stored.items() if name != "outputs/big"} == {
            f"outputs/{n}": str(n).encode() for n in range(1200)
        }
        assert len(stored["outputs/big"]) == 900000
        assert bench.keeper.answered < 60  # not thousands

    def test_one_file_that_is_refused_does_not_take_the_others_with_it(self, bench):
        bench.keeper.refused = "outputs/b"
        bench.run(bench.job("for n in 'abc': open('outputs/' + n, 'w').write(n)"))
        assert bench.keeper.artifacts[bench.run_id] == {"outputs/a": b"a", "outputs/c": b"c"}
        assert any("outputs/b could not be stored" in w for w in bench.keeper.wait_for("finished", 0)["warnings"])

    def test_not_collected_when_not_wanted(self, bench):
        bench.run(bench.job("open('outputs/a', 'w').write('a')", collect_outputs=False))
        assert bench.keeper.artifacts == {}


class TestLogsFolder:
    def test_streamed_while_it_grows(self, bench):
        script = (
            "import os, time\nos.makedirs('logs/tb')\nf = open('logs/tb/events', 'w', "
            "buffering=1)\nf.write('one\\n')\n"
            "while not os.path.exists('../go'): time.sleep(0.01)\nf.write('two\\n')"
        )
        agent = bench.start(bench.job(script))
        bench.keeper.wait_until(lambda: bytes(bench.keeper.logs.get("logs/tb/events", b"")) == b"one\n")
        with open(os.path.join(bench.paths.work_parent, "go"), "w"):
            pass
        assert agent.wait(90) == 0
        assert bench.keeper.log("logs/tb/events") == b"one\ntwo\n"
        assert bench.keeper.artifacts == {}

    def test_rewritten_file_is_stored_whole_at_the_end(self, bench):
        script = (
            "import os, time\nopen('logs/state.json', 'w').write('first version, long')\n"
            "while not os.path.exists('../go'): time.sleep(0.01)\nopen('logs/state.json', "
            "'w').write('second')"
        )
        agent = bench.start(bench.job(script))
        bench.keeper.wait_until(lambda: bytes(bench.keeper.logs.get("logs/state.json", b"")) == b"first version, long")
        with open(os.path.join(bench.paths.work_parent, "go"), "w"):
            pass
        assert agent.wait(90) == 0
        assert bench.keeper.artifacts[bench.run_id] == {"logs/state.json": b"second"}


class TestUploads:
    def test_bytes_are_those_at_the_time_of_the_call(self, bench):
        script = (
            "import io, os\nfrom rookery.worker import Run\nrun = Run.get_context(False)\n"
            "open('a', 'w').write('before'); run.upload_file('a', 'a'); open('a', 'w').write('after')\n"
            "run.upload_file('s', io.BytesIO(b'stream'))\n"
            "child = run.child_run('kid'); child.upload_file('c', 'a')\n"
            "run.flush(); print(sorted(run.get_file_names()), "
            "os.listdir(os.environ['ROOKERY_UPLOADS_DIR']))\n"
            "run.download_file('a', 'back'); print(open('back').read())\n"
        )
        bench.run(bench.job(script))
        lines = bench.log().splitlines()
        assert lines == ["['a', 'azureml-logs/70_driver_log.txt', 's'] []", "before"] or lines == [
            "['a', 's'] []",
            "before",
        ]
        child = next(r["id"] for r in bench.keeper.runs.values() if r["kind"] == "child")
        assert bench.keeper.artifacts[child] == {"c": b"after"}
