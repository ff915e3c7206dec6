"""What Rookery itself stands in for."""

from rookery.environments.specification.shimmed import without_shimmed
from rookery.environments.specification.wanted import from_conda, from_requirements


def names(wanted):
    return [r.name for r in wanted.pip]


class TestWithoutShimmed:
    def test_takes_azureml_and_horovod_out_and_says_so(self):
        wanted = without_shimmed(from_requirements("azureml-defaults\nAzureML_Core==1.0\nhorovod[pytorch]==0.19\nsix"))
        assert names(wanted) == ["six"]
        assert len(wanted.notes) == 3
        assert "original_packages" in wanted.notes[0]

    def test_leaves_names_that_only_look_alike(self):
        assert names(without_shimmed(from_requirements("azure-core\nhorovod-x\nmyazureml-y"))) == [
            "azure-core",
            "horovod-x",
            "myazureml-y",
        ]

    def test_keeps_the_originals_that_are_asked_for(self):
        text = "azureml-core\nazureml-mlflow\nhorovod"
        assert names(without_shimmed(from_requirements(text), ("azureml-core",))) == ["azureml-core", "mlflow-skinny"]
        assert names(without_shimmed(from_requirements(text), ("azureml-*", "horovod"))) == [
            "azureml-core",
            "azureml-mlflow",
            "horovod",
        ]

    def test_brings_what_people_import_from_them(self):
        assert names(without_shimmed(from_requirements("azureml-mlflow\nmlflow"))) == ["mlflow"]

    def test_takes_conda_dependencies_too(self):
        wanted = without_shimmed(from_conda({"dependencies": ["horovod=0.19", "numpy"]}))
        assert [d.name for d in wanted.conda] == ["numpy"]
