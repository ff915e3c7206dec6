"""azureml.core.webservice.aks. Differs: `num_replicas` processes on one machine; none are added by load."""

from rookery.azureml.finder import fill
from rookery.sdk.aks_endpoint import AksEndpoint  # noqa: F401
from rookery.sdk.deployment_config import (  # noqa: F401
    AksEndpointDeploymentConfiguration,
    AksServiceDeploymentConfiguration,
)
from rookery.sdk.webservice_kinds import AksWebservice  # noqa: F401
from rookery.sdk.webservice_parts import (  # noqa: F401
    AksServiceAccessToken,
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
)

fill(globals())
