import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.errors import PathError, UserError
from rookery.spec.names import (
    check_artifact_name,
    check_compute_name,
    check_experiment_name,
    check_model_name,
    check_run_id,
    check_workspace_name,
    copy_name,
    name_of_original,
    new_run_id,
)


class TestArtifactName:
    @pytest.mark.parametrize(
        "name", ["outputs/model.pt", "a", "ü/日本.txt", "logs/a b'\".txt", "..a/b..", "a/...", "x" * 255]
    )
    def test_keeps_a_plain_relative_path(self, name):
        assert check_artifact_name(name) == name

    @pytest.mark.parametrize(
        ("given_name", "plain"), [("./outputs//a/./b", "outputs/a/b"), ("a\\b", "a/b"), ("a/", "a")]
    )
    def test_brings_other_spellings_to_the_plain_form(self, given_name, plain):
        assert check_artifact_name(given_name) == plain

    @pytest.mark.parametrize(
        "name",
        [
            "../x",
            "a/../b",
            "a/..",
            "..",
            "/etc/passwd",
            "\\x",
            "C:/x",
            "C:\\x",
            "a\0b",
            "a\nb",
            "",
            ".",
            "./",
            "x" * 5000,
            "a/" * 2500 + "b",
            "y" * 256,
            "\ud800",
            None,
            3,
            b"x",
        ],
    )
    def test_refuses_what_leaves_the_folder_or_is_no_path(self, name):
        with pytest.raises(PathError):
            check_artifact_name(name)

    @given(st.text(max_size=40))
    def test_whatever_passes_stays_inside(self, name):
        try:
            plain = check_artifact_name(name)
        except PathError:
            return
        assert not plain.startswith("/")
        assert all(part not in ("", ".", "..") for part in plain.split("/"))
        assert check_artifact_name(plain) == plain


class TestOtherNames:
    def test_accepts_what_v1_accepted(self):
        check_experiment_name("Tutorial-pytorch-birds_2")
        check_model_name("pytorch-birds.v1_x")
        check_compute_name("gpu-cluster")
        check_workspace_name("ws")
        assert check_run_id(new_run_id("exp")).startswith("exp_")

    @pytest.mark.parametrize(
        ("check", "name"),
        [
            (check_experiment_name, "-x"),
            (check_experiment_name, "a b"),
            (check_experiment_name, "x" * 256),
            (check_experiment_name, "a\n"),
            (check_experiment_name, None),
            (check_model_name, "a/b"),
            (check_model_name, ""),
            (check_compute_name, "local"),
            (check_compute_name, "AmlCompute"),
            (check_compute_name, "1a"),
            (check_compute_name, "a-"),
            (check_workspace_name, "a"),
            (check_workspace_name, "x" * 33),
            (check_run_id, "a/b"),
            (check_run_id, ".."),
        ],
    )
    def test_refuses_the_rest_and_says_the_rule(self, check, name):
        with pytest.raises(UserError, match=r"\. |reserved"):
            check(name)


class TestCopyName:
    @pytest.mark.parametrize(
        ("name", "taken", "expected"),
        [
            ("birds", [], "birds (copy)"),
            ("birds", ["birds (copy)", "birds (copy 2)"], "birds (copy 3)"),
            ("birds (copy)", [], "birds (copy 2)"),
            ("birds (copy 2)", ["birds (copy 3)"], "birds (copy 4)"),
            ("birds (copy) (copy)", [], "birds (copy 2)"),
            ("(copy)", [], "(copy) (copy)"),  # that is its name
            ("x" * 255, [], "x" * 248 + " (copy)"),
        ],
    )
    def test_counts_on_and_is_never_a_copy_of_a_copy(self, name, taken, expected):
        assert copy_name(name, taken) == expected

    def test_and_the_way_back(self):
        assert [name_of_original(each) for each in ("birds", "birds (copy)", "birds (copy 12)")] == ["birds"] * 3
