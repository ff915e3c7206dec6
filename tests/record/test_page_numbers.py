"""The small sums and samples that pages show; on both databases."""

from __future__ import annotations

import hashlib
import io

from rookery.record.run_table import ARCHIVED_TAG, RunQuery
from rookery.spec.status import RunStatus


class TestPageNumbers:
    def test_sums_of_a_run_and_of_the_workspace(self, record, make_run):
        make_run()
        make_run("kid", kind="child", parent_id="run-1")
        assert record.artifacts.totals("run-1") == {"files": 0, "bytes": 0}
        sha256, _ = record.content.put(io.BytesIO(b"hello"))
        record.artifacts.link("run-1", "outputs/a", sha256)
        record.artifacts.link("run-1", "outputs/b", sha256)
        record.logs.append("run-1", "user_logs/std_log.txt", 0, b"one\n")
        assert record.artifacts.totals("run-1") == {"files": 2, "bytes": 10}
        assert record.numbers.stored_bytes() == {"content_bytes": 5, "log_bytes": 4}
        assert sum(record.table.children_by_status("run-1").values()) == 1

    def test_runs_of_experiments_as_their_pages_show_them(self, record, make_run):
        for name in ("one", "two", "put-away", "thrown-away"):
            make_run(name)
        make_run("kid", kind="child", parent_id="one")
        make_run("elsewhere", experiment="hens")
        record.runs.change("put-away", tags={ARCHIVED_TAG: "true"})
        record.runs.advance("thrown-away", status=RunStatus.CANCELED)
        record.external.delete("thrown-away")
        counts = record.numbers.runs_by_experiment()
        found = {one["name"]: counts[one["id"]] for one in record.experiments.list()}
        assert found == {"birds": (2, 1), "hens": (1, 0)}
        assert record.table.total(RunQuery(experiments=("birds",))) == found["birds"][0]

    def test_a_snapshot_in_brief(self, record):
        sha256, size = record.content.put(io.BytesIO(b"print(1)"))
        made = record.snapshots.create([{"path": "a.py", "sha256": sha256, "size": size, "mode": 0o644, "link": None}])
        assert record.snapshots.summary(made["id"]) == {"id": made["id"], "files": 1, "bytes": 8}
        assert record.snapshots.summary("nothing") is None

    def test_models_by_name(self, record, make_run):
        make_run()
        sha256, size = record.content.put(io.BytesIO(b"weights"))
        assert sha256 == hashlib.sha256(b"weights").hexdigest()
        for name in ("hen", "fox", "hen"):
            entries = [{"path": "net.pt", "sha256": sha256, "size": size}]
            record.models.register({"name": name, "entries": entries, "description": f"a {name}"}, "owner")
        found = record.model_names.overview(10)
        assert [(one["description"], one["latest"]["description"]) for one in found] == [("", "a hen"), ("", "a fox")]
        assert [(one["name"], one["versions"], one["latest"]["version"]) for one in found] == [
            ("hen", 2, 2),
            ("fox", 1, 1),
        ]
        assert len(record.model_names.overview(1)) == 1

    def test_a_million_samples_are_few(self, record, make_run):
        make_run()
        for i in range(60):
            record.samples.add(
                "run-1", i % 2, [{"time": float(i), "cpu_percent": 1.0}, {"time": i + 0.5, "cpu_percent": 2.0}]
            )
        found = record.samples.some("run-1", 10)
        assert len(found) == 2 * 10 * 2
        assert {sample["node"] for sample in found} == {0, 1}
        assert [sample["time"] for sample in found] == sorted(sample["time"] for sample in found)
        assert found[-1]["time"] == 59.5
        assert record.samples.some("run-1", 1000) == record.samples.get("run-1")
