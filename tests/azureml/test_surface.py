"""Every name of v1's surface is there: ours where we have it, a placeholder where we do not."""

from __future__ import annotations

import importlib
import pickle

import pytest

from rookery import errors
from rookery.azureml.surface import SURFACE
from rookery.errors import UnsupportedError
from rookery.worker.placeholder import is_placeholder, placeholder

# What user code imports and must be real by now, with the class it must be.
REAL = {
    "azureml.core:Workspace": "rookery.sdk.workspace",
    "azureml.core:Experiment": "rookery.sdk.experiment",
    "azureml.core:Environment": "rookery.sdk.environment",
    "azureml.core:ScriptRunConfig": "rookery.sdk.script_run_config",
    "azureml.core:Run": "rookery.sdk.run",
    "azureml.core:Model": "rookery.sdk.model",
    "azureml.core:ComputeTarget": "rookery.sdk.compute",
    "azureml.core:RunConfiguration": "rookery.sdk.run_configuration",
    "azureml.core:ContainerRegistry": "rookery.sdk.container_registry",
    "azureml.core:ScriptRun": "rookery.sdk.script_run",
    "azureml.core:get_run": "rookery.sdk.run",
    "azureml.core.workspace:Workspace": "rookery.sdk.workspace",
    "azureml.core.experiment:Experiment": "rookery.sdk.experiment",
    "azureml.core.run:Run": "rookery.sdk.run",
    "azureml.core.environment:CondaDependencies": "rookery.sdk.conda_dependencies",
    "azureml.core.runconfig:CondaDependencies": "rookery.sdk.conda_dependencies",
    "azureml.core.conda_dependencies:CondaDependencies": "rookery.sdk.conda_dependencies",
    "azureml.core.runconfig:MpiConfiguration": "rookery.sdk.distributed",
    "azureml.core.runconfig:PyTorchConfiguration": "rookery.sdk.distributed",
    "azureml.core.runconfig:TensorflowConfiguration": "rookery.sdk.distributed",
    "azureml.core.runconfig:ParallelTaskConfiguration": "rookery.sdk.distributed",
    "azureml.core.runconfig:DockerConfiguration": "rookery.sdk.run_config_elements",
    "azureml.core.compute:AmlCompute": "rookery.sdk.aml_compute",
    "azureml.core.compute:ComputeTarget": "rookery.sdk.compute",
    "azureml.core.compute.amlcompute:AmlComputeProvisioningConfiguration": "rookery.sdk.aml_compute_config",
    "azureml.core.compute_target:ComputeTargetException": "rookery.errors",
    "azureml.core.model:Model": "rookery.sdk.model",
    "azureml.core:Webservice": "rookery.sdk.webservice",
    "azureml.core:Image": "rookery.sdk.container_image",
    "azureml.core.image:ContainerImage": "rookery.sdk.container_image",
    "azureml.core.model:InferenceConfig": "rookery.sdk.inference_config",
    "azureml.core.model:ModelPackage": "rookery.sdk.model_package",
    "azureml.core.profile:ModelProfile": "rookery.sdk.model_profile",
    "azureml.core.webservice:AciWebservice": "rookery.sdk.webservice_kinds",
    "azureml.core.webservice:AksEndpoint": "rookery.sdk.aks_endpoint",
    "azureml.core.webservice:AksWebservice": "rookery.sdk.webservice_kinds",
    "azureml.core.webservice:LocalWebservice": "rookery.sdk.webservice_kinds",
    "azureml.core.webservice:Webservice": "rookery.sdk.webservice",
    "azureml.core.webservice.aks:AksServiceAccessToken": "rookery.sdk.webservice_parts",
    "azureml.core.webservice.local:LocalWebserviceDeploymentConfiguration": "rookery.sdk.deployment_config",
    "azureml.core.compute:AksCompute": "rookery.sdk.aks_compute",
    "azureml.core.compute:ComputeInstance": "rookery.sdk.compute_instance",
    "azureml.core.compute.computeinstance:ComputeInstanceStatus": "rookery.sdk.compute_instance",
    "azureml.core.resource_configuration:ResourceConfiguration": "rookery.sdk.resource_configuration",
    "azureml.train.hyperdrive:HyperDriveConfig": "rookery.sdk.hyperdrive_config",
    "azureml.train.hyperdrive:HyperDriveRun": "rookery.sdk.hyperdrive_run",
    "azureml.train.hyperdrive:HyperDriveRunConfig": "rookery.sdk.hyperdrive_config",
    "azureml.train.hyperdrive:PrimaryMetricGoal": "rookery.sdk.hyperdrive_config",
    "azureml.train.hyperdrive:RandomParameterSampling": "rookery.sdk.sampling",
    "azureml.train.hyperdrive:GridParameterSampling": "rookery.sdk.sampling",
    "azureml.train.hyperdrive:BayesianParameterSampling": "rookery.sdk.sampling",
    "azureml.train.hyperdrive:BanditPolicy": "rookery.sdk.policy",
    "azureml.train.hyperdrive:MedianStoppingPolicy": "rookery.sdk.policy",
    "azureml.train.hyperdrive:TruncationSelectionPolicy": "rookery.sdk.policy",
    "azureml.train.hyperdrive:NoTerminationPolicy": "rookery.sdk.policy",
    "azureml.train.hyperdrive.exceptions:HyperDriveConfigException": "rookery.errors",
    "azureml.train.hyperdrive.parameter_expressions:choice": "rookery.sdk.parameter_expressions",
    "azureml.train.hyperdrive.parameter_expressions:qlognormal": "rookery.sdk.parameter_expressions",
    "azureml.train.hyperdrive.run:HyperDriveRun": "rookery.sdk.hyperdrive_run",
    "azureml.train.hyperdrive.run:PrimaryMetricGoal": "rookery.sdk.hyperdrive_config",
    "azureml.train.hyperdrive.runconfig:HyperDriveConfig": "rookery.sdk.hyperdrive_config",
    "azureml.train.dnn:PyTorch": "rookery.sdk.estimators",
    "azureml.train.dnn:TensorFlow": "rookery.sdk.estimators",
    "azureml.train.dnn:Chainer": "rookery.sdk.estimators",
    "azureml.train.dnn:Mpi": "rookery.sdk.estimators",
    "azureml.train.dnn:Gloo": "rookery.sdk.estimators",
    "azureml.train.dnn:Nccl": "rookery.sdk.estimators",
    "azureml.train.dnn:ParameterServer": "rookery.sdk.estimators",
    "azureml.train.estimator:Estimator": "rookery.sdk.estimators",
    "azureml.train.estimator:MMLBaseEstimator": "rookery.sdk.estimators",
    "azureml.train.estimator:MMLBaseEstimatorRunConfig": "rookery.sdk.estimators",
    "azureml.train.sklearn:SKLearn": "rookery.sdk.estimators",
    "azureml.core:Dataset": "rookery.sdk.dataset",
    "azureml.core:Datastore": "rookery.sdk.datastore",
    "azureml.core:Keyvault": "rookery.sdk.keyvault",
    "azureml.core.dataset:Dataset": "rookery.sdk.dataset",
    "azureml.core.datastore:Datastore": "rookery.sdk.datastore",
    "azureml.core.keyvault:Keyvault": "rookery.sdk.keyvault",
    "azureml.core.run:InputDatasets": "rookery.worker.run_data",
    "azureml.core.run:OutputDatasets": "rookery.worker.run_data",
    "azureml.data:DataType": "rookery.sdk.data_types",
    "azureml.data:FileDataset": "rookery.sdk.file_dataset",
    "azureml.data:OutputFileDatasetConfig": "rookery.sdk.output_dataset",
    "azureml.data:TabularDataset": "rookery.sdk.tabular_dataset",
    "azureml.data.abstract_dataset:AbstractDataset": "rookery.sdk.dataset",
    "azureml.data.abstract_datastore:AbstractDatastore": "rookery.sdk.datastore_kinds",
    "azureml.data.azure_storage_datastore:AzureBlobDatastore": "rookery.sdk.datastore_kinds",
    "azureml.data.azure_storage_datastore:AzureFileDatastore": "rookery.sdk.datastore_kinds",
    "azureml.data.data_reference:DataReference": "rookery.sdk.data_reference",
    "azureml.data.datapath:DataPath": "rookery.sdk.data_reference",
    "azureml.data.datapath:DataPathComputeBinding": "rookery.sdk.data_reference",
    "azureml.data.dataset_consumption_config:DatasetConsumptionConfig": "rookery.sdk.dataset_consumption",
    "azureml.data.dataset_factory:FileDatasetFactory": "rookery.sdk.dataset_factory",
    "azureml.data.dataset_factory:TabularDatasetFactory": "rookery.sdk.dataset_factory",
    "azureml.data.dataset_type_definitions:PromoteHeadersBehavior": "rookery.sdk.data_types",
    "azureml.data.output_dataset_config:OutputDatasetConfig": "rookery.sdk.output_dataset",
    "azureml.opendatasets:MNIST": "rookery.sdk.open_datasets",
    "azureml.opendatasets:Diabetes": "rookery.sdk.open_datasets",
    "azureml.tensorboard:Tensorboard": "rookery.sdk.tensorboard",
    "azureml.tensorboard.export:export_to_tensorboard": "rookery.sdk.tensorboard",
    "azureml.pipeline.core:Pipeline": "rookery.sdk.pipeline",
    "azureml.pipeline.core:PipelineData": "rookery.sdk.pipeline_data",
    "azureml.pipeline.core:PipelineDraft": "rookery.sdk.pipeline_draft",
    "azureml.pipeline.core:PipelineEndpoint": "rookery.sdk.pipeline_endpoint",
    "azureml.pipeline.core:PublishedPipeline": "rookery.sdk.published_pipeline",
    "azureml.pipeline.core.graph:PipelineParameter": "rookery.sdk.pipeline_data",
    "azureml.pipeline.core.run:StepRun": "rookery.sdk.pipeline_run",
    "azureml.pipeline.core.schedule:Schedule": "rookery.sdk.schedule",
    "azureml.pipeline.steps:HyperDriveStep": "rookery.sdk.hyperdrive_step",
    "azureml.pipeline.steps:ModuleStep": "rookery.sdk.module_step",
    "azureml.pipeline.steps:ParallelRunStep": "rookery.sdk.parallel_run",
    "azureml.pipeline.steps.python_script_step:PythonScriptStep": "rookery.sdk.pipeline_steps",
    "azureml.widgets:RunDetails": "rookery.sdk.run_details",
    "azureml.telemetry:set_diagnostics_collection": "rookery.azureml.telemetry",
}


def load(path):
    module, _, name = path.partition(":")
    return getattr(importlib.import_module("rookery." + module), name)


class TestSurface:
    @pytest.mark.parametrize("module", sorted(SURFACE))
    def test_every_name_resolves(self, module):
        found = importlib.import_module("rookery." + module)
        for name in SURFACE[module]:
            assert getattr(found, name, None) is not None, name
        assert set(SURFACE[module]) <= set(getattr(found, "__all__", SURFACE[module]))

    @pytest.mark.parametrize("path", sorted(REAL))
    def test_what_we_have_is_real(self, path):
        assert load(path).__module__ == REAL[path]

    @pytest.mark.parametrize(
        "path",
        [
            "azureml.pipeline.steps:DataTransferStep",
            "azureml.train.automl:AutoMLConfig",
            "azureml.core:LinkedService",
        ],
    )
    def test_what_we_lack_is_a_placeholder(self, path):
        assert is_placeholder(load(path))

    def test_every_exception_can_be_caught(self):
        for module, names in SURFACE.items():
            for name in names:
                if name.endswith(("Exception", "Error")):
                    assert issubclass(load(f"{module}:{name}"), errors.RookeryError), name

    def test_submodules_are_attributes_of_core(self):
        core = importlib.import_module("rookery.azureml.core")
        assert core.runconfig.MpiConfiguration is load("azureml.core.runconfig:MpiConfiguration")
        assert core.webservice.Webservice is load("azureml.core:Webservice")
        assert is_placeholder(core.linked_service.LinkedService)
        train = importlib.import_module("rookery.azureml.train")
        assert train.dnn.Mpi is load("azureml.train.dnn:Mpi")
        assert train.hyperdrive.choice(1, 2) == ["choice", [[1, 2]]]

    @pytest.mark.parametrize(
        "module", ["azureml.core", "azureml.core.run", "azureml.pipeline.core", "azureml.core.compute"]
    )
    def test_a_name_that_v1_never_had(self, module):
        with pytest.raises(ImportError, match="Nonsense"):
            exec(f"from rookery.{module} import Nonsense")

    @pytest.mark.parametrize("module", ["azureml.nonsense", "azureml.core.diagnostics"])
    def test_a_module_that_v1_never_had(self, module):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("rookery." + module)

    def test_version_and_constants(self):
        assert load("azureml.core:VERSION") == "1.61.0"
        assert load("azureml._restclient.snapshots_client:SNAPSHOT_MAX_SIZE_BYTES") == 300 * 1024 * 1024
        assert "Running" in load("azureml.core.run:RUNNING_STATES")
        assert load("azureml.core.runconfig:MPI_GPU_IMAGE") == load("azureml.core.environment:DEFAULT_GPU_IMAGE")


class TestPlaceholder:
    @pytest.mark.parametrize(
        "use",
        [
            lambda p: p(),
            lambda p: p.get_by_name,
            lambda p: p.Tabular.from_delimited_files("x"),
            lambda p: p["x"],
            lambda p: list(p),
            lambda p: "x" in p,
            lambda p: len(p),
            lambda p: type("Mine", (p,), {}),
        ],
    )
    def test_use_is_refused_by_name(self, use):
        with pytest.raises(UnsupportedError, match=r"azureml\.core\.Dataset is part of Azure ML SDK v1"):
            use(placeholder("Dataset", "azureml.core"))

    def test_looking_is_allowed(self):
        thing = placeholder("Dataset", "azureml.core")
        assert repr(thing) == "<placeholder azureml.core.Dataset>"
        assert not isinstance(3, thing)
        assert bool(thing)
        assert not hasattr(thing, "_repr_html_")
        assert not hasattr(thing, "__wrapped__")

    def test_the_error_travels(self):
        with pytest.raises(UnsupportedError) as caught:
            placeholder("Dataset", "azureml.core")()
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
