"""Errors by number, error_info.json, and the command line in a run and outside of one."""

from __future__ import annotations

import errno
import json
import pickle

import pytest

from rookery_vision import errors
from rookery_vision.__main__ import main
from rookery_vision.declare.statistics import error_info, translate
from tests.vision.pictures import read_json


class TestErrors:
    @pytest.mark.parametrize(
        ("error_id", "number"),
        [
            ("ParameterParsing", 2), ("NullOrEmpty", 3), ("InvalidDataset", 18), ("NotLabeledDataset", 24), ("NotScoredDataset", 25),
            ("LearnerTypesNotCompatible", 62), ("TimeoutOccured", 72), ("InvalidZipFile", 102), ("ImageExceedsLimit", 127),
            ("ModuleOutOfMemory", 138), ("InvalidTransformationDirectory", 158), ("InvalidModelDirectory", 159),
            ("FailedToDownloadFiles", 162), ("LibraryException", 1000), ("UserError", 2000), ("FailedJoinOperation", 161), ("NaN", 32),
        ],
    )  # fmt: skip
    def test_have_their_documented_numbers(self, error_id, number):
        cls = errors.by_id(error_id)
        assert (cls.number, cls.__name__) == (number, error_id + "Error")

    def test_are_all_different_and_pickle(self):
        found = errors.all_errors()
        assert len({cls.number for cls in found.values()}) == len(found)
        assert len(found) >= 90
        for cls in found.values():
            again = pickle.loads(pickle.dumps(cls("what")))
            assert type(again) is cls
            assert str(again) == "what"


class TestErrorInfo:
    def test_without_an_error(self):
        assert json.loads(error_info(None)) == {"Exception": None}

    def test_of_a_module(self):
        info = json.loads(error_info(errors.InvalidDatasetError("no pictures")))["Exception"]
        assert info["ErrorId"] == "InvalidDataset"
        assert info["ErrorCode"] == "0018"
        assert info["ExceptionType"] == "ModuleException"
        assert info["Message"] == "InvalidDataset: no pictures"

    def test_of_anything_else(self):
        try:
            _ = {}["nothing"]
        except KeyError as error:
            info = json.loads(error_info(error))["Exception"]
        assert (info["ErrorCode"], info["ExceptionType"]) == ("1000", "LibraryException")
        assert info["Message"].startswith("Library Error - KeyError:")
        assert "test_of_anything_else" in info["Traceback"]

    @pytest.mark.parametrize("text", ["x" * 50_000, 'quote" and \\ ' * 5000, "ünï" * 9000, "\x00" * 3000])
    def test_is_never_longer_than_documented(self, text):
        content = error_info(ValueError(text))
        assert len(content) <= 9000
        assert len(json.loads(content)["Exception"]["Message"]) <= 4096


class TestTranslate:
    @pytest.mark.parametrize(
        ("error", "number"),
        [
            (MemoryError(), 138),
            (OSError(errno.ENOSPC, "No space left on device"), 138),
            (OSError(errno.EROFS, "Read-only file system"), 160),
            (RuntimeError("[enforce fail] can't allocate memory: you tried to allocate 8 bytes"), 138),
            (RuntimeError("Timed out waiting 600000ms for recv operation to complete"), 72),
        ],
    )
    def test_means_a_documented_one(self, error, number):
        assert translate(error).number == number

    def test_leaves_the_others(self):
        error = ValueError("x")
        assert translate(error) is error


class TestCommandLine:
    def test_lists_modules(self, capsys):
        assert main([]) == 0
        assert "split_image_directory" in capsys.readouterr().out

    def test_an_unknown_module(self, capsys):
        assert main(["resnets"]) == 2
        assert "Did you mean resnet?" in capsys.readouterr().err

    def test_outside_of_a_run(self, tmp_path, capsys):
        words = ["split_image_directory", "--input-image-directory", str(tmp_path), "--statistics", str(tmp_path / "s")]
        words += ["--output-image-directory1", str(tmp_path / "a"), "--output-image-directory2", str(tmp_path / "b")]
        assert main(words) == 1
        assert capsys.readouterr().err.startswith("Error 0018 InvalidDataset: ")
        info = read_json(str(tmp_path), "s", "module_statistics", "error_info.json")
        assert info["Exception"]["ErrorCode"] == "0018"

    def test_in_a_run_the_exception_is_raised_once_it_is_stored(self, tmp_path, in_a_run):
        words = ["split_image_directory", f"--input-image-directory={tmp_path}", "--fraction=0.5"]
        words += [f"--output-image-directory1={tmp_path}/a", f"--output-image-directory2={tmp_path}/b"]
        with pytest.raises(errors.InvalidDatasetError):
            main(words)
        stored = read_json(in_a_run.uploads()["module_statistics/error_info.json"])
        assert stored["Exception"]["ErrorId"] == "InvalidDataset"

    def test_in_a_run_that_goes_well(self, tmp_path, in_a_run, capsys):
        assert main(["init_image_transformation", f"--output-image-transformation={tmp_path}/t"]) == 0
        assert read_json(in_a_run.uploads()["module_statistics/error_info.json"]) == {"Exception": None}
        assert "Output image transformation: " in capsys.readouterr().out
