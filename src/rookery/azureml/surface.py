"""Which public names Azure ML SDK v1 has, module by module: data only, Python 3.6.

What we lack of it becomes placeholders. A name that is not in it raises ImportError, as any typo does.
"""

__all__ = ["SURFACE"]


def _names(text):
    return tuple(text.split())


_ESTIMATORS = "Estimator MMLBaseEstimator MMLBaseEstimatorRunConfig"
_HYPERDRIVE_EXPRESSIONS = """
    choice randint uniform quniform loguniform qloguniform normal qnormal lognormal qlognormal
"""
_HYPERDRIVE_SAMPLING = """
    HyperParameterSampling RandomParameterSampling GridParameterSampling BayesianParameterSampling
"""
_HYPERDRIVE_POLICY = """
    EarlyTerminationPolicy BanditPolicy MedianStoppingPolicy TruncationSelectionPolicy
    NoTerminationPolicy
"""
_COMPUTE = """
    ComputeTarget AmlCompute ComputeInstance RemoteCompute KubernetesCompute AksCompute DsvmCompute
    DatabricksCompute DataFactoryCompute AdlaCompute BatchCompute HDInsightCompute SynapseCompute
    KustoCompute
"""

SURFACE = {
    module: _names(text)
    for module, text in {
        "azureml.core": """
        ComputeTarget ContainerRegistry Dataset Datastore Environment Experiment Image Keyvault
        LinkedService Model PrivateEndPoint PrivateEndPointConfig Run RunConfiguration ScriptRun
        ScriptRunConfig VERSION Webservice Workspace diagnostic_log get_run
    """,
        "azureml.core.authentication": """
        AbstractAuthentication ArmTokenAuthentication Audience AzureCliAuthentication
        AzureMLTokenAuthentication InteractiveLoginAuthentication MsiAuthentication
        ServicePrincipalAuthentication TokenAuthentication
    """,
        "azureml.core.compute": _COMPUTE,
        "azureml.core.compute.aks": """
        AksCompute AksProvisioningConfiguration AksAttachConfiguration AksUpdateConfiguration SystemService
        SslConfiguration
    """,
        "azureml.core.compute.amlcompute": """
        AmlCompute AmlComputeProvisioningConfiguration ScaleSettings AmlComputeStatus
        AmlComputeNodeStateCounts
    """,
        "azureml.core.compute.compute": """
        ComputeTarget ComputeTargetProvisioningConfiguration ComputeTargetAttachConfiguration
        ComputeTargetUpdateConfiguration ComputeTargetException
    """,
        "azureml.core.compute.computeinstance": """
        ComputeInstance ComputeInstanceProvisioningConfiguration ComputeInstanceStatus
    """,
        "azureml.core.compute.dsvm": "DsvmCompute DsvmProvisioningConfiguration",
        "azureml.core.compute.kubernetescompute": """
        KubernetesCompute KubernetesComputeAttachConfiguration KubernetesComputeStatus
    """,
        "azureml.core.compute.remote": "RemoteCompute RemoteComputeAttachConfiguration",
        "azureml.core.compute_target": "ComputeTargetException",
        "azureml.core.conda_dependencies": """
        BASE_PROJECT_FILE_RELATIVE_PATH BASE_PROJECT_MODULE CHAINER_PACKAGE_PREFIX CHANNELS
        CNTK_DEFAULT_VERSION CNTK_PACKAGE_PREFIX CONDA_FILE_NAME CPU CUPY_DEFAULT_VERSION CondaDependencies
        DEFAULT_CHAINER_VERSION DEFAULT_SDK_ORIGIN GPU HOROVOD_DEFAULT_VERSION LINUX_PLATFORM PACKAGES PIP
        PYTHON_DEFAULT_VERSION PYTHON_PREFIX PYTORCH_DEFAULT_VERSION PYTORCH_PACKAGE_PREFIX
        TENSORFLOW_DEFAULT_VERSION TENSORFLOW_PACKAGE_PREFIX TORCHVISION_DEFAULT_VERSION
        TORCHVISION_PACKAGE_PREFIX WINDOWS_PLATFORM
    """,
        "azureml.core.container_registry": "ContainerRegistry RegistryIdentity",
        "azureml.core.dataset": "Dataset",
        "azureml.core.datastore": "Datastore",
        "azureml.core.environment": """
        CondaDependencies DEFAULT_CPU_IMAGE DEFAULT_GPU_IMAGE DatabricksSection DockerBuildContext
        DockerEnvironment DockerImageDetails DockerImagePlatform DockerSection Environment
        EnvironmentReference ImageBuildDetails PythonEnvironment PythonSection RCranPackage RGitHubPackage
        RSection SparkEnvironment SparkPackage SparkSection
    """,
        "azureml.core.experiment": "Experiment ViewType",
        "azureml.core.image": "Image ContainerImage",
        "azureml.core.keyvault": "Keyvault",
        "azureml.core.linked_service": """
        LinkedService LinkedServiceConfiguration SynapseWorkspaceLinkedServiceConfiguration
    """,
        "azureml.core.model": "InferenceConfig MODELS_DIR Model ModelPackage",
        "azureml.core.private_endpoint": "PrivateEndPoint PrivateEndPointConfig",
        "azureml.core.profile": """
        MAX_PROFILE_CPU MAX_PROFILE_MEMORY MIN_PROFILE_CPU MIN_PROFILE_MEMORY ModelProfile
    """,
        "azureml.core.resource_configuration": "ResourceConfiguration",
        "azureml.core.run": """
        InputDatasets LinkOutput OutputDatasets POST_PROCESSING_STATES RUNNING_STATES Run get_run
    """,
        "azureml.core.runconfig": """
        AmlComputeConfiguration ApplicationEndpointConfiguration AzureContainerRegistry CondaDependencies
        ContainerRegistry DEFAULT_CPU_IMAGE DEFAULT_GPU_IMAGE Data DataLocation DataPath
        DataReferenceConfiguration DatacacheConfiguration Dataset DatasetRegistrationOptions
        DockerConfiguration DockerEnvironment DockerSection Environment EnvironmentDefinition
        EnvironmentReference GlobsOptions HdiConfiguration HistoryConfiguration
        KubernetesComputeConfiguration LOCAL_RUNCONFIG_NAME MPI_CPU_IMAGE MPI_GPU_IMAGE MountOptions
        MpiConfiguration OutputData OutputOptions ParallelTaskConfiguration PyTorchConfiguration
        PythonEnvironment PythonSection RegistrationOptions RunConfiguration SUPPORTED_DATAREF_MODES
        SUPPORTED_DELIVERY_MECHANISM SUPPORTED_PYTORCH_BACKENDS SparkConfiguration SparkEnvironment
        SparkPackage SparkSection TensorflowConfiguration UploadOptions Uri
    """,
        "azureml.core.script_run": "ScriptRun",
        "azureml.core.script_run_config": "ScriptRunConfig get_run_config_from_script_run submit",
        "azureml.core.webservice": "AciWebservice AksEndpoint AksWebservice LocalWebservice Webservice",
        "azureml.core.webservice.aci": """
        AciServiceDeploymentConfiguration AciWebservice ContainerResourceRequirements EncryptionProperties
        VnetConfiguration
    """,
        "azureml.core.webservice.aks": """
        AksEndpoint AksEndpointDeploymentConfiguration AksServiceAccessToken
        AksServiceDeploymentConfiguration AksWebservice AutoScaler ContainerResourceRequirements
        DataCollection LivenessProbeRequirements
    """,
        "azureml.core.webservice.local": "LocalWebservice LocalWebserviceDeploymentConfiguration",
        "azureml.core.webservice.webservice": """
        AutoScaler ContainerResourceRequirements DataCollection LivenessProbeRequirements
        WebServiceAccessToken Webservice WebserviceDeploymentConfiguration
    """,
        "azureml.core.workspace": "WORKSPACE_DEFAULT_BLOB_STORE_NAME Workspace",
        "azureml.exceptions": """
        ActivityCanceledException ActivityFailedException AuthenticationException AzureMLAggregatedException
        AzureMLException ComputeTargetException DatasetTimestampMissingError DiscoveryUrlNotFoundException
        ExperimentExecutionException ModelNotFoundException ModelPathNotFoundException ParallelRunException
        ProjectSystemException RunConfigurationException RunEnvironmentException ServiceException
        SnapshotException TrainingException UserErrorException WebserviceException WorkspaceException
        WorkspacePrivateEndpointException
    """,
        "azureml._restclient": "",
        "azureml._restclient.constants": "SNAPSHOT_MAX_SIZE_BYTES",
        "azureml._restclient.snapshots_client": "SNAPSHOT_MAX_SIZE_BYTES",
        "azureml.telemetry": "set_diagnostics_collection",
        "azureml.tensorboard": "Tensorboard",
        "azureml.tensorboard.export": "export_to_tensorboard",
        "azureml.widgets": "RunDetails",
        "azureml.data": """
        FileDataset HDFSOutputDatasetConfig LinkFileOutputDatasetConfig LinkTabularOutputDatasetConfig
        OutputFileDatasetConfig TabularDataset DataType
    """,
        "azureml.data.abstract_dataset": "AbstractDataset",
        "azureml.data.abstract_datastore": "AbstractDatastore",
        "azureml.data.azure_storage_datastore": """
        AbstractAzureStorageDatastore AzureBlobDatastore AzureFileDatastore EMPTY_FILE FILE FOLDER
    """,
        "azureml.data.data_reference": "DataReference",
        "azureml.data.datapath": "DataPath DataPathComputeBinding",
        "azureml.data.dataset_consumption_config": "DatasetConsumptionConfig",
        "azureml.data.dataset_factory": "DataType FileDatasetFactory TabularDatasetFactory",
        "azureml.data.dataset_type_definitions": """
        FileEncoding FileType HistogramCompareMethod PromoteHeadersBehavior SkipLinesBehavior
    """,
        "azureml.data.file_dataset": "FileDataset",
        "azureml.data.output_dataset_config": """
        HDFSOutputDatasetConfig LinkFileOutputDatasetConfig LinkTabularOutputDatasetConfig MountOptions
        OutputDatasetConfig OutputFileDatasetConfig OutputTabularDatasetConfig RegistrationConfiguration
        TransformationMixin UploadOptions
    """,
        "azureml.data.tabular_dataset": "TabularDataset",
        "azureml.train": "",
        "azureml.train.automl": "AutoMLConfig",
        "azureml.train.dnn": "Chainer Gloo Mpi Nccl ParameterServer PyTorch TensorFlow",
        "azureml.train.estimator": _ESTIMATORS,
        "azureml.train.hyperdrive": " ".join(
            [
                "HyperDriveConfig HyperDriveRun HyperDriveRunConfig PrimaryMetricGoal",
                _HYPERDRIVE_SAMPLING,
                _HYPERDRIVE_POLICY,
                _HYPERDRIVE_EXPRESSIONS,
            ]
        ),
        "azureml.train.hyperdrive.exceptions": """
        HyperDriveConfigException HyperDriveException HyperDriveNotImplementedException
        HyperDriveRehydrateException HyperDriveScenarioNotSupportedException HyperDriveServiceException
    """,
        "azureml.train.hyperdrive.parameter_expressions": _HYPERDRIVE_EXPRESSIONS,
        "azureml.train.hyperdrive.policy": _HYPERDRIVE_POLICY,
        "azureml.train.hyperdrive.run": "HyperDriveRun PrimaryMetricGoal TERMINAL_STATES",
        "azureml.train.hyperdrive.runconfig": """
        HyperDriveConfig HyperDriveRunConfig MAX_DURATION_MINUTES MAX_PARENT_RUNS PrimaryMetricGoal
        RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN
        RESUME_FROM_TOTAL_RUNS TERMINAL_STATES
    """,
        "azureml.train.hyperdrive.sampling": _HYPERDRIVE_SAMPLING,
        "azureml.train.sklearn": "SKLearn",
        "azureml.pipeline": "",
        "azureml.pipeline.core": """
        DataType Graph InputPortBinding InputPortDef Module ModuleDef ModuleVersion OutputPortBinding
        OutputPortDef Pipeline PipelineData PipelineDataset PipelineDraft PipelineEndpoint PipelineParameter
        PipelineRun PipelineStep PortDataReference PublishedPipeline Schedule ScheduleRecurrence StepRun
        StepRunOutput StepSequence TimeZone TrainingOutput
    """,
        "azureml.pipeline.core.builder": "PipelineData PipelineStep StepSequence",
        "azureml.pipeline.core.graph": """
        DataSource DataSourceDef DataSourceNode DataType Edge Graph InputPort InputPortBinding InputPortDef
        Module ModuleDef ModuleNode Node OutputPort OutputPortBinding OutputPortDef Param ParamDef
        PipelineDataset PipelineParameter PortDataReference PublishedPipeline StoredProcedureParameter
        StoredProcedureParameterType TrainingOutput
    """,
        "azureml.pipeline.core.module": "Module ModuleVersion ModuleVersionDescriptor",
        "azureml.pipeline.core.pipeline": "Pipeline",
        "azureml.pipeline.core.pipeline_draft": "PipelineDraft",
        "azureml.pipeline.core.pipeline_endpoint": "PipelineEndpoint PipelineIdVersion PipelineVersion",
        "azureml.pipeline.core.pipeline_output_dataset": """
        DatasetRegistration PipelineOutputAbstractDataset PipelineOutputFileDataset
        PipelineOutputTabularDataset
    """,
        "azureml.pipeline.core.run": "PipelineRun RUNNING_STATES StepRun StepRunOutput",
        "azureml.pipeline.core.schedule": "Schedule ScheduleRecurrence TimeZone",
        "azureml.pipeline.steps": """
        AdlaStep AutoMLStep AzureBatchStep CommandStep DataTransferStep DatabricksStep EstimatorStep
        HyperDriveStep HyperDriveStepRun KustoStep ModuleStep MpiStep ParallelRunConfig ParallelRunStep
        PythonScriptStep RScriptStep SynapseSparkStep
    """,
        "azureml.pipeline.steps.command_step": "CommandStep",
        "azureml.pipeline.steps.data_transfer_step": "DataTransferStep",
        "azureml.pipeline.steps.estimator_step": "EstimatorStep",
        "azureml.pipeline.steps.hyper_drive_step": "HyperDriveStep HyperDriveStepRun",
        "azureml.pipeline.steps.module_step": "ModuleStep",
        "azureml.pipeline.steps.mpi_step": "MpiStep",
        "azureml.pipeline.steps.parallel_run_config": "ParallelRunConfig",
        "azureml.pipeline.steps.parallel_run_step": "ParallelRunStep",
        "azureml.pipeline.steps.python_script_step": "PythonScriptStep",
        "azureml.pipeline.steps.r_script_step": "RScriptStep",
        "azureml.opendatasets": "Diabetes MNIST NycTlcGreen NycTlcYellow",
        "azureml.contrib": "",
        "azureml.contrib.notebook": "NotebookRunConfig NotebookRunnerStep",
        "azureml.contrib.services": "",
        "azureml.contrib.services.aml_request": "AMLRequest rawhttp",
        "azureml.contrib.services.aml_response": "AMLResponse",
        "azureml.studio": "",
        "azureml.studio.core": "",
        "azureml.studio.core.io": "",
        "azureml.studio.core.io.image_directory": "IMG_EXTS image_from_file image_to_bytes",
        "azureml.studio.core.io.transformation_directory": "ImageTransformationDirectory",
    }.items()
}
