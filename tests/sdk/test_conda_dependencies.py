from __future__ import annotations

import pytest

from rookery.errors import UserError
from rookery.sdk.conda_dependencies import CondaDependencies


class TestDefault:
    def test_starts_from_the_documented_file(self):
        assert CondaDependencies().as_dict() == {
            "channels": ["anaconda", "conda-forge"],
            "dependencies": ["python=3.8.13", {"pip": ["azureml-defaults"]}],
            "name": "project_environment",
        }

    def test_two_do_not_share_lists(self):
        CondaDependencies().add_pip_package("torch")
        assert list(CondaDependencies().pip_packages) == ["azureml-defaults"]


class TestCreate:
    def test_takes_packages_and_a_python(self):
        made = CondaDependencies.create(
            pip_packages=["torch==1.6.0"], conda_packages=["pip=20"], python_version="3.6.2"
        )
        assert made.get_python_version() == "3.6.2"
        assert list(made.conda_packages) == ["python=3.6.2", "pip=20"]
        assert list(made.pip_packages) == ["torch==1.6.0"]

    def test_without_pip_packages_has_the_sdk(self):
        made = CondaDependencies.create()
        assert list(made.pip_packages) == ["azureml-defaults"]
        assert made.get_python_version() == "3.10.18"

    def test_an_index_is_an_option(self):
        made = CondaDependencies.create(pip_indexurl="https://a/simple")
        made.set_pip_index_url("https://b/simple")
        assert list(made.pip_options) == ["--index-url https://b/simple"]
        assert list(made.pip_packages) == ["azureml-defaults"]

    @pytest.mark.parametrize("wrong", ["torch", [1]])
    def test_refuses_what_is_no_list_of_strings(self, wrong):
        with pytest.raises(UserError, match="pip_packages"):
            CondaDependencies.create(pip_packages=wrong)


class TestEdit:
    @pytest.mark.parametrize("again", ["torch==1.7", "Torch>=1", "torch[gpu]", "torch"])
    def test_adding_a_package_again_replaces_it(self, again):
        made = CondaDependencies()
        made.add_pip_package("torch==1.6")
        made.add_pip_package(again)
        assert list(made.pip_packages) == ["azureml-defaults", again]

    def test_names_that_only_begin_alike_are_different(self):
        made = CondaDependencies()
        made.add_pip_package("torch")
        made.add_pip_package("torchvision")
        made.remove_pip_package("torch")
        assert list(made.pip_packages) == ["azureml-defaults", "torchvision"]

    def test_conda_packages_stay_before_the_pip_section(self):
        made = CondaDependencies()
        made.add_conda_package("conda-forge::numpy=1.20")
        made.add_conda_package("numpy")
        assert made.as_dict()["dependencies"] == ["python=3.8.13", "numpy", {"pip": ["azureml-defaults"]}]
        made.remove_conda_package("numpy=1.20")
        assert list(made.conda_packages) == ["python=3.8.13"]

    def test_python_can_be_set_with_an_operator_and_removed(self):
        made = CondaDependencies()
        made.set_python_version(">=3.9")
        assert list(made.conda_packages) == ["python>=3.9"]
        made.set_python_version(None)
        assert made.get_python_version() is None

    def test_pip_options_are_not_packages(self):
        made = CondaDependencies()
        made.set_pip_option("--extra-index-url https://x")
        made.set_pip_option("--pre")
        made.remove_pip_option("--extra-index-url")
        assert list(made.pip_options) == ["--pre"]

    def test_adding_to_a_file_without_pip_makes_the_section(self):
        made = CondaDependencies(_underlying_structure={"dependencies": ["python=3.9"]})
        assert list(made.pip_packages) == []
        made.add_pip_package("torch")
        assert made.as_dict() == {"dependencies": ["python=3.9", {"pip": ["torch"]}]}

    def test_channels(self):
        made = CondaDependencies()
        made.add_channel("pytorch")
        made.add_channel("pytorch")
        made.remove_channel("anaconda")
        assert list(made.conda_channels) == ["conda-forge", "pytorch"]

    def test_frameworks(self):
        made = CondaDependencies()
        made.add_tensorflow_pip_package("gpu", "2.3.0")
        made.add_tensorflow_conda_package()
        assert "tensorflow-gpu==2.3.0" in made.pip_packages
        assert "tensorflow=2.2.0" in made.conda_packages
        with pytest.raises(UserError, match="Known: cpu, gpu"):
            made.add_cntk_package("tpu")

    def test_merge_requirements_joins_specifiers(self):
        merged = CondaDependencies.merge_requirements(["a>1", "b", "A<3", "a>1", "git+https://x/y"])
        assert merged == ["a>1,<3", "b", "git+https://x/y"]


class TestFiles:
    def test_a_saved_file_reads_back(self, tmp_path):
        made = CondaDependencies.create(pip_packages=["torch==1.6.0", "pillow"])
        folder = tmp_path / "a 'quoted' folder"
        assert made.save_to_file(str(folder), "conda.yml") == "conda.yml"
        assert CondaDependencies(str(folder / "conda.yml")).as_dict() == made.as_dict()

    def test_save_into_a_folder_uses_the_default_name(self, tmp_path):
        path = CondaDependencies().save(str(tmp_path))
        assert path == str(tmp_path / "auto_conda_dependencies.yml")

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nope\.yml"):
            CondaDependencies(str(tmp_path / "nope.yml"))

    @pytest.mark.parametrize(
        "text", ["- a", "dependencies: torch", "dependencies: [{pip: [{a: 1}]}]", "a: [", "dependencies: [1]"]
    )
    def test_a_file_that_is_no_conda_file_is_refused(self, tmp_path, text):
        path = tmp_path / "c.yml"
        path.write_text(text)
        with pytest.raises(UserError, match=r"c\.yml"):
            CondaDependencies(str(path))

    def test_empty_sections_are_empty_lists(self, tmp_path):
        path = tmp_path / "c.yml"
        path.write_text("channels:\ndependencies:\n- python=3.6.2\n- pip:\n")
        made = CondaDependencies(str(path))
        assert list(made.conda_channels) == []
        made.add_pip_package("torch")
        assert list(made.pip_packages) == ["torch"]
