"""Keys and the words of what differs."""

from __future__ import annotations

import dataclasses

from rookery.pipeline.reuse import explain, key_parts, reuse_key, shorten
from rookery.spec.run import EnvironmentSpec, RunSpec

SPEC = RunSpec(
    "step", "birds", script="train.py", snapshot_id="a" * 64, arguments=("--build_id", "7", "--fast"),
    environment=EnvironmentSpec(python="python"), variables={"SEED": "1"},
)  # fmt: skip
FILES = {
    "a" * 64: [{"path": "train.py", "sha256": "1", "link": None}, {"path": "old.py", "sha256": "2", "link": None}],
    "b" * 64: [{"path": "train.py", "sha256": "9", "link": None}, {"path": "new.py", "sha256": "2", "link": None}],
}


def parts(spec=SPEC, parameters=None, inputs=None, files=None, code=None):
    return key_parts(
        spec, code or {"kind": "script"}, parameters or {}, inputs or {"data": "f1"}, files, FILES.__getitem__
    )


def differ(**changes):
    return explain(parts(), parts(dataclasses.replace(SPEC, **changes)), FILES.__getitem__)


class TestKey:
    def test_equal_parts_equal_key(self):
        assert reuse_key(parts()) == reuse_key(
            parts(dataclasses.replace(SPEC, run_id="other", compute="pool", display_name="x"))
        )

    def test_anything_that_matters_is_another(self):
        keys = {
            reuse_key(parts()),
            reuse_key(parts(dataclasses.replace(SPEC, arguments=()))),
            reuse_key(parts(dataclasses.replace(SPEC, snapshot_id="b" * 64))),
            reuse_key(parts(dataclasses.replace(SPEC, variables={}))),
            reuse_key(parts(dataclasses.replace(SPEC, node_count=2))),
            reuse_key(parts(inputs={"data": "f2"})),
            reuse_key(parts(parameters={"rate": 1})),
            reuse_key(parts(code={"module": "m", "code": "1"})),
        }
        assert len(keys) == 8

    def test_only_the_files_that_are_named_count(self):
        new = dataclasses.replace(SPEC, snapshot_id="b" * 64)
        assert reuse_key(parts(files=["old.py"])) != reuse_key(parts(new, files=["old.py"]))
        assert reuse_key(parts(files=["nothing/"])) == reuse_key(parts(new, files=["nothing/"]))


class TestWords:
    def test_the_same(self):
        assert explain(parts(), parts()) == []

    def test_files(self):
        assert differ(snapshot_id="b" * 64) == ["new.py is new", "old.py is gone", "train.py changed"]
        gone = parts(dataclasses.replace(SPEC, snapshot_id="c" * 64))
        assert explain(parts(), gone, FILES.__getitem__) == ["its source folder changed"]

    def test_arguments_by_name(self):
        assert differ(arguments=("--build_id", "8", "--fast")) == ["argument build_id was '7', is '8'"]
        assert differ(arguments=("--build_id=7",)) == ["argument fast is not given any more (was True)"]
        assert differ(arguments=("by", "place")) == ["its arguments differ"]

    def test_the_rest(self):
        assert differ(variables={"SEED": "2"}) == ["variable SEED was '1', is '2'"]
        assert differ(node_count=2) == ["nodes was 1, is 2"]
        assert differ(environment=EnvironmentSpec(python="python", conda={"a": 1})) == ["environment conda differs"]
        assert explain(parts(), parts(inputs={"data": "f2", "more": "x"})) == [
            "input data holds something else",
            "input more is new",
        ]
        module = parts(code={"module": "m", "code": "1"})
        assert explain(module, parts(code={"module": "m", "code": "2"})) == ["the code of m changed"]
        assert explain(parts(parameters={"rate": 0.1}), parts(parameters={"rate": 0.2})) == ["rate was 0.1, is 0.2"]

    def test_many_are_counted(self):
        assert shorten(["a", "b", "c", "d", "e", "f"]) == "a; b; c; d; 2 more"
