"""What is pure: names and ids of definitions, manifests, variables, placeholders in arguments."""

from __future__ import annotations

import pytest

from rookery.data.globs import compile_glob, matches_any
from rookery.errors import PathError, RunConfigError, UserError
from rookery.sdk import OutputFileDatasetConfig, ScriptRunConfig
from rookery.sdk.file_dataset import FileDataset
from rookery.sdk.submission import check_submission
from rookery.sdk.submission_data import placeholder_of, plan_data
from rookery.spec.data import (
    DataInput,
    DataOutput,
    check_inputs,
    check_outputs,
    data_variables,
    input_job,
    output_job,
)
from rookery.spec.data_definition import check_definition, definition_id
from rookery.spec.manifest import Entry, ManifestStore, make_manifest, manifest_from_plain
from rookery.stores import check_store_spec, split_url
from rookery.worker.run_data import InputDatasets, OutputDatasets

FILE = {"kind": "file", "sources": [{"datastore": "s", "path": "a/b"}]}


class TestDefinition:
    def test_the_same_has_one_id(self):
        same = {"sources": [{"path": "/a/./b/", "datastore": "s"}], "kind": "file", "steps": [], "is_file": False}
        assert definition_id(check_definition(same)) == definition_id(check_definition(FILE))
        other = {**FILE, "steps": [{"op": "take", "count": 1}]}
        assert definition_id(check_definition(other)) != definition_id(check_definition(FILE))

    @pytest.mark.parametrize(
        "wrong",
        [
            3, {}, {"kind": "file"}, {**FILE, "kind": "x"}, {**FILE, "colour": 1}, {"kind": "tabular", "sources": FILE["sources"]},
            {**FILE, "steps": [{"op": "rm"}]}, {**FILE, "steps": [{"op": "take", "count": -1}]}, {**FILE, "sources": [{"url": "gopher://x"}]},
            {**FILE, "sources": [{"datastore": "../x", "path": ""}]},
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_said(self, wrong):
        with pytest.raises(UserError):
            check_definition(wrong)

    def test_paths_stay_inside(self):
        with pytest.raises(PathError):
            check_definition({"kind": "file", "sources": [{"datastore": "s", "path": "../x"}]})


class TestManifest:
    def test_the_fingerprint_is_of_the_content_alone(self):
        here = make_manifest([ManifestStore("folder", "a", "/x")], [Entry("p", 1, "k", 0, "", "1")])
        there = make_manifest([ManifestStore("folder", "b", "/y")], [Entry("p", 1, "k", 0, "z/p", "2")])
        assert here.fingerprint == there.fingerprint
        assert here.id != there.id
        assert manifest_from_plain(here.to_plain()) == here


class TestInputsAndOutputs:
    @pytest.mark.parametrize("name", ["PATH", "ROOKERY_X", "1a", "a-b", "", "a b", "LD_PRELOAD", None])
    def test_names_that_are_variables_of_others(self, name):
        with pytest.raises(UserError):
            check_inputs([DataInput(name, "id")])

    def test_twice_the_same_name(self):
        with pytest.raises(RunConfigError, match="'a'"):
            check_inputs([DataInput("a", "1"), DataInput("a", "2")])
        with pytest.raises(RunConfigError, match="'a'"):
            check_outputs([DataOutput("a")], ["a"])

    def test_an_output_stays_on_its_store(self):
        with pytest.raises(PathError):
            check_outputs([DataOutput("a", path="../{run-id}")])

    def test_jobs_and_variables(self):
        given = [DataInput("a", "id-a"), DataInput("b", "id-b", "direct"), DataInput("c", "id-c", is_reference=True)]
        made = [DataOutput("o")]
        assert data_variables(given, made) == {
            "AZUREML_DATASET_ENVIRONMENT_VARS": "a:Mount,b:Direct",
            "AZUREML_DATASET_FILE_OUTPUTS": "o",
        }
        assert input_job(given[1], "m").value == "id-b"
        assert input_job(given[2], "m").variables == ("ROOKERY_INPUT_c", "c", "AZUREML_DATAREFERENCE_c")
        assert output_job(made[0], "r1", "store", "/data/").folder == "/data/dataset/r1/o"
        assert output_job(DataOutput("o", "upload"), "r1", "store", "/data").folder == ""

    def test_what_a_process_finds(self):
        variables = {
            "AZUREML_DATASET_ENVIRONMENT_VARS": "a:Mount,b:Direct",
            "ROOKERY_INPUT_a": "/x y",
            "ROOKERY_INPUT_b": "id",
            "AZUREML_DATASET_FILE_OUTPUTS": "o",
            "ROOKERY_OUTPUT_o": "/o",
        }
        loaded = InputDatasets(variables, load=lambda found: ["loaded", found])
        assert (loaded["a"], loaded["b"], loaded["b"]) == ("/x y", ["loaded", "id"], ["loaded", "id"])
        assert dict(InputDatasets(variables).items()) == {"a": "/x y", "b": "id"}
        assert OutputDatasets(variables) == {"o": "/o"}
        with pytest.raises(UserError, match="Its inputs: a, b"):
            loaded["c"]


class TestSubmission:
    def test_placeholders(self, tmp_path):
        (tmp_path / "a.py").write_text("")
        dataset = FileDataset(FILE)
        given, out = dataset.as_named_input("birds").as_mount(), OutputFileDatasetConfig("out")
        assert (placeholder_of(given), placeholder_of(out)) == ("$ROOKERY_INPUT_birds", "$ROOKERY_OUTPUT_out")
        config = ScriptRunConfig(str(tmp_path), "a.py", arguments=["--d", given, "--o", out])
        check_submission(config)
        plan = plan_data(config)
        assert (list(plan.inputs), list(plan.outputs)) == (["birds"], ["out"])

    def test_a_bare_data_set_is_refused(self, tmp_path):
        (tmp_path / "a.py").write_text("")
        with pytest.raises(UserError, match="as_named_input"):
            check_submission(ScriptRunConfig(str(tmp_path), "a.py", arguments=[FileDataset(FILE)]))

    def test_two_of_one_name(self, tmp_path):
        (tmp_path / "a.py").write_text("")
        one, two = FileDataset(FILE), FileDataset({**FILE, "steps": [{"op": "take", "count": 1}]})
        arguments = [one.as_named_input("x").as_mount(), two.as_named_input("x").as_mount()]
        with pytest.raises(RunConfigError, match="'x'"):
            check_submission(ScriptRunConfig(str(tmp_path), "a.py", arguments=arguments))


class TestGlobs:
    @pytest.mark.parametrize(
        ("pattern", "path", "matches"),
        [
            ("*.png", "a.png", True), ("*.png", "d/a.png", False), ("**/*.png", "a.png", True), ("**/*.png", "d/e/a.png", True),
            ("d/**", "d/e/f", True), ("d/**", "e/f", False), ("?[!0-9].t", "ab.t", True), ("?[!0-9].t", "a1.t", False), ("a+(b).t", "a+(b).t", True),
        ],
    )  # fmt: skip
    def test_matches(self, pattern, path, matches):
        assert bool(compile_glob(pattern).match(path)) == matches

    def test_a_folder_takes_all_below(self):
        assert matches_any("d/e/f", ("d",))
        assert not matches_any("de/f", ("d",))


class TestStores:
    @pytest.mark.parametrize(
        ("kind", "spec", "credentials"),
        [
            ("nfs", {}, None), ("folder", {"folder": "relative"}, None), ("s3", {}, None), ("s3", {"bucket": "b", "colour": 1}, None),
            ("s3", {"bucket": "b"}, {"passwrod": "hush"}), ("http", {"url": "ftp://x"}, None), ("http", {"url": "https://u:hush@h/"}, None),
        ],
    )  # fmt: skip
    def test_what_is_refused_quotes_no_secret(self, kind, spec, credentials):
        with pytest.raises(UserError) as caught:
            check_store_spec(kind, spec, credentials)
        assert "hush" not in str(caught.value)

    def test_urls(self):
        assert split_url("https://h:8/a/b%20c.csv") == ("http", {"url": "https://h:8/a/"}, "b c.csv")
        assert split_url("s3://bucket/a/b") == ("s3", {"bucket": "bucket"}, "a/b")
        for wrong in ("https://u:p@h/x", "https://h/x?sig=1", "s3://k:s@bucket/x", "file://host/x"):
            with pytest.raises(UserError):
                split_url(wrong)
